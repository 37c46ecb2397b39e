import HubCore
import Support
import Testing

@testable import HubCLI

/// The smoke test of a remote model.
@Suite struct TryRemoteTests {
    @Test func theVerdictComesFirst() async throws {
        let stage = try RemoteStage()
        let short = try await stage.run("try", "--provider", "hf:together", RemoteStage.chat)
        #expect(short.status == 0 && short.error.isEmpty)
        #expect(short.lines[0].contains(#/^works: first text after [\d,]+ ms/#), "\(short.lines[0])")
        #expect(short.lines[1] == "  answered by         hf:together")
        #expect(!short.output.contains("  pass  "))
        let result = try await stage.run("try", "--provider", "hf:together", RemoteStage.chat, "-v")
        #expect(result.lines.contains { $0.hasPrefix("  answer              pass  ") })
        #expect(result.lines.contains { $0.hasPrefix("  stream              pass  ") })
        #expect(result.lines.contains("  ending              pass  stop"))
        #expect(result.lines.contains("  usage               pass  7 + 3 tokens"))
        #expect(
            result.lines.contains(
                "  price               $0.2 for a million tokens of the prompt, $0.6 of the answer"))
        #expect(try await stage.run("try", "--provider", "hf", RemoteStage.chat, "-q").output == "pass\n")
    }

    @Test func theDocumentAndWhatIsRemembered() async throws {
        let stage = try RemoteStage()
        let document = try await stage.run("try", "--provider", "hf:together", RemoteStage.chat, "--json")
            .document()
        document.expectKeys("id provider served_by verdict checks generation price")
        #expect(document["verdict"]?.string == "pass" && document["price"]?["output"]?.double == 0.6)
        let generation = try #require(document["generation"]?.object)
        generation.expectKeys("text reasoning finish_reason ttft_seconds tokens_per_second usage")
        #expect(generation["ttft_seconds"]?.double != nil)
        try stage.stage.plant("models--org--chat", commit: commit("1"), files: ["config.json": "{}"])
        let listed = try #require(
            try await stage.run("ls", "--json").document().objects("models").first?["tried"]?.object)
        listed.expectKeys("at verdict tokens_per_second provider")
        #expect(listed["provider"]?.string == "hf:together" && listed["verdict"]?.string == "pass")
        #expect(try await stage.run("ls").output.contains("works, "))
        #expect(try await stage.run("ls").output.contains("hf:together"))
    }

    /// Beside what it did on this machine, which counts more in a list.
    @Test func infoShowsEachProvidersTest() async throws {
        let root = try TemporaryFolder("served")
        try ModelRepository.tiny("org/chat", in: root)
        let hub = try LoopbackHub(root)
        let stage = try RemoteStage()
        for provider in ["hf:together", "hf"] {
            #expect(try await stage.run("try", "--provider", provider, RemoteStage.chat).status == 0)
        }
        let there = ["HF_ENDPOINT": hub.endpoint]
        let document = try await stage.run("info", RemoteStage.chat, "--json", with: there).document()
        #expect(document.objects("tried_remotely").map { $0["provider"]?.string } == ["hf", "hf:together"])
        #expect(document["tried"]?["provider"]?.string == "hf")
        let page = try await stage.run("info", RemoteStage.chat, with: there).output
        #expect(page.contains(#/\n  tried +works, .*at hf:together, /#))
    }

    @Test func aModelThatSaysNothingFails() async throws {
        let stage = try RemoteStage.chatting { _ in .chunks([piece("", reason: "stop")]) }
        let result = try await stage.run("try", "--provider", "hf", RemoteStage.chat, "--json")
        #expect(result.status == 1)
        #expect(try result.document()["verdict"]?.string == "fail")
        let broken = try RemoteStage.chatting { _ in .events("data: \(piece("Half"))\n\n") }
        let cut = try await broken.run("try", "--provider", "hf", RemoteStage.chat, "--json")
        #expect(try cut.status == 5 && cut.errorCode() == "stream_interrupted")
        try broken.stage.plant("models--org--chat", commit: commit("1"), files: ["config.json": "{}"])
        let tried = try await broken.run("ls", "--json").document().objects("models").first?["tried"]
        #expect(tried?["verdict"]?.string == "fail")
    }

    @Test func anAnswerInOnePieceIsAWarning() async throws {
        let stage = try RemoteStage.chatting { _ in .chunks([piece("One two three", reason: "stop")]) }
        let document = try await stage.run("try", "--provider", "hf", RemoteStage.chat, "--json").document()
        #expect(document["verdict"]?.string == "warn")
        let page = try await stage.run("try", "--provider", "hf", RemoteStage.chat)
        #expect(page.lines[0] == "works, with warnings: the answer came in one piece")
        #expect(page.lines.contains("  stream              warn  the answer came in one piece"))
    }

    @Test func itOnlyTests() async throws {
        let stage = try RemoteStage()
        for (words, message) in [
            (["Hello"], "hub chat --provider hf"), (["--chat"], "hub chat --provider hf"),
            (["--greedy"], "--greedy is for a model on this machine"), (["--check"], "--check is for"),
            (["--embed", "x"], "--embed is for"),
        ] {
            let result = try await stage.stage.run(
                ["try", RemoteStage.chat, "--provider", "hf"] + words, with: stage.variables)
            #expect(result.status == 2 && result.error.contains(message), "\(result.error)")
        }
        let local = try await stage.run("try", Fixtures.path("tiny-shakespeare"), "--timeout", "3")
        #expect(local.status == 2 && local.error.contains("--timeout is about a provider's answer"))
        #expect(stage.calls.isEmpty)
    }
}
