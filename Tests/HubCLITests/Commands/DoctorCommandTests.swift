import Catalog
import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub doctor`: findings, fixes, and rebuilding a catalog.
@Suite struct DoctorCommandTests {
    let stage: Stage

    init() throws { stage = try Stage.withModel() }

    /// The findings by section and name.
    private func findings(_ result: ProcessResult) throws -> [String: JSONObject] {
        let document = try result.document()
        document.expectKeys("findings fixed error")
        var out: [String: JSONObject] = [:]
        for finding in document.objects("findings") {
            finding.expectKeys("section name level text count size_bytes advice fixed")
            out["\(finding["section"]?.string ?? "").\(finding["name"]?.string ?? "")"] = finding
        }
        return out
    }

    private func damage() throws {
        // A log with every page would repair it.
        for end in ["-wal", "-shm"] { try FileSystem.remove(stage.catalog + end) }
        try FileSystem.replace(stage.catalog, with: Array("this is no database, whatever its name says".utf8))
    }

    @Test func aSoundMachineIsExit0AndEverySectionSpeaks() async throws {
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        let result = try await stage.run("doctor")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.output.hasSuffix("\nnothing is wrong\n"))
        for section in DoctorCommand.sections { #expect(result.lines.contains(section.name), "\(section.name)") }
        let found = try findings(try await stage.run("doctor", "--json"))
        #expect(found["paths.cache"]?["text"]?.string == "cache: \(stage.cache) (HF_HOME)")
        #expect(found["catalog.integrity"]?["level"]?.string == "good")
        #expect(found["catalog.endpoint"]?["text"]?.string?.contains(stage.hub.endpoint) == true)
        #expect(found["catalog.backup"]?["count"]?.int == 1)
        #expect(found["network.reach"]?["level"]?.string == "good")
        #expect(found.values.allSatisfy { $0["level"]?.string != "bad" })
        #expect(try await stage.run("doctor", "-q").output.isEmpty)
    }

    @Test func thePathsNameTheFlagOrTheVariable() async throws {
        let found = try findings(
            try await stage.run(
                "doctor", "--offline", "--json", "--cache-dir", stage.machine("else"), "--endpoint",
                "https://h.example",
                with: [
                    "HTTPS_PROXY": "http://name:hf_secretsecret@proxy.example:1?secret#secret",
                    "HF_TOKEN_PATH": stage.machine("t"),
                ]))
        #expect(found["paths.cache"]?["text"]?.string == "cache: \(stage.machine("else")) (--cache-dir)")
        #expect(found["paths.endpoint"]?["text"]?.string == "Hub: https://h.example (--endpoint)")
        #expect(found["paths.token_path"]?["text"]?.string == "token file: \(stage.machine("t")) (HF_TOKEN_PATH)")
        #expect(
            found["paths.https_proxy"]?["text"]?.string == "proxy for https: http://proxy.example:1 (HTTPS_PROXY)")
        #expect(found["network.reach"]?["level"]?.string == "note")
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func aHubThatCannotBeReachedIsExit1() async throws {
        let result = try await stage.run("doctor", "-q", with: Stage.away)
        #expect(result.status == 1 && result.output == "network.reach\n")
    }

    @Test func aTokenThatTheHubRefusesIsAFinding() async throws {
        let refused = try await stage.run("doctor", "--json", with: ["HF_TOKEN": "hf_wrong-one"])
        #expect(refused.status == 1)
        let finding = try #require(try findings(refused)["network.token"])
        #expect(finding["level"] == "bad" && finding["text"]?.string == "\(stage.hub.endpoint) refuses the token")
        #expect(finding["advice"]?.string == "HF_TOKEN overrides the token file: unset or correct it")
        let known = try await stage.run("doctor", "--json", with: ["HF_TOKEN": "hf_loopback"])
        #expect(known.status == 0)
        #expect(try findings(known)["network.token"]?["level"] == "good")
        let asked = stage.hub.requests.count
        let offline = try await stage.run("doctor", "--offline", "--json", with: ["HF_TOKEN": "hf_wrong-one"])
        #expect(offline.status == 0 && stage.hub.requests.count == asked)
    }

    @Test func aFolderThatCannotBeMadeAndASwitchThatSaysNothingAreFindings() async throws {
        try stage.machine.write("file", "no folder")
        for home in ["/proc/x", stage.machine("file/hf")] {
            let result = try await stage.run("doctor", "--offline", "-q", with: ["HF_HOME": home])
            #expect(result.status == 1 && result.output.hasPrefix("paths.cache_unusable\n"))
        }
        #expect(try FileSystem.entries(stage.machine.path)?.contains { $0.hasPrefix(".hub-") } == false)
        let maybe = try findings(
            try await stage.run("doctor", "--offline", "--json", with: ["HF_HUB_OFFLINE": "maybe"]))
        #expect(maybe["paths.unclear_switch"]?["level"] == "bad")
        #expect(
            maybe["paths.unclear_switch"]?["text"]?.string
                == "HF_HUB_OFFLINE is \"maybe\", which is neither yes nor no and counts as no")
        #expect(maybe["paths.disk"]?["size_bytes"]?.int ?? 0 > 0)
        for clear in ["0", "off", "No", "FALSE", "1", "yes"] {
            let result = try await stage.run("doctor", "--offline", "-q", with: ["HF_HUB_OFFLINE": clear])
            #expect(result.status == 0 && result.output.isEmpty, "\(clear)")
        }
    }

    @Test func aTokenFileThatOthersCanReadIsFixed() async throws {
        let path = stage.machine("hf/token")
        try FileSystem.createDirectories(stage.machine("hf"))
        try FileSystem.replace(path, with: Array("hf_averysecrettoken".utf8))
        try FileSystem.setMode(path, 0o644)
        let seen = try await stage.run("doctor", "--offline")
        #expect(seen.status == 1 && seen.output.contains("hub doctor fix fixes 1"))
        #expect(!seen.output.contains("averysecret"))
        let fixed = try await stage.run("doctor", "--offline", "--fix", "--json")
        #expect(fixed.status == 0)
        #expect(try fixed.document()["fixed"]?.int == 1)
        #expect(try findings(fixed)["account.token_exposed"]?["fixed"]?.string?.contains(path) == true)
        #expect(try FileSystem.status(path)?.mode == 0o600)
        let variable = try await stage.run("doctor", "--offline", "--json", with: ["HF_TOKEN": "hf_another"])
        #expect(variable.status == 0)
        #expect(try findings(variable)["account.token_variable"]?["level"]?.string == "note")
        #expect(!variable.output.contains("hf_another"))
    }

    @Test func aDamagedCatalogIsSeenAndMadeAgain() async throws {
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        let before = try await stage.run("ls", "-q").output
        let catalog = try Catalog(path: stage.catalog)
        try catalog.pin(
            cache: stage.cache, folder: "models--org--tiny", commit: Commit(commit("a"))!, note: nil, at: 1)
        try damage()
        let seen = try await stage.run("doctor", "--offline")
        #expect(seen.status == 1 && seen.error.isEmpty)
        #expect(seen.output.contains("damaged: file is not a database\n"))
        #expect(seen.output.contains("    hub doctor rebuild rebuilds it, keeping pins and times of use\n"))
        let rebuilt = try await stage.run("doctor", "rebuild", "--json")
        #expect(rebuilt.status == 0 && rebuilt.error.isEmpty)
        let found = try findings(rebuilt)
        #expect(found["catalog.rebuilt"]?["fixed"]?.string?.contains("1 pin, ") == true)
        #expect(found["catalog.salvage"]?["level"]?.string == "note")
        #expect(found["catalog.not_asked"] == nil)
        #expect(try await stage.run("ls", "-q").output == before)
        // The pin came from the backup, the model from the Hub, its files from the cache.
        #expect(try catalog.pins(ofCache: stage.cache).count == 1)
        let offline = try await stage.run("info", "org/tiny", "--offline", "--json").document()
        #expect(offline["files"]?.array?.count == 6 && offline["as_of"] != nil)
        #expect(try await stage.run("doctor", "--offline").status == 0)
    }

    @Test func withoutANetworkItIsMadeAgainFromTheCacheAlone() async throws {
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        try damage()
        let requests = stage.hub.requests.count
        let result = try await stage.run("doctor", "rebuild", "--offline", "--json")
        #expect(result.status == 0 && stage.hub.requests.count == requests)
        #expect(try findings(result)["catalog.not_asked"]?["count"]?.int == 1)
        let quiet = try await stage.run("doctor", "rebuild", "--offline", "-q")
        #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.error.contains("the network is switched off"))
        #expect(try await stage.run("pull", "--offline", "-q", "org/tiny").status == 0)
    }

    @Test func aHubThatIsDownIsTheSame() async throws {
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        try damage()
        let result = try await stage.run("doctor", "rebuild", "--json", with: Stage.away)
        #expect(result.status == 0)
        #expect(try findings(result)["catalog.not_asked"]?["level"]?.string == "note")
        #expect(try await stage.run("ls", "-q").output == "org/tiny\n")
    }

    @Test func fixMakesADamagedCatalogAgain() async throws {
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        try damage()
        let result = try await stage.run("doctor", "fix", "--offline", "--json")
        #expect(result.status == 0)
        #expect(try findings(result)["catalog.usable"]?["fixed"]?.string?.hasPrefix("rebuilt: ") == true)
        let names = try FileSystem.entries(Path.parent(stage.catalog)) ?? []
        #expect(names.contains { $0.hasPrefix("catalog.sqlite3.damaged-") })
    }

    @Test func whatANewerHubMadeIsLeftAlone() async throws {
        #expect(try await stage.run("search", "-q").status == 0)
        do { try Connection(stage.catalog).execute("PRAGMA user_version = 999") }
        let before = try FileSystem.contents(stage.catalog)
        for flag in ["--fix", "--rebuild"] {
            let result = try await stage.run("doctor", "--offline", flag)
            #expect(result.status == (flag == "--fix" ? 1 : 6), "\(result.error)")
            #expect((result.output + result.error).contains("a newer hub made it"))
        }
        #expect(try FileSystem.contents(stage.catalog) == before)
    }

    @Test func aReportFitsTheTerminal() async throws {
        let result = try await stage.run(
            "doctor", "--offline", "--color", "never", terminal: .init([.output], columns: 50, rows: 24))
        let lines = result.terminal.split(whereSeparator: \.isNewline)
        #expect(lines.count > 10)
        // A path is never broken.
        #expect(lines.allSatisfy { $0.count <= 50 || $0.contains("/") }, "\(result.terminal)")
    }
}
