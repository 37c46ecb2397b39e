import CKernels
import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Layers that remember a text in a state of fixed size: what is kept of it, and that going back changes no bits.
@Suite struct RecurrenceTests {
    private static let models = ["micro/qwen3_5", "micro/qwen3-next", "micro-gguf/qwen3_5-moe-q8_0.gguf"]

    private func open(_ name: String, threads: Int = 2) throws -> LoadedModel {
        try LoadedModel(FolderReading(Fixtures.path(name)), options: ModelOptions(threads: threads, isExact: true))
    }

    private func text(_ count: Int, _ model: LoadedModel) -> [RowInput] {
        var random = Xoshiro256(seed: 5)
        return (0..<count).map { _ in .token(Int.random(in: 0..<model.vocabulary, using: &random)) }
    }

    /// The last logits of a text that is computed in pieces of these sizes, again and again.
    private func last(_ text: [RowInput], _ model: LoadedModel, pieces: [Int]) throws -> [Float] {
        let session = model.session()
        session.grow(to: text.count)
        let workspace = Workspace(model.model.description, team: model.team, isExact: true)
        var (result, turn) = ([Float](), 0)
        while session.count < text.count {
            let piece = Array(text[session.count...].prefix(pieces[turn % pieces.count]))
            turn += 1
            let isLast = session.count + piece.count == text.count
            try model.model.run(Step(session.rows(piece, logitsFrom: isLast ? piece.count - 1 : .max)), workspace) {
                result = Array($1)
            }
            session.keep(piece)
        }
        return result
    }

    @Test(arguments: models) func piecesOfALongTextGiveTheSameBits(name: String) throws {
        let model = try open(name)
        let text = text(500, model)
        let expected = try last(text, open(name, threads: 1), pieces: [256])
        #expect(!expected.isEmpty)
        for pieces in [[1], [33, 1, 7], [250, 3]] { #expect(try last(text, model, pieces: pieces) == expected) }
    }

    /// The state before the first row with logits is kept, and before pieces of a prompt: three of them.
    @Test(arguments: models) func aSequenceGoesBackToWhatItKept(name: String) throws {
        let model = try open(name)
        let text = text(400, model)
        let session = model.session()
        let workspace = Workspace(model.model.description, team: model.team, isExact: true)
        func read(_ text: [RowInput], _ piece: Int) throws {
            while session.count < text.count {
                let next = Array(text[session.count...].prefix(piece))
                let isLast = session.count + next.count == text.count
                try model.model.run(Step(session.rows(next, logitsFrom: isLast ? next.count - 1 : .max)), workspace)
                session.keep(next)
            }
        }
        session.begin(text)
        try read(text, 100)
        // The same text again: its last row is computed, from the state before it.
        session.begin(text)
        #expect(session.count == 399)
        try read(text, 100)
        // Guesses that were wrong cost nothing.
        try model.model.run(Step(session.rows([RowInput](tokens: [1, 2, 3, 4]), logitsFrom: 0)), workspace)
        session.keep([])
        #expect(session.count == 400)
        // Those that were right are computed again where others were wrong.
        try model.model.run(Step(session.rows([RowInput](tokens: [1, 2, 3, 4]), logitsFrom: 0)), workspace)
        session.keep([.token(1), .token(2)])
        #expect(session.count == 400)
        // Another text with a beginning in common, and one without.
        session.begin(text[..<250] + [RowInput](tokens: [1, 2, 3]))
        #expect(session.count <= 250 && session.count % 100 == 0)
        session.begin([text[0] == .token(1) ? .token(2) : .token(1)])
        #expect(session.count == 0)
    }

    @Test func statesAreWrittenInPlaceUnlessTheyAreKept() throws {
        let model = try open("micro/qwen3_5")
        let states = try #require(RecurrentStates(model.model.description, keeping: 1))
        let first = states.advance(3, at: 0, logitsFrom: 2)
        #expect(first[0].before == nil && first[1].before == UnsafePointer(first[0].after))
        #expect(first[1].after == first[0].after && first[2].after != first[1].after)
        // One row keeps nothing.
        let next = states.advance(1, at: 3, logitsFrom: 0)
        #expect(next[0].before == UnsafePointer(next[0].after) && next[0].after == first[2].after)
        #expect(states.truncate(to: 3) == 2)
        // The state that was left has the memory for the next one.
        let again = states.advance(2, at: 2, logitsFrom: 2)
        #expect(again[0].before == UnsafePointer(first[1].after) && again[0].after == first[2].after)
        #expect(states.truncate(to: 1) == 0)
    }

    @Test(arguments: models) func guessesAreMadeAndRight(name: String) async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path(name), options: ModelOptions(isExact: true))
        let config = GenerateConfig.precise.maxTokens(150).ignoresEndOfSequence(true)
        let prompt = "the king is dead, the king is dead, the king is"
        let with = try await model.generate(prompt: prompt, config: config).collectWithMetadata()
        let without = try await model.generate(prompt: prompt, config: config.speculates(false))
            .collectWithMetadata()
        #expect(with.ids == without.ids && with.draftedTokens > 0 && without.draftedTokens == 0)
    }

    @Test(arguments: [
        ("linear_num_value_heads", 3 as JSON, "3 value heads are not divisible by 2 key heads"),
        ("linear_conv_kernel_dim", 9, "a convolution of 9 positions is not one of 1 to 8"),
        ("linear_key_head_dim", 4097, "linear_key_head_dim is 4097, more than 4096"),
        ("linear_value_head_dim", nil, "it has no linear_value_head_dim"),
        ("attention_bias", true, "attention_bias"), ("hidden_act", "gelu", "activation gelu of the convolution"),
        ("linear_key_head_dim", 14, "has the shape"),
    ])
    func sizesAreChecked(key: String, value: JSON?, message: String) async throws {
        let folder = try TemporaryFolder(linking: "micro/qwen3_5-text", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/qwen3_5-text/config.json").object)
        config[key] = value
        try folder.write("config.json", .object(config))
        let error = try await thrown { try await LanguageModel.open(folder: folder.path, options: ModelOptions()) }
        #expect(error.message.contains(message), "\(error.message)")
    }
}
