import HubCore
import Support
import Testing

/// The library's chat application, run as after a fresh clone.
@Suite struct ChatExampleTests {
    private let place: TemporaryFolder

    init() throws { place = try TemporaryFolder("chat") }

    private func chat(_ words: String..., input: String) async throws -> ProcessResult {
        try await RunningProcess.run(
            BuiltProduct.path("Chat"), words,
            environment: ["PATH": "/usr/bin:/bin", "HOME": place.path, "LC_ALL": "C.UTF-8"],
            input: Array(input.utf8))
    }

    @Test func aRemoteModelAnswersAndCallsATool() async throws {
        let server = try InferenceStandIn { HonestRouter().answer($0) }
        let file = place("kept.json")
        let result = try await chat(
            "server", server.address, "org/chat", "--keep", file, input: "Hi\n\nWell\n/back\nSo\n/prompts\n")
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(result.output == "You said: Hi 🙂\nYou said: Well 🙂\nYou said: So 🙂\n> Hi\n> So\n")
        // It goes on where it was left.
        let next = try await chat(
            "server", server.address, "org/chat", "--tools", "--keep", file, input: "Abc d\n/prompts\n")
        #expect(
            next.output == "[count_letters {\"text\":\"Abc d\"}]\nYou said: 4 letters 🙂\n> Hi\n> So\n> Abc d\n",
            "\(next.error)")
        let messages = server.requests.last?.json["messages"]?.array ?? []
        #expect(
            messages.map { $0["role"]?.string } == [
                "system", "user", "assistant", "user", "assistant", "user", "assistant", "tool",
            ])
    }

    @Test func aModelOfThisMachineAnswers() async throws {
        let folder = try Fixtures.path("tiny-shakespeare")
        let result = try await chat("local", folder, input: "To be\n/prompts\n")
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(result.output.hasSuffix("\n> To be\n") && result.output.utf8.count > 12)
        let refused = try await chat("local", folder, "--tools", input: "To be\n")
        #expect(refused.status == 1 && refused.error.contains("the chat template knows no tools"))
    }

    @Test func errorsSayWhatHappened() async throws {
        let result = try await chat("local", place("none"), input: "Hi\n")
        #expect(result.status == 1 && result.error.contains("does not exist"), "\(result.error)")
        #expect(try await chat("what", input: "").error.hasPrefix("usage: Chat local FOLDER"))
    }
}
