import CKernels
import HubCore
import HubTokenizers
import Support
import Testing

@testable import InferenceKit

/// The bits of a row depend on its text alone: not on the rows beside it, on threads, on how a prompt was cut, on what was
/// cached before, nor on guesses that were wrong.
@Suite struct StepTests {
    private static let models =
        [
            "tiny-shakespeare", "tiny-shakespeare-gguf/model-q4_0.gguf", "tiny-shakespeare-gguf/model-q8_0.gguf",
            "tiny-shakespeare-mlx-4bit", "micro-llama-kquant-gguf/model-q2_k.gguf",
            "micro-llama-quant-gguf/model-bf16.gguf", "micro/gemma2", "micro/gemma3", "micro/gpt2",
            "micro/phi3-longrope", "micro/opt", "micro/gemma3n", "micro/gemma4", "micro/gemma4-large",
            "micro/gemma4-mixture",
            "micro-gguf/gemma4-q8_0.gguf",
            "micro/qwen3-moe", "micro/qwen2-moe", "micro/mixtral", "micro/gpt-oss", "micro/gpt-oss-mxfp4",
            "micro/deepseek_v2", "micro/deepseek_v3", "micro/glm4_moe_lite", "micro/glm4_moe", "micro/minimax_m2",
            "micro/nemotron_h", "micro/mamba", "micro/falcon_mamba", "micro/mamba2",
            "micro/granite4-mamba", "micro/bamba", "micro/falcon_h1", "micro/falcon_h1-normed", "micro/jamba",
            "micro/kimi_k2", "micro/hunyuan-moe", "micro-gguf/falcon-h1-q8_0.gguf", "micro-gguf/jamba-q8_0.gguf",
            "micro-gguf/nemotron-h-moe-q8_0.gguf",
            "micro-gguf/deepseek-v3-q8_0.gguf",
            "micro-gguf/qwen3-moe-q8_0.gguf",
            "micro/packed-fp8", "micro/packed-awq", "micro/packed-gptq", "micro/packed-gptq-order",
            "micro/packed-gptq-8bit",
            "micro/packed-nvfp4", "micro/packed-nvfp4-experts", "micro/packed-int4", "micro/packed-int8",
            "micro/packed-nf4-nested",
            "micro/packed-nf4", "micro/packed-fused", "micro/packed-hqq", "micro/packed-hqq-axis0",
            "micro-llama-quant-gguf/model-iq3_s.gguf", "micro-llama-quant-gguf/model-iq1_m.gguf",
            "micro/t5", "micro/t5-gated", "micro/bart", "micro/pegasus", "micro/t5gemma", "micro/marian",
            "micro/m2m-100",
            "micro/mbart",
            "micro/qwen3_5", "micro/qwen3_5-moe", "micro/qwen3-next", "micro-gguf/qwen3_5-q8_0.gguf",
        ] + DenseDecoders.steps

    private func open(_ name: String, _ options: ModelOptions) throws -> LoadedModel {
        try LoadedModel(FolderReading(Fixtures.path(name)), options: options)
    }

    /// What a text answers, if the model has an encoder.
    private func source(_ model: LoadedModel, _ text: [RowInput]) -> [RowInput] {
        guard model.model.description.encoder != nil else { return [] }
        return [RowInput](tokens: text.prefix(11).compactMap(\.token).map { ($0 + 7) % model.vocabulary })
    }

    private func session(_ model: LoadedModel, _ text: [RowInput]) -> Session {
        let session = model.session()
        session.begin(text, answering: source(model, text))
        return session
    }

    /// The logits of every position of a text, computed alone, a token at a time.
    private func alone(_ model: LoadedModel, _ text: [RowInput]) throws -> [[Float]] {
        let session = session(model, text)
        let workspace = Workspace(model.model.description, team: model.team, isExact: model.isExact)
        var all: [[Float]] = []
        for row in text {
            try model.model.run(Step(session.rows([row], logitsFrom: 0)), workspace) { all.append(Array($1)) }
            session.keep([row])
        }
        return all
    }

    @Test(arguments: models, [true, false]) func randomSchedulesGiveTheSameBits(name: String, isExact: Bool) throws
    {
        var random = Xoshiro256(seed: 7)
        let one = try open(name, ModelOptions(threads: 1, isExact: isExact))
        let three = try open(name, ModelOptions(threads: 3, isExact: isExact))
        let texts = (0..<4).map { _ in
            (0..<Int.random(in: 3...40, using: &random)).map { _ in
                RowInput.token(Int.random(in: 0..<one.vocabulary, using: &random))
            }
        }
        let expected = try texts.map { try alone(one, $0) }
        for model in [one, three] {
            let workspace = Workspace(model.model.description, team: model.team, isExact: isExact)
            let sessions = texts.map { session(model, $0) }
            var got = texts.map { _ in [[Float]]() }
            while sessions.indices.contains(where: { sessions[$0].count < texts[$0].count }) {
                var step = Step()
                var pieces: [(text: Int, rows: [RowInput], first: Int)] = []
                for text in texts.indices.shuffled(using: &random) {
                    let rest = texts[text][sessions[text].count...]
                    let piece = Array(rest.prefix(Int.random(in: 0...9, using: &random)))
                    guard !piece.isEmpty else { continue }
                    pieces.append((text, piece, step.count))
                    for row in sessions[text].rows(piece, logitsFrom: 0) { step.append(row) }
                }
                guard !step.isEmpty else { continue }
                try model.model.run(step, workspace) { index, logits in
                    let piece = pieces.last { $0.first <= index }!
                    got[piece.text].append(Array(logits))
                }
                for piece in pieces { sessions[piece.text].keep(piece.rows) }
            }
            #expect(got == expected)
        }
    }

    /// Wrong guesses are computed and forgotten, a beginning is shared by a copy, and the rest is the same to the bit.
    @Test(arguments: models) func whatWasCachedBeforeChangesNothing(name: String) throws {
        var random = Xoshiro256(seed: 11)
        let model = try open(name, ModelOptions(threads: 2))
        let workspace = Workspace(model.model.description, team: model.team, isExact: false)
        func row() -> RowInput { .token(Int.random(in: 0..<model.vocabulary, using: &random)) }
        let text = (0..<30).map { _ in row() }
        let expected = try alone(model, text)
        let session = model.session()
        for round in 0..<6 {
            // Another text with the same beginning first.
            let shared = Int.random(in: 1..<text.count, using: &random)
            let other =
                text.prefix(shared) + (0..<9).map { _ in row() }
            for wanted in [Array(other), text] {
                // A text that answers another one has nothing in common with it.
                session.begin(wanted, answering: source(model, wanted))
                // A state goes back only to where it was kept.
                let goesBack = model.model.description.stateSize == 0
                if goesBack, round > 0, wanted == text, shared >= 11 || source(model, text).isEmpty {
                    #expect(session.count >= shared)
                }
                let start = session.count
                var got: [Int: [Float]] = [:]
                let next = Array(wanted[start...])
                try model.model.run(Step(session.rows(next, logitsFrom: 0)), workspace) {
                    got[start + $0] = Array($1)
                }
                session.keep(next)
                guard wanted == text else { continue }
                for (position, logits) in got { #expect(logits == expected[position]) }
                // Guesses beyond the end.
                try model.model.run(Step(session.rows([RowInput](tokens: [1, 2, 3]), logitsFrom: .max)), workspace)
                session.keep([])
            }
        }
    }

    /// A row that another part made is computed as the token whose row it is, and shares beginnings by its content.
    @Test func rowsOfAnotherPartStandBetweenTokens() throws {
        var random = Xoshiro256(seed: 13)
        let model = try open("micro/llama", ModelOptions(threads: 2))
        let workspace = Workspace(model.model.description, team: model.team, isExact: false)
        let ids = (0..<20).map { _ in Int.random(in: 0..<model.vocabulary, using: &random) }
        let (span, width) = (5..<11, model.model.description.width)
        func made(_ key: String) throws -> EncodedRows {
            let values = FloatBuffer(span.count * width)
            for (place, id) in ids[span].enumerated() {
                try #require(model.model.embeddingTable).widen(row: id, into: values.start + place * width)
            }
            return EncodedRows(values, count: span.count, width: width, key: .sha256(key))
        }
        let tokens = [RowInput](tokens: ids)
        let mixed = tokens[..<span.lowerBound] + (try made("a").inputs) + tokens[span.upperBound...]
        #expect(try alone(model, Array(mixed)) == alone(model, tokens))
        let session = session(model, Array(mixed))
        try model.model.run(Step(session.rows(Array(mixed), logitsFrom: .max)), workspace)
        session.keep(mixed)
        #expect(session.shared(with: Array(mixed)) == 20)
        #expect(session.shared(with: tokens) == 5)
        let other = tokens[..<8] + (try made("a").inputs)
        #expect(session.shared(with: Array(other)) == 5)
        let same = tokens[..<span.lowerBound] + (try made("a").inputs) + [.token(ids[11] == 0 ? 1 : 0)]
        #expect(session.shared(with: Array(same)) == 11)
        let another = tokens[..<span.lowerBound] + (try made("b").inputs)
        #expect(session.shared(with: Array(another)) == 5)
    }

    /// Positions far beyond a page, with the cache in each format: the last logits after one reading, and in pieces.
    @Test(arguments: KeyValueFormat.allCases) func longTextsCrossPages(format: KeyValueFormat) throws {
        var random = Xoshiro256(seed: 3)
        let model = try open("micro/llama", ModelOptions(threads: 2, isExact: true, cacheFormat: format))
        let workspace = Workspace(model.model.description, team: model.team, isExact: true)
        let text = (0..<700).map { _ in RowInput.token(Int.random(in: 0..<model.vocabulary, using: &random)) }
        func last(_ sizes: [Int]) throws -> [Float] {
            let session = model.session()
            session.grow(to: text.count)
            var result: [Float] = []
            var turn = 0
            while session.count < text.count {
                let piece = Array(text[session.count...].prefix(sizes[turn % sizes.count]))
                turn += 1
                let isLast = session.count + piece.count == text.count
                let rows = session.rows(piece, logitsFrom: isLast ? piece.count - 1 : .max)
                try model.model.run(Step(rows), workspace) { result = Array($1) }
                session.keep(piece)
            }
            return result
        }
        let whole = try last([workspace.rows])
        let pieces = try last([1, 7, 255, 30])
        #expect(whole == pieces)
        let exact = try open("micro/llama", ModelOptions(threads: 1, isExact: true, cacheFormat: .f32))
        var expected: [Float] = []
        try exact.session().run(
            anew: text, Workspace(exact.model.description, team: exact.team, isExact: true),
            logitsFrom: text.count - 1, isCancelled: { false }
        ) { expected = Array($1) }
        let worst = zip(whole, expected).map { abs($0 - $1) }.max() ?? .infinity
        #expect(worst <= (format == .f32 ? 0 : format == .f16 ? 0.02 : 0.4), "\(worst)")
    }

    /// Several texts at once are each what they are alone, greedy and sampled, with guesses and without.
    @Test func conversationsAtOnceAreWhatTheyAreAlone() async throws {
        let folder = try Fixtures.path("tiny-shakespeare-gguf/model-q4_0.gguf")
        let model = try await LanguageModel.open(folder: folder)
        let prompts =
            (0..<6).map { "ROMEO:\nBut, soft! what light number \($0)" } + ["a a a a a a a a a", "JULIET:"]
        let configs = [
            GenerateConfig.precise.maxTokens(40).ignoresEndOfSequence(true),
            GenerateConfig(maxTokens: 40, temperature: 0.8, topP: 0.95, repetitionPenalty: 1.1, seed: 5),
        ]
        for config in configs {
            var alone: [[Int]] = []
            for prompt in prompts {
                alone.append(
                    try await model.generate(prompt: prompt, config: config.speculates(false)).collectWithMetadata()
                        .ids)
            }
            let together = try await withThrowingTaskGroup(of: (Int, [Int]).self) { group in
                for (index, prompt) in prompts.enumerated() {
                    group.addTask {
                        (index, try await model.generate(prompt: prompt, config: config).collectWithMetadata().ids)
                    }
                }
                return try await group.reduce(into: [Int: [Int]]()) { $0[$1.0] = $1.1 }
            }
            for index in prompts.indices { #expect(together[index] == alone[index]) }
        }
    }

    @Test func guessesAreMadeAndRight() async throws {
        let model = try await LanguageModel.open(
            folder: Fixtures.path("micro/gpt2"), options: ModelOptions(isExact: true))
        // A random model soon repeats itself.
        let config = GenerateConfig.precise.maxTokens(150).ignoresEndOfSequence(true)
        let with = try await model.generate(prompt: "the king is dead", config: config).collectWithMetadata()
        let without = try await model.generate(prompt: "the king is dead", config: config.speculates(false))
            .collectWithMetadata()
        #expect(with.ids == without.ids && without.draftedTokens == 0)
        #expect(with.draftedTokens >= with.acceptedTokens && with.acceptedTokens > 0)
    }

    @Test func aSecondTurnComputesOnlyWhatIsNew() async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path("tiny-shakespeare"))
        let config = GenerateConfig.precise.maxTokens(8).ignoresEndOfSequence(true)
        let first = try await model.generate(prompt: "ROMEO:\nBut, soft!", config: config).collectWithMetadata()
        #expect(first.cachedTokens == 0)
        let longer = "ROMEO:\nBut, soft!" + first.text + " And then?"
        let second = try await model.generate(prompt: longer, config: config).collectWithMetadata()
        #expect(second.cachedTokens >= first.promptIDs.count)
        let fresh = try await LanguageModel.open(folder: Fixtures.path("tiny-shakespeare"))
        #expect(try await fresh.generate(prompt: longer, config: config).collectWithMetadata().ids == second.ids)
    }

    /// Each prompt is computed once where several begin with it, at once or one after the other, and the texts are the same.
    @Test(arguments: ["tiny-shakespeare", "micro/gemma3", "micro/falcon_h1", "micro/t5"])
    func textsThatBeginAlikeShareWhatIsComputed(name: String) async throws {
        let path = try Fixtures.path(name)
        let start = "the king is dead and long live the king "
        let prompts = [start, start, start + "of the sea", start + "and a ship"]
        func run(_ model: LanguageModel, _ number: Int) async throws -> GenerationResult {
            let config = GenerateConfig(
                maxTokens: 12, temperature: 1, seed: UInt64(number), ignoresEndOfSequence: true)
            return try await model.generate(prompt: prompts[number], config: config).collectWithMetadata()
        }
        let model = try await LanguageModel.open(folder: path)
        let together = try await withThrowingTaskGroup(of: (Int, GenerationResult).self) { group in
            for number in prompts.indices { group.addTask { (number, try await run(model, number)) } }
            return try await group.reduce(into: [Int: GenerationResult]()) { $0[$1.0] = $1.1 }
        }
        for number in prompts.indices {
            let alone = try await run(try await LanguageModel.open(folder: path), number)
            #expect(together[number]?.ids == alone.ids)
        }
        if ["tiny-shakespeare", "micro/gemma3"].contains(name) {
            let shared = try model.tokenizer.encode(start).count - 2
            #expect(together.values.count { $0.cachedTokens >= shared } == prompts.count - 1)
        }
    }
}
