import HubChatTemplates
import HubCore
import HubGrammar
import HubTokenizers
import Support
import Testing

@testable import InferenceKit

/// A model that knows no JSON, held to it: the tiny one at temperature 1.5.
@Suite struct ConstraintTests {
    private static func model() async throws -> LanguageModel {
        try await LanguageModel.open(folder: Fixtures.path("tiny-shakespeare"))
    }

    private static func config(
        _ constraint: OutputConstraint, seed: Int, speculates: Bool = true, maxTokens: Int = 80
    ) -> GenerateConfig {
        GenerateConfig(
            maxTokens: maxTokens, temperature: 1.5, topP: nil, seed: UInt64(seed), speculates: speculates,
            constraint: constraint)
    }

    @Test func whatEndsByItselfIsValid() async throws {
        let model = try await Self.model()
        var whole = 0
        for number in 0..<40 {
            var source = RandomSchema(number: 1000 + number)
            let schema = source.next()
            guard let grammar = try? OutputGrammar(jsonSchema: schema) else { continue }
            let result = try await model.generate(
                prompt: "To be", config: Self.config(.answer(grammar), seed: number)
            )
            .collectWithMetadata()
            guard result.finishReason == .stop else {
                #expect(result.finishReason == .length && result.ids.count == 80)
                continue
            }
            whole += 1
            let value = try JSON.parse(result.text)
            #expect(PlainValidator(schema).isValid(value), "\(result.text) under \(schema.text())")
        }
        #expect(whole > 12)
    }

    /// Guesses are checked with the mask in its state of then, and several texts in one step each have their own.
    @Test func guessesAndNeighboursChangeNothing() async throws {
        let model = try await Self.model()
        let schema = try JSON.parse(
            #"""
            {"type":"array","minItems":3,"maxItems":12,"items":{"type":"object","additionalProperties":false,
             "properties":{"character":{"enum":["HAMLET","OPHELIA"]},"line":{"type":"string","maxLength":12}},
             "required":["character","line"]}}
            """#)
        let constraint = OutputConstraint.answer(try OutputGrammar(jsonSchema: schema))
        var alone: [GenerationResult] = []
        for seed in 0..<4 {
            alone.append(
                try await model.generate(
                    prompt: "To be", config: Self.config(constraint, seed: seed, speculates: false)
                )
                .collectWithMetadata())
        }
        #expect(Set(alone.map(\.text)).count == 4)
        for seed in 0..<4 {
            let guessed = try await model.generate(prompt: "To be", config: Self.config(constraint, seed: seed))
                .collectWithMetadata()
            #expect(guessed.ids == alone[seed].ids && guessed.text == alone[seed].text)
            #expect(guessed.draftedTokens >= guessed.acceptedTokens)
        }
        let together = try await withThrowingTaskGroup(of: (Int, [Int]).self) { group in
            for seed in 0..<4 {
                group.addTask {
                    let config = Self.config(constraint, seed: seed, speculates: seed % 2 == 0)
                    return (
                        seed, try await model.generate(prompt: "To be", config: config).collectWithMetadata().ids
                    )
                }
            }
            return try await group.reduce(into: [Int: [Int]]()) { $0[$1.0] = $1.1 }
        }
        for seed in 0..<4 { #expect(together[seed] == alone[seed].ids) }
    }

    /// What must come takes no choice: every seed gives it, and no step of its own is needed for it.
    @Test func forcedTextIsNotSampled() async throws {
        let model = try await Self.model()
        let grammar = try OutputGrammar(regularExpression: "To be, or not to be, that is the question\\.")
        for seed in 0..<3 {
            let result = try await model.generate(
                prompt: "HAMLET:", config: Self.config(.answer(grammar), seed: seed)
            )
            .collectWithMetadata()
            #expect(result.text == "To be, or not to be, that is the question." && result.finishReason == .stop)
            // As the tokenizer divides it.
            #expect(result.ids == (try model.tokenizer.encode(result.text, addSpecialTokens: false)))
        }
        let cut = try await model.generate(
            prompt: "HAMLET:", config: Self.config(.answer(grammar), seed: 0, maxTokens: 5)
        ).collectWithMetadata()
        #expect(cut.finishReason == .length && cut.ids.count == 5)
        let logged = try await model.generate(
            prompt: "HAMLET:",
            config: {
                var c = Self.config(.answer(grammar), seed: 0); c.topLogprobs = 1; return c
            }()
        ).collectWithMetadata()
        #expect(logged.text == "To be, or not to be, that is the question.")
    }

    /// Penalties and biases act on what the grammar allows, and cannot break it.
    @Test func otherSettingsCannotBreakIt() async throws {
        let model = try await Self.model()
        let grammar = try OutputGrammar(regularExpression: "(yes|no){3}")
        var config = Self.config(.answer(grammar), seed: 5)
        (config.repetitionPenalty, config.frequencyPenalty, config.topK, config.minP) = (1.8, 2, 1, 0.9)
        let result = try await model.generate(prompt: "To be", config: config).collectWithMetadata()
        #expect(grammar.allows(result.text) && result.finishReason == .stop)
        config.ignoresEndOfSequence = true
        #expect(grammar.allows(try await model.generate(prompt: "To be", config: config).collect()))
    }

    @Test(arguments: [
        ResponseFormat.jsonObject, .regularExpression("[ab]{2,5}"), .gbnf("root ::= \"x\" root | \"y\""),
        .jsonSchema(name: "n", schema: .object(["type": "integer", "minimum": 5, "maximum": 250])),
    ])
    func aConversationHonorsItsFormat(_ format: ResponseFormat) async throws {
        let provider = LocalModel(try await Self.model())
        let grammar = try #require(try format.grammar())
        for seed in 0..<3 {
            let result = try await provider.respond(
                messages: [.user("Tell me.")], options: ChatOptions(responseFormat: format),
                config: GenerateConfig(maxTokens: 150, temperature: 1.5, topP: nil, seed: UInt64(seed)))
            #expect(result.finishReason == .length || grammar.allows(result.text), "\(result.text)")
        }
        await #expect(throws: AIError.self) {
            try await provider.respond(
                messages: [.user("Tell me.")],
                options: ChatOptions(tools: [AnswerReaderTests.weather], responseFormat: format), config: .precise)
        }
    }

    /// A call that has begun has the arguments of its schema.
    @Test(arguments: ["hermes", "list", "bracketed", "fenced", "named", "bare"])
    func callsFollowTheirSchema(template: String) async throws {
        let folder = try LocalChatTests.folder(template)
        let model = try await LanguageModel.open(folder: folder.path)
        let parameters = try JSON.parse(
            #"{"type":"object","properties":{"city":{"enum":["Paris","Oslo"]},"days":{"type":"integer","minimum":1,"maximum":9}},"required":["city"]}"#
        )
        let tool = JSON.object([
            "type": "function",
            "function": .object(["name": "forecast", "description": "The weather.", "parameters": parameters]),
        ])
        let options = ChatOptions(tools: [tool], toolChoice: .tool("forecast"))
        let prompt = try ChatPrompt(
            [.user("Rain?")], options, folder: folder.path, tokenizer: model.tokenizer)
        for seed in 0..<4 {
            let result = try await LocalModel(model).respond(
                messages: [.user("Rain?")], options: options,
                config: GenerateConfig(maxTokens: 60, temperature: 1.5, topP: nil, seed: UInt64(seed)))
            // At the limit of tokens a call is none: it is read here as if the model had ended it.
            var reader = AnswerReader(prompt.reading)
            _ = reader.add(model.tokenizer.decode(result.ids))
            _ = reader.finish(isCut: false)
            let call = try #require(reader.calls.first)
            #expect(call.name == "forecast")
            // What follows the arguments is this model's noise, up to the limit of tokens.
            let end = try #require(call.arguments.firstIndex(of: "}"), "\(call.arguments)")
            let arguments = try JSON.parse(String(call.arguments[...end]))
            #expect(PlainValidator(parameters).isValid(arguments), "\(call.arguments)")
        }
    }

    struct Answer: Generable {
        var mood: String
        var scores: [Int]
        static let schema = JSONSchema.object(
            .init("mood", .choice("glad", "sad")), .init("scores", .array(of: .integer(in: 0...10), count: 1...3)))
        init(json: JSON) throws(AIError) {
            mood = try json.value("mood")
            scores = try json.value("scores")
        }
    }

    @Test func aModelWritesValues() async throws {
        let provider = LocalModel(try await Self.model())
        let answer = try await provider.respond(messages: [.user("How are you?")], generating: Answer.self)
        #expect(["glad", "sad"].contains(answer.mood) && (1...3).contains(answer.scores.count))
        let error = await #expect(throws: AIError.self) {
            try await provider.respond(
                messages: [.user("How are you?")], generating: Answer.self, config: .precise.maxTokens(3))
        }
        #expect(error?.code == .generationFailed && error?.partialResult != nil)
    }

    @Test func aTokenizerOfWordsIsRefused() throws {
        let tokenizer = try Tokenizer(folder: Fixtures.path("micro/bert"))
        #expect(throws: AIError.self) { try tokenizer.texts() }
    }
}
