import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

@Suite struct EmbedCommandTests {
    private static let model = HonestRouter.embedder

    @Test func aProvidersVectorsInTheOrderOfTheTexts() async throws {
        let stage = try RemoteStage()
        let place = try TemporaryFolder("texts")
        let file = try place.write("texts.json", Array(#"["abc", "d"]"#.utf8))
        let result = try await stage.run(
            "embed", Self.model, "hello", "--texts", file, "--provider", "hf", "--json")
        #expect(result.status == 0)
        let document = try result.document()
        document.expectKeys("model provider dimensions embeddings")
        #expect(document["model"]?.string == Self.model && document["provider"]?.string == "hf")
        #expect(document["dimensions"]?.int == 3)
        let first = (document["embeddings"]?.array ?? []).map { $0.array?.first?.double }
        #expect(first == [5, 3, 1])
        let quiet = try await stage.run("embed", Self.model, "hello", "--provider", "hf:together", "-q")
        #expect(quiet.output == "5.0 104.0 0.5\n")
        let human = try await stage.run("embed", Self.model, "hello", "--provider", "hf")
        #expect(human.output == "hello\n  3 numbers: 5.000 104.000 0.500 \n")
    }

    @Test func thirtyThreeTextsGoInBatches() async throws {
        let stage = try RemoteStage()
        let lines = (1...33).map { String(repeating: "x", count: $0) }
        let document = try await stage.run(
            "embed", Self.model, "--texts", "-", "--json", "--provider", "hf", input: lines.joined(separator: "\n")
        ).document()
        let first = (document["embeddings"]?.array ?? []).map { $0.array?.first?.double }
        #expect(first == (1...33).map(Double.init) && stage.calls.count > 1)
    }

    @Test func aServersVectors() async throws {
        let stage = try RemoteStage()
        let document = try await stage.run(
            "embed", "e5", "abc", "--provider", stage.server.address, "--json", "--dimensions", "3"
        ).document()
        #expect(document["provider"]?.string == stage.server.address)
        let sent = try #require(stage.calls.first)
        #expect(sent.path == "/v1/embeddings" && sent.json["model"]?.string == "e5")
        #expect(sent.headers["Authorization"] == nil && sent.json["dimensions"]?.int == 3)
    }

    @Test func aModelOfThisMachineGivesWhatHubTryGives() async throws {
        let stage = try RemoteStage()
        let folder = try Fixtures.path("micro/bert")
        let here = try await stage.run("embed", folder, "The sea.", "--json", "--exact")
        let tried = try await stage.run("try", folder, "--embed", "The sea.", "--json", "--exact")
        if tried.status == 0 {
            #expect(try here.document()["embeddings"] == tried.document()["embeddings"])
            #expect(try here.document()["provider"]?.string == "local")
        } else {
            #expect(here.status == tried.status)
        }
        #expect(stage.server.requests.isEmpty)
    }

    @Test func whatIsRefused() async throws {
        let stage = try RemoteStage()
        let none = try await stage.run("embed", Self.model)
        #expect(none.status == 2 && none.error.contains("there is no text to embed"))
        let unnamed = try await stage.run("embed", Self.model, "x")
        #expect(unnamed.status == 2 && unnamed.error.contains("no provider was named"))
        #expect(try await stage.run("embed", Self.model, "x", "--yes").status != 0)
        #expect(stage.calls.isEmpty)
        let threads = try await stage.run("embed", Self.model, "x", "--provider", "hf", "--threads", "2")
        #expect(threads.status == 2 && threads.error.contains("--threads is about computing"))
        let local = try await stage.run("embed", Fixtures.path("tiny-shakespeare"), "x", "--timeout", "5")
        #expect(local.status == 2 && local.error.contains("--timeout is about a provider's answer"))
        #expect(stage.calls.isEmpty)
    }
}
