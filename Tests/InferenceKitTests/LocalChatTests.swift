import HubChatTemplates
import HubCore
import HubTokenizers
import Support
import Testing

@testable import InferenceKit

/// A model on this machine as a provider of conversations.
@Suite struct LocalChatTests {
    static let tools = [AnswerReaderTests.weather, AnswerReaderTests.clock]

    /// The tiny model with another chat template.
    static func folder(_ template: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: [])
        try folder.write("chat_template.jinja", Fixtures.bytes("chat-templates/calls/\(template).jinja"))
        return folder
    }

    @Test func itAnswersAsThroughItsTemplate() async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path("tiny-shakespeare"))
        let provider = LocalModel(model)
        let messages = [Message.system("Be kind."), .user("To be")]
        let config = GenerateConfig.precise.maxTokens(12)
        let result = try await provider.respond(messages: messages, options: ChatOptions(), config: config)
        #expect(try await model.generate(messages: messages, config: config).collect() == result.text)
        #expect(result.toolCalls.isEmpty && result.reasoning == nil && result.ids.count == 12)
        #expect(await provider.isAvailable)
        #expect(await provider.maxContextLength == model.context)
    }

    @Test func aDemandedCallThatIsCutIsNone() async throws {
        let folder = try Self.folder("hermes")
        let provider = LocalModel(folder: folder.path)
        let result = try await provider.respond(
            messages: [.user("What is it like in Paris?")],
            options: ChatOptions(tools: Self.tools, toolChoice: .tool("weather")),
            config: GenerateConfig(maxTokens: 8, seed: 1))
        // It is cut, so that it is no call, and nothing of it is text.
        #expect(result.finishReason == .length && result.toolCalls.isEmpty && result.text.isEmpty)
        let again = try await provider.respond(
            messages: [.user("What is it like in Paris?")],
            options: ChatOptions(tools: Self.tools, toolChoice: .tool("weather")),
            config: GenerateConfig(maxTokens: 8, seed: 1))
        #expect(again.ids == result.ids)
    }

    /// A mask makes the tiny model write what a large one would, token by token.
    @Test func whatTheModelWritesIsRead() async throws {
        let folder = try Self.folder("hermes")
        let model = try LoadedModel(FolderReading(folder.path), options: ModelOptions())
        let written = "Well.\n<tool_call>\n{\"name\": \"clock\", \"arguments\": {\"zone\": \"°C 🙂\"}}\n</tool_call>"
        let ids = try model.tokenizer.encode(written, addSpecialTokens: false) + [1]
        let prompt = try ChatPrompt(
            [.user("Time?")], ChatOptions(tools: Self.tools), folder: folder.path, tokenizer: model.tokenizer)
        let job = GenerationJob()
        model.scheduler.add(
            try GenerationRun(
                model: model, prompt: prompt.text, addsSpecialTokens: false, config: .precise.speculates(false),
                seed: 7, mask: Script(ids), reading: prompt.reading, job: job))
        var (shown, last) = ("", GenerationResult?.none)
        while let chunk = try await job.next() {
            shown += chunk.text
            last = chunk.result
        }
        let result = try #require(last)
        #expect(shown == "Well." && result.text == shown && result.finishReason == .toolCalls)
        #expect(result.toolCalls.map(\.name) == ["clock"] && result.ids == ids)
        #expect(result.toolCalls.first?.arguments == #"{"zone":"°C 🙂"}"#)
    }

    @Test func toolChoiceNoneHidesTheTools() async throws {
        let folder = try Self.folder("hermes")
        let model = try await LanguageModel.open(folder: folder.path)
        let with = try await model.chatPrompt(for: [.user("Hi")], ChatOptions(tools: Self.tools))
        let without = try await model.chatPrompt(
            for: [.user("Hi")], ChatOptions(tools: Self.tools, toolChoice: ToolChoice.none))
        #expect(with.text.contains("<tools>") && !without.text.contains("<tools>"))
        #expect(without.reading.tools.isEmpty)
    }

    // MARK: Reasoning effort

    @Test(arguments: [
        ("hermes", ReasoningEffort.none, "<think>\n\n</think>"), ("channels", .high, "Reasoning: high"),
        ("named", .medium, "<think>"), ("named", .none, "</think>"),
    ]) func theTemplateHearsOfTheEffort(template: String, effort: ReasoningEffort, text: String) async throws {
        let folder = try Self.folder(template)
        let model = try await LanguageModel.open(folder: folder.path)
        let prompt = try await model.chatPrompt(for: [.user("Hi")], ChatOptions(reasoningEffort: effort))
        #expect(prompt.text.contains(text))
        #expect(prompt.reading.beginsInReasoning == prompt.text.hasSuffix("<think>"))
    }

    // MARK: What is refused

    @Test(arguments: [
        (String?.none, ChatOptions(tools: tools), "the chat template knows no tools"),
        ("families", ChatOptions(tools: tools), "no form that can be read here"),
        ("hermes", ChatOptions(tools: [.object([:])]), "a tool has no name"),
        ("hermes", ChatOptions(tools: tools, toolChoice: .tool("lamp")), "there is no tool \"lamp\""),
        ("hermes", ChatOptions(toolChoice: .required), "there are no tools"),
        (
            "channels", ChatOptions(reasoningEffort: .xhigh),
            "takes the reasoning efforts low, medium and high, not xhigh"
        ),
        (nil, ChatOptions(reasoningEffort: .high), "takes no reasoning effort, not high"),
    ]) func whatTheModelCannotDoIsRefused(template: String?, options: ChatOptions, message: String) async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: [])
        switch template {
        case nil: break
        case "families":
            try folder.write(
                "chat_template.jinja", Fixtures.bytes("chat-templates/families/thinking-with-tools.jinja"))
        case let name?:
            try folder.write("chat_template.jinja", Fixtures.bytes("chat-templates/calls/\(name).jinja"))
        }
        let provider = LocalModel(folder: folder.path)
        let error = try await thrown {
            try await provider.stream(messages: [.user("Hi")], options: options, config: .default)
        }
        #expect(error.code == .invalidInput && error.message.contains(message), "\(error)")
        // It is the model that cannot, and people know it by its name.
        #expect(!error.message.contains(folder.path))
    }

    @Test func reasoningOffIsNoQuestionToAModelWithoutIt() async throws {
        let provider = LocalModel(folder: try Fixtures.path("tiny-shakespeare"))
        let result = try await provider.respond(
            messages: [.user("Hi")], options: ChatOptions(reasoningEffort: ReasoningEffort.none),
            config: .precise.maxTokens(2))
        #expect(result.ids.count == 2)
    }
}

/// Allows one text alone, token by token.
final class Script: TokenMask, @unchecked Sendable {
    private let ids: [Int]
    private var at = 0

    init(_ ids: [Int]) { self.ids = ids }

    func ban(in logits: UnsafeMutableBufferPointer<Float>) {
        for id in logits.indices { logits[id] = id == ids[at] ? 0 : -.infinity }
    }

    func accept(_ id: Int) { at += 1 }
}
