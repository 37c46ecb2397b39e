import HubChatTemplates
import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// What is sent for a turn, and what is refused before anything is.
@Suite struct ChatRequestTests {
    private func body(
        _ messages: [Message] = [.user("Hello")], _ options: ChatOptions = ChatOptions(),
        _ config: GenerateConfig = GenerateConfig(topP: nil), dialect: OpenAICompatibleProvider.Dialect = .openAI
    ) async throws -> JSON {
        let place = try RemotePlace { HonestRouter().answer($0) }
        _ = try await place.compatible(dialect: dialect).stream(
            messages: messages, options: options, config: config
        )
        .collect()
        return place.server.requests[0].json
    }

    @Test func theModelComesFirstAndNoMemberIsNull() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        _ = try await place.hub("org/chat:groq").stream(messages: [.user("Hello")], config: .default).collect()
        let request = place.server.requests[0]
        #expect(request.method == "POST" && request.path == "/v1/chat/completions")
        #expect(request.text.hasPrefix(#"{"model":"org/chat:groq","messages":[{"role":"user","content":"Hello"}]"#))
        #expect(!request.text.contains("null"))
        #expect(request.json["stream_options"]?["include_usage"]?.bool == true)
        #expect(request.header("Accept") == "text/event-stream")
        #expect(request.header("Content-Type") == "application/json" && request.header("Expect") == nil)
    }

    @Test func everyFieldOfTheConfigurationIsSent() async throws {
        let config = GenerateConfig(
            maxTokens: 9, temperature: 0.5, topP: 0.8, logitBias: [3: -1.5], frequencyPenalty: 0.25,
            presencePenalty: -0.5,
            stopSequences: ["a", "b"], seed: .max, topLogprobs: 1)
        let sent = try await body([.user("x")], ChatOptions(), config)
        #expect(sent["max_tokens"]?.int == 9 && sent["temperature"]?.double == 0.5 && sent["top_p"]?.double == 0.8)
        #expect(sent["logit_bias"] == .object(["3": .double(-1.5)]))
        #expect(sent["frequency_penalty"]?.double == 0.25 && sent["presence_penalty"]?.double == -0.5)
        #expect(sent["stop"] == .array(["a", "b"]) && sent["seed"] == .longNumber("18446744073709551615"))
        #expect(sent["n"] == nil && sent["top_k"] == nil)
    }

    @Test func aServerOfTheirKindGetsItsOwnFields() async throws {
        let config = GenerateConfig(
            topK: 5, topP: nil, minP: 0.1, repetitionPenalty: 1.1, ignoresEndOfSequence: true)
        let vLLM = try await body([.user("x")], ChatOptions(), config, dialect: .vLLM)
        #expect(
            vLLM["top_k"]?.int == 5 && vLLM["min_p"]?.double == 0.1 && vLLM["repetition_penalty"]?.double == 1.1)
        #expect(vLLM["ignore_eos"]?.bool == true)
        let llama = try await body([.user("x")], ChatOptions(), config, dialect: .llamaCpp)
        #expect(llama["repeat_penalty"]?.double == 1.1 && llama["repetition_penalty"] == nil)
    }

    private static let unknown: [GenerateConfig] = [
        .default.topK(5), .default.minP(0.1), GenerateConfig(typicalP: 0.5), .default.logitBias([1: 1]),
        .default.repetitionPenalty(1.2), .default.ignoresEndOfSequence(true), .default.topLogprobs(6),
        .default.temperature(2.5), .default.frequencyPenalty(3), .default.stopSequences(["a", "b", "c", "d", "e"]),
        .default.maxTokens(0), .default.repetitionPenalty(1.1).penaltyWindow(64), .default.penaltyWindow(64),
        .creative,
    ]

    /// `hub chat --provider hf --min-p 0.1` is exit 2.
    @Test(arguments: unknown)
    func whatTheHubsProvidersDoNotTakeIsRefusedUnsent(_ config: GenerateConfig) async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let error = await fault { try await place.hub().stream(messages: [.user("x")], config: config) }
        #expect(error?.code == .invalidInput && error?.exitStatus == 2)
        #expect(place.server.requests.isEmpty)
    }

    @Test func languagesOfATranslationAreRefused() async throws {
        var config = GenerateConfig.default
        config.translation = Translation(from: "en", to: "de")
        let place = try RemotePlace { HonestRouter().answer($0) }
        let error = await fault { try await place.compatible().stream(messages: [.user("x")], config: config) }
        #expect(error?.code == .invalidInput && place.server.requests.isEmpty)
    }

    @Test func optionsOfATemplateAreSentOrRefused() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let provider = try place.compatible()
        func error(_ options: ChatTemplate.Options) async -> ErrorCode? {
            await fault { try await provider.stream(messages: [.user("x")], options, config: .default) }?.code
        }
        #expect(await error(.init(documents: [])) == .invalidInput)
        #expect(await error(.init(addsGenerationPrompt: false)) == .invalidInput)
        #expect(await error(.init(variables: ["enable_thinking": true])) == .invalidInput)
        let effort = ChatTemplate.Options(variables: ["reasoning_effort": "low"])
        _ = try await provider.stream(messages: [.user("x")], effort, config: .default).collect()
        #expect(place.server.requests.map { $0.json["reasoning_effort"]?.string } == ["low"])
    }

    private static let tool = JSON.object([
        "type": "function", "function": .object(["name": "weather", "parameters": .object(["type": "object"])]),
    ])

    @Test func toolsTheirChoiceAndTheirResultsAreSent() async throws {
        let call = Message.ToolCall(id: "c1", name: "weather", arguments: ["city": "Bonn"])
        let messages: [Message] = [
            .system("Be brief."), .user("Weather?"), Message(role: .assistant, content: nil, toolCalls: [call]),
            .tool("Rain", callID: "c1", name: "weather"),
        ]
        let sent = try await body(messages, ChatOptions(tools: [Self.tool], toolChoice: .tool("weather")))
        #expect(sent["tools"] == .array([Self.tool]))
        #expect(sent["tool_choice"]?["function"]?["name"]?.string == "weather")
        let turns = try #require(sent["messages"]?.array)
        #expect(turns[2].object?.keys == ["role", "tool_calls"])
        #expect(turns[2]["tool_calls"]?.array?.first?["function"]?["arguments"]?.string == #"{"city":"Bonn"}"#)
        #expect(turns[3]["tool_call_id"]?.string == "c1" && turns[3]["role"]?.string == "tool")
    }

    @Test func callsWithoutAnIdGetOneAndTheirResultsToo() throws {
        let calls = ["a", "b"].map { Message.ToolCall(name: $0) }
        var body = ChatBody(
            model: "m",
            messages: [Message(role: .assistant, content: nil, toolCalls: calls), .tool("1"), .tool("2")],
            options: ChatOptions(), config: .default, dialect: .openAI)
        let turns = try #require(try body.json(isStream: false)["messages"]?.array)
        let ids = (turns[0]["tool_calls"]?.array ?? []).map { $0["id"]?.string }
        #expect(ids == ["call_0_0", "call_0_1"])
        #expect(turns.dropFirst().map { $0["tool_call_id"]?.string } == ids)
        body.messages = [.user("x"), .tool("1")]
        #expect(throws: AIError.self) { try body.json(isStream: false) }
    }

    @Test(arguments: [
        (ChatOptions(toolChoice: .required), "there are no tools"),
        (ChatOptions(tools: [tool], toolChoice: .tool("clock")), "there is no tool"),
        (ChatOptions(tools: [.object(["type": "function"])]), "no name"),
    ])
    func toolsThatCannotBeCalledAreRefused(_ options: ChatOptions, _ words: String) async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let error = await fault {
            try await place.compatible().stream(messages: [.user("x")], options: options, config: .default)
        }
        #expect(error?.code == .invalidInput && error?.message.contains(words) == true)
    }

    @Test func aRoundTripThroughATool() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let provider = try place.compatible()
        let options = ChatOptions(tools: [Self.tool])
        let asked = try await provider.stream(messages: [.user("Rain?")], options: options, config: .default)
            .collectWithMetadata()
        let call = try #require(asked.toolCalls.first).parsed()
        #expect(call.name == "weather" && call.arguments == ["text": "Rain?"] && asked.finishReason == .toolCalls)
        let answered = try await provider.respond(
            messages: [
                .user("Rain?"), Message(role: .assistant, content: nil, toolCalls: [call]),
                .tool("Yes", callID: call.id),
            ], options: options, config: .default)
        #expect(answered.text == "You said: Yes 🙂")
    }

    @Test func picturesAreSentAsParts() async throws {
        let message = Message.user(
            "What is this?",
            images: [.bytes([1, 2, 3], mediaType: "image/png"), .address("https://example.org/a.png")])
        let parts = try #require(try await body([message])["messages"]?.array?[0]["content"]?.array)
        #expect(parts.map { $0["type"]?.string } == ["text", "image_url", "image_url"])
        #expect(parts[1]["image_url"]?["url"]?.string == "data:image/png;base64,AQID")
        let place = try RemotePlace { HonestRouter().answer($0) }
        for bad in [
            Message.user("x", images: [.address("file:///etc/passwd")]),
            Message(role: .system, content: "", images: message.images),
        ] {
            let error = await fault { try await place.compatible().stream(messages: [bad], config: .default) }
            #expect(error?.code == .invalidInput)
        }
    }

    @Test func aFormatIsSentAndTheSchemaIsAskedOfWhoKnowsIt() async throws {
        let schema = JSON.object(["type": "object"])
        let format = ResponseFormat.jsonSchema(name: "answer", schema: schema)
        let sent = try await body([.user("x")], ChatOptions(responseFormat: format, reasoningEffort: .high))
        #expect(
            sent["response_format"]?["json_schema"]?["schema"] == schema
                && sent["reasoning_effort"]?.string == "high")
        // Of the two that serve it, one is known to hold to schemas.
        let place = try RemotePlace { HonestRouter().answer($0) }
        let options = ChatOptions(responseFormat: format)
        _ = try await place.hub().respond(messages: [.user("x")], options: options, config: .default)
        #expect(place.server.requests.map(\.path) == ["/v1/models", "/v1/chat/completions"])
        #expect(place.server.requests[1].json["model"]?.string == "org/chat:together")
        let error = await fault {
            try await place.hub("org/chat:groq").respond(messages: [.user("x")], options: options, config: .default)
        }
        #expect(error?.code == .invalidInput && error?.recoverySuggestion?.contains("together") == true)
        // The list is remembered for an hour.
        #expect(place.server.requests.count == 2)
        let unknown = await fault {
            try await place.hub("org/other").respond(messages: [.user("x")], options: options, config: .default)
        }
        #expect(unknown?.code == .invalidInput)
    }

    @Test(arguments: [
        ("together", #"{"type":"json_schema","schema":{"type":"object"}}"#),
        ("cohere", #"{"type":"json_object","schema":{"type":"object"}}"#),
        ("hf-inference", #"{"type":"json_object","value":{"type":"object"}}"#),
    ])
    func aProvidersOwnRouteGetsItsOwnFormOfASchema(_ name: String, _ text: String) throws {
        let routes = try #require(ServingRoutes.of(name))
        let body = ChatBody(
            model: "m", messages: [.user("x")],
            options: ChatOptions(responseFormat: .jsonSchema(name: "a", schema: .object(["type": "object"]))),
            config: .default, dialect: .hub, schemaForm: routes.schemaForm)
        #expect(try body.json(isStream: false)["response_format"]?.text() == text)
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/chat/completions"),
        ("https://host/v1", "https://host/v1/chat/completions"),
        ("https://host/openai/v1/", "https://host/openai/v1/chat/completions"),
        ("https://host/v1/chat/completions", "https://host/v1/chat/completions"),
        ("https://host/v3/openai/chat/completions", "https://host/v3/openai/chat/completions"),
        ("https://host/base", "https://host/base/v1/chat/completions"),
        ("https://host/v1?api-version=2", "https://host/v1/chat/completions?api-version=2"),
    ])
    func anAddressMayBeBareOrWhole(_ text: String, _ route: String) throws {
        #expect(try ServerAddress(text).route("/chat/completions") == route)
    }

    @Test(arguments: ["ftp://host", "host:80", "https://user:secret@host/v1", "https://host/#x", ""])
    func whatIsNoAddressIsRefused(_ text: String) {
        let error = #expect(throws: AIError.self) { try ServerAddress(text) }
        #expect(error?.code == .invalidInput && error?.message.contains("secret") == false)
    }
}
