import HubCore
import HubServer
import Support
import Testing

/// Every command that a provider can answer, checked for leaks: the Hub's token goes to the Hub and its router alone, a
/// server's key to that server alone, and neither is left anywhere else.
@Suite struct ProviderLeakTests {
    private static let key = "sk-NeverSeenOutside0123456789abcdef"
    private let place = try! TemporaryFolder("files")

    private static func holds(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return [RemoteStage.token, key].contains { text.contains($0) || text.contains($0.dropFirst(3).prefix(16)) }
    }

    private func work(_ provider: String) throws -> [[String]] {
        let sound = try place.write("a.flac", Array("fLaC....".utf8))
        return [
            ["chat", HonestRouter.chatModel, "Hi", "--why"], ["embed", HonestRouter.embedder, "Hi"],
            ["transcribe", HonestRouter.listener, sound],
            ["image", HonestRouter.painter, "a fox", "-o", place("fox.png"), "--force"],
            ["try", HonestRouter.chatModel],
        ].map { $0 + ["--provider", provider, "--verbose"] }
    }

    private func check(_ stage: RemoteStage, _ provider: String) async throws {
        for words in try work(provider) {
            for form in [[], ["--json"], ["--progress", "json"]] {
                let result = try await stage.stage.run(
                    words + form, with: stage.variables.merging(["HUB_PROVIDER_KEY": Self.key]) { $1 })
                #expect(!Self.holds(result.outputBytes) && !Self.holds(result.errorBytes), "\(words + form)")
            }
        }
        for name in try stage.stage.listing(stage.stage.machine.path) {
            let path = stage.stage.machine(name)
            #expect(!Self.holds(Array(name.utf8)))
            guard try FileSystem.linkStatus(path)?.kind == .file else { continue }
            #expect(!Self.holds(try FileSystem.contents(path) ?? []), "\(name)")
        }
    }

    @Test func theHubsTokenGoesToTheRouterAlone() async throws {
        let stage = try RemoteStage()
        try await check(stage, "hf")
        #expect(stage.calls.contains { $0.headers["Authorization"] == "Bearer \(RemoteStage.token)" })
        #expect(stage.server.requests.allSatisfy { !Self.holds(Array($0.target.utf8)) && !Self.holds($0.body) })
        #expect(stage.server.requests.allSatisfy { $0.headers["Authorization"] != "Bearer \(Self.key)" })
    }

    @Test func aServersKeyGoesToItAlone() async throws {
        let stage = try RemoteStage()
        try await check(stage, stage.server.address)
        #expect(stage.calls.contains { $0.headers["Authorization"] == "Bearer \(Self.key)" })
        #expect(stage.server.requests.allSatisfy { $0.headers["Authorization"] != "Bearer \(RemoteStage.token)" })
    }

    /// Servers and gateways quote what they were sent: in an error, in the middle of a stream, in what they answer.
    @Test(arguments: [401, 403, 404, 500, 200])
    func whatAProviderQuotesIsLeftNowhere(_ status: Int) async throws {
        let quoted = "Authorization: Bearer \(RemoteStage.token) \(Self.key)"
        let stage = try RemoteStage { request in
            guard request.method == "POST" else { return nil }
            guard status == 200 else {
                return .json(#"{"error":{"message":"\#(quoted)"}}"#, status: status, headers: [("X-Error", quoted)])
            }
            return .events("data: \(piece("Hi"))\n\ndata: {\"error\":\"\(quoted)\"}\n\n")
        }
        for provider in ["hf", stage.server.address] {
            for form in [["--verbose"], ["--verbose", "--json"]] {
                let own = provider == "hf" ? ["HUB_PROVIDER_KEY": ""] : ["HUB_PROVIDER_KEY": Self.key]
                let result = try await stage.stage.run(
                    ["chat", HonestRouter.chatModel, "Hi", "--provider", provider] + form,
                    with: stage.variables.merging(own) { $1 })
                #expect(result.status >= 3)
                let shown = result.output + result.error
                // Each masks the credential that it sent; a quoted one that was never sent is the server's own words.
                #expect(!shown.contains(provider == "hf" ? RemoteStage.token : Self.key), "\(shown)")
            }
        }
    }
}
