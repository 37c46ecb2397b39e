import HubCore
import Support
import Testing

@testable import HubCLI

/// No text goes to a paid service unless somebody named it, or agreed to it on a terminal.
@Suite struct SendingAgreementTests {
    private let stage = try! RemoteStage()
    private let place = try! TemporaryFolder("files")

    private func commands() throws -> [[String]] {
        let sound = try place.write("a.flac", Array("fLaC....".utf8))
        return [
            ["chat", RemoteStage.chat, "Hi"], ["chat", "\(RemoteStage.chat):together", "Hi"],
            ["chat", RemoteStage.chat, "Hi", "--provider", "auto"], ["embed", HonestRouter.embedder, "Hi"],
            ["transcribe", HonestRouter.listener, sound],
            ["image", HonestRouter.painter, "a fox", "-o", place("fox.png")],
            ["try", RemoteStage.chat, "--provider", "auto"],
        ]
    }

    /// `--yes` agrees to a download and to sending files, never to a provider.
    @Test func aScriptHasToNameTheProvider() async throws {
        for words in try commands() {
            let result = try await stage.stage.run(words + ["--json"], with: stage.variables)
            #expect(try result.status == 2 && result.errorCode() == "confirmation_required", "\(words)")
            let error = try result.document()["error"]
            #expect(
                error?["message"]?.string?.contains("no provider was named") == true)
            #expect(error?["advice"]?.string?.contains("--provider hf sends it") == true)
            guard ["chat", "embed", "try"].contains(words[0]) else { continue }
            let agreed = try await stage.stage.run(words + ["--yes", "--json"], with: stage.variables)
            #expect(agreed.status != 0 && stage.calls.isEmpty, "\(words)")
        }
        // A pipe is no person either, whatever was agreed to.
        #expect(try await stage.answer(try commands()[0], "now and later? [y/N] ", "y").status == 0)
        let count = stage.calls.count
        #expect(try await stage.run("chat", RemoteStage.chat, "Hi").status == 2)
        #expect(try await stage.run("chat", RemoteStage.chat, input: "Hi").status == 2)
        #expect(stage.calls.count == count)
        #expect(try await stage.run("chat", RemoteStage.chat, "Hi", "--provider", "hf").status == 0)
    }

    @Test func aPersonIsAskedOnceAndCanTakeItBack() async throws {
        let router = try #require(Origin(stage.server.address))
        for words in try commands() {
            let result = try await stage.answer(words, "(\(router)), now and later? [y/N] ", "n")
            #expect(result.status == 2 && result.terminal.contains("nothing was sent"), "\(words)")
            #expect(result.terminal.contains("--provider hf sends it"))
        }
        #expect(stage.calls.isEmpty)
        // JSON has no place for a question.
        let silent = try await stage.run("chat", RemoteStage.chat, "Hi", "--json", terminal: .init(columns: 300))
        #expect(silent.status == 2 && silent.terminal.contains("nobody has agreed"))
        let agreed = try await stage.answer(try commands()[0], "now and later? [y/N] ", "y")
        #expect(agreed.status == 0 && agreed.terminal.contains("hub auth logout --provider hf takes it back"))
        #expect(agreed.terminal.contains("You said: Hi"))
        for words in try commands() {
            let result = try await stage.stage.run(words, with: stage.variables, terminal: .init(columns: 300))
            #expect(result.status == 0 && !result.terminal.contains("[y/N]"), "\(words): \(result.terminal)")
        }
        let listed = try await stage.run("auth", "ls", "--json").document().objects("agreements")
        #expect(listed.map { $0["provider"]?.string } == [router.description])
        #expect(try await stage.run("auth", "ls").output.contains("Texts may go to \(router) since "))
        // Another router is another matter.
        let other = try RemoteStage()
        let count = stage.calls.count
        let elsewhere = stage.variables.merging(["HUB_INFERENCE_ENDPOINT": other.server.address]) { $1 }
        // The list names the way back for each.
        let listedThere = try await stage.stage.run(["auth", "ls"], with: elsewhere)
        #expect(listedThere.output.contains("hub auth logout --provider \(router) ends that"))
        let unasked = try await stage.stage.run(
            ["chat", RemoteStage.chat, "Hi", "--json"], with: elsewhere, terminal: .init(columns: 300))
        #expect(unasked.status == 2 && other.calls.isEmpty && stage.calls.count == count)

        #expect(
            try await stage.run("auth", "logout", "--provider", "hf", "--json").document()["removed"]?.bool == true)
        #expect(try await stage.run("auth", "logout", "--provider", "hf").status == 0)
        let asked = try await stage.answer(try commands()[0], "now and later? [y/N] ", "")
        #expect(asked.status == 2 && stage.calls.count == count)
        #expect(try await stage.run("auth", "ls", "--json").document()["agreements"] == nil)
    }

    /// A damaged note of it is no agreement.
    @Test func aDamagedAgreementIsNone() async throws {
        try FileSystem.createDirectories(stage.stage.machine("state"))
        try FileSystem.replace(stage.stage.machine("state/agreements.json"), with: Array("{".utf8))
        let result = try await stage.run("chat", RemoteStage.chat, "Hi", terminal: .init(columns: 300))
        #expect(result.status == 6 && result.terminal.contains("agreements.json cannot be read"))
        #expect(stage.calls.isEmpty)
        let listed = try await stage.run("auth", "ls")
        #expect(listed.status == 0 && listed.error.contains("agreements.json cannot be read"), "\(listed.error)")
    }

    @Test func theHubsTokenIsNoKeyOfAProvider() async throws {
        let result = try await stage.run("auth", "login", "--provider", "hf")
        #expect(result.status == 2 && result.error.contains("take the Hub's own token"))
    }
}
