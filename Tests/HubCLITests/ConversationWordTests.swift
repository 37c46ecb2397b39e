import HubChatTemplates
import HubCore
import MemoryKit
import Support
import Testing

@testable import HubCLI

@Suite struct ConversationWordTests {
    @Test func anIdIsToldFromAPrompt() throws {
        let state = try TemporaryFolder("state")
        let environment = HubEnvironment(["HUB_HOME": state.path])
        #expect(!ConversationWord.isName("3f0a", environment))
        // A slip in an id is none the less an id: it must not be sent.
        #expect(ConversationWord.isName("3f0a1b2c", environment))
        #expect(!FileSystem.exists(ConversationArchive.path(in: state.path)))
        let archive = try ConversationArchive(path: ConversationArchive.path(in: state.path))
        var kept = KeptConversation(model: "org/chat", provider: "auto", at: 1)
        kept.turns = [.init(.user("Hello"), at: 1)]
        try archive.keep(&kept, at: 2)
        for word in [kept.id, String(kept.id.prefix(4)), kept.id.uppercased()] {
            #expect(ConversationWord.isName(word, environment), "\(word)")
        }
        for word in [String(kept.id.prefix(3)), "Hello", "", "3f0a1b2c3", "\(kept.id.prefix(4))!"] {
            #expect(!ConversationWord.isName(word, environment), "\(word)")
        }
    }

    /// `hub chat --continue ID` sent the id to the last conversation.
    @Test func anIdBehindContinueIsNoPrompt() async throws {
        let remote = try RemoteStage()
        func once(_ prompt: String) async throws -> String? {
            try await remote.run("chat", RemoteStage.chat, prompt, "--provider", "hf", "--json").document()[
                "conversation"]?.string
        }
        let first = try #require(try await once("One"))
        _ = try await once("Other")
        let result = try await remote.run("chat", "--continue", String(first.prefix(6)), "Two", "--json")
        #expect(try result.document()["conversation"]?.string == first, "\(result.error)")
        let sent = try #require(remote.calls.last).json["messages"]?.array ?? []
        #expect(sent.last?["content"]?.string == "Two")
        let count = remote.calls.count
        let other = first == "00000000" ? "00000001" : "00000000"
        let absent = try await remote.run("chat", "--continue", other, "Hi")
        #expect(absent.status == 3 && absent.error.contains("there is no conversation 0000000"))
        #expect(remote.calls.count == count)
    }
}
