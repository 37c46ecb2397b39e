import HubCore
import Support
import Testing

@testable import HubCLI

@Suite struct EnvironmentCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage()
        try stage.plant("models--org--tiny", commit: commit("1"), files: ["config.json": "{}"])
    }

    /// Whatever is set, no secret is in it.
    @Test func whatABugReportNeeds() async throws {
        let secrets = [
            "HF_TOKEN": "hf_secretsecretsecret", "HUB_SERVE_TOKEN": "secretserve",
            "HTTPS_PROXY": "http://user:secretproxy@proxy.example:3128/?key=secretquery#secretfragment",
            "HF_HUB_OFFLINE": "1",
        ]
        let human = try await stage.run("env", with: secrets)
        #expect(human.status == 0 && human.error.isEmpty)
        let json = try await stage.run("env", "--json", with: secrets)
        for text in [human.output, json.output] { #expect(!text.contains("secret"), "\(text)") }
        #expect(human.output.contains("  HF_TOKEN: set, not shown\n"))
        #expect(human.output.contains("  HTTPS_PROXY: http://proxy.example:3128/\n"))
        let document = try json.document()
        #expect(document["versions"]?["hub"]?.string == Version.number)
        #expect(document["paths"]?["cache"]?.string == stage.cache)
        #expect(document["variables"]?["HF_HUB_OFFLINE"]?.string == "1")
        #expect(document["machine"]?["memory_bytes"]?.int ?? 0 > 0)
        #expect(document["cache"]?["repositories"]?.int == 1 && document["cache"]?["total_bytes"]?.int == 2)
        document.expectKeys("versions machine paths variables cache catalog_bytes token_file")
    }

    /// It sends no requests and creates no files.
    @Test func itChangesNothing() async throws {
        let before = try stage.listing(stage.machine.path)
        #expect(try await stage.run("env").status == 0)
        #expect(try stage.listing(stage.machine.path) == before)
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func aPasswordInTheEndpointIsRefusedAndNotShown() async throws {
        let endpoint = ["HF_ENDPOINT": "http://someone:secret@host"]
        let result = try await stage.run("env", with: endpoint)
        #expect(result.status == 0 && result.output.contains("  HF_ENDPOINT: http://host\n"))
        for text in [result.output, result.error] { #expect(!text.contains("secret") && !text.contains("someone")) }
        for words in [["search", "x"], ["info", "org/m"], ["doctor", "--json"], ["pull", "org/m", "-v"]] {
            let refused = try await stage.run(words, with: endpoint)
            #expect(refused.status == 2 && !(refused.output + refused.error).contains("secret"))
            #expect(refused.error.contains("\"http://host\" with a name or a password is not the address of a Hub"))
        }
    }

    @Test func anEndpointThatIsNone() async throws {
        let result = try await stage.run("env", with: ["HF_ENDPOINT": "ftp://x"])
        #expect(result.status == 0 && result.output.contains("  endpoint: invalid: "))
    }
}
