import HubCore
import Support
import Testing

@testable import InferenceKit

@Suite struct SamplerTests {
    /// The first outputs from the state 1, 2, 3, 4, as the authors' C code prints them (https://prng.di.unimi.it).
    @Test func xoshiroGivesTheReferenceNumbers() {
        var random = Xoshiro256(state: (1, 2, 3, 4))
        #expect(
            (0..<6).map { _ in random.next() } == [
                11520, 0, 1_509_978_240, 1_215_971_899_390_074_240, 1_216_172_134_540_287_360,
                607_988_272_756_665_600,
            ])
    }

    private func draws(
        _ config: GenerateConfig, _ logits: [Float], count: Int = 600, prompt: [Int] = [], seed: UInt64 = 7
    ) throws
        -> [Int]
    {
        var tokens: [Int] = []
        var sampler = Sampler(config, seed: seed, prompt: prompt)
        for _ in 0..<count { tokens.append(try logits.withUnsafeBufferPointer { try sampler.next($0) }) }
        return tokens
    }

    private func shares(_ tokens: [Int], of size: Int) -> [Double] {
        (0..<size).map { id in Double(tokens.count { $0 == id }) / Double(tokens.count) }
    }

    private let logits: [Float] = [0, 3, 1, 2, -4]
    private let plain = GenerateConfig(temperature: 1, topP: nil)

    @Test func drawsFollowTheDistribution() throws {
        let weights = [1, 20.0855, 2.71828, 7.38906, 0.0183]
        let total = weights.reduce(0, +)
        for (share, weight) in zip(try shares(draws(plain, logits, count: 8000), of: 5), weights) {
            #expect(abs(share - weight / total) < 0.02)
        }
    }

    @Test func theSeedDecides() throws {
        #expect(try draws(plain, logits, count: 100) == draws(plain, logits, count: 100))
        #expect(try draws(plain, logits, count: 100) != draws(plain, logits, count: 100, seed: 8))
    }

    @Test func temperatureSharpensAndFlattens() throws {
        let cold = try shares(draws(plain.temperature(0.3), logits), of: 5)
        let hot = try shares(draws(plain.temperature(10), logits), of: 5)
        #expect(cold[1] > 0.94 && hot[1] < 0.3 && hot[4] > 0.1)
        #expect(Set(try draws(plain.temperature(1e-9), logits)) == [1])
        #expect(Set(try draws(plain.temperature(0), logits)) == [1])
    }

    @Test func topKKeepsTheLikeliest() throws {
        #expect(Set(try draws(plain.topK(1), logits)) == [1])
        #expect(Set(try draws(plain.topK(3), logits)) == [1, 2, 3])
        #expect(Set(try draws(plain.topK(99).temperature(5), logits)) == [0, 1, 2, 3, 4])
        // Of equals the smaller id.
        #expect(Set(try draws(plain.topK(2), [1, 1, 1, 1])) == [0, 1])
    }

    @Test func topPKeepsTheNucleus() throws {
        // Probabilities .03, .64, .09, .24, .0006.
        #expect(Set(try draws(plain.topP(0.5), logits)) == [1])
        #expect(Set(try draws(plain.topP(0), logits)) == [1])
        #expect(Set(try draws(plain.topK(3).topP(0), logits)) == [1])
        #expect(Set(try draws(plain.topP(0.8), logits)) == [1, 3])
        #expect(Set(try draws(plain.topP(0.95), logits)) == [1, 2, 3])
        #expect(Set(try draws(plain.topP(1).temperature(5), logits)) == [0, 1, 2, 3, 4])
        // After top-k 2 the two share all: .73 and .27.
        #expect(Set(try draws(plain.topK(2).topP(0.7), logits)) == [1])
        // A flat distribution of many has no token near the threshold that the search begins with.
        #expect(Set(try draws(plain.topP(0.5), [Float](repeating: 0, count: 100))).count <= 51)
        let steep: [Float] = [0] + [Float](repeating: -12, count: 20_000)
        #expect(Set(try draws(plain.topP(0.99), steep, count: 40)).count > 1)
    }

    @Test func minPIsRelativeToTheLikeliest() throws {
        // Relative to the likeliest: .05, 1, .135, .37, .0009.
        #expect(Set(try draws(plain.minP(0.1), logits)) == [1, 2, 3])
        #expect(Set(try draws(plain.minP(0.3), logits)) == [1, 3])
    }

    @Test func penaltiesMoveGreedyChoices() throws {
        let greedy = plain.temperature(0)
        #expect(try draws(greedy.repetitionPenalty(2), logits, count: 1, prompt: [1]) == [3])
        // Negative logits are multiplied: -1 becomes -3, below -2.
        #expect(try draws(greedy.repetitionPenalty(3), [-1, -2], count: 1, prompt: [0]) == [1])
        #expect(try draws(greedy.presencePenalty(1.5), logits, count: 3) == [1, 3, 1])
        // 3, 2, 1 with 0.6 off each time: 3 > 2.4 > 1.8 < 2.
        #expect(try draws(greedy.frequencyPenalty(0.6), logits, count: 4) == [1, 1, 3, 1])
        // Frequency and presence look at the generated text only.
        #expect(try draws(greedy.presencePenalty(5).frequencyPenalty(5), logits, count: 1, prompt: [1]) == [1])
    }

    /// Tokens further back than the window count for nothing.
    @Test func penaltiesLookAtAWindow() throws {
        let greedy = plain.temperature(0).repetitionPenalty(2)
        #expect(try draws(greedy, logits, count: 1, prompt: [1, 0, 0]) == [3])
        #expect(try draws(greedy.penaltyWindow(2), logits, count: 1, prompt: [1, 0, 0]) == [1])
        #expect(try draws(greedy.penaltyWindow(3), logits, count: 1, prompt: [1, 0, 0]) == [3])
        #expect(try draws(greedy.penaltyWindow(0), logits, count: 3, prompt: [1]) == [1, 1, 1])
        let present = plain.temperature(0).presencePenalty(1.5)
        #expect(try draws(present, logits, count: 5) == [1, 3, 1, 1, 1])
        #expect(try draws(present.penaltyWindow(1), logits, count: 5) == [1, 3, 1, 3, 1])
        // Counts go down as tokens leave.
        let frequent = plain.temperature(0).frequencyPenalty(0.6)
        #expect(try draws(frequent.penaltyWindow(2), logits, count: 6) == [1, 1, 3, 1, 1, 3])
    }

    /// Settings and logits at their bounds and beyond, which the engine never gives; a token comes all the same, one that the
    /// logits allow, and the likeliest where nothing else is left.
    @Test func aChoiceAlwaysEndsWithAToken() throws {
        let (most, tiny) = (Float.greatestFiniteMagnitude, Float.leastNonzeroMagnitude)
        let lists: [[Float]] = [
            [0, 3, 1, 2, -4], [0, 0, 0, 0, 0], [most, most, -most, 0, 1], [-most, -most, -most, -most, -most],
            [-.infinity, -.infinity, 1e-40, -.infinity, 0], [tiny, -tiny, 0, tiny, 0],
            [88, 89, -100, 1e30, 1e30],
        ]
        let settings: [GenerateConfig] = [
            plain, plain.topK(1), plain.topK(0), plain.topK(.max), plain.topP(0),
            plain.topP(.leastNonzeroMagnitude), plain.minP(1),
            plain.minP(2), plain.typicalP(0), plain.typicalP(.leastNonzeroMagnitude), plain.typicalP(0.9),
            plain.topP(0.5).typicalP(0.1),
            plain.topK(2).topP(0).minP(1).typicalP(0),
        ]
        let changes: [(GenerateConfig) -> GenerateConfig] = [
            { $0 }, { $0.temperature(0) }, { $0.temperature(.leastNonzeroMagnitude) }, { $0.temperature(100) },
            { $0.repetitionPenalty(.leastNormalMagnitude) }, { $0.repetitionPenalty(0.01) },
            { $0.repetitionPenalty(100) },
            { $0.frequencyPenalty(-100).presencePenalty(100) },
            { $0.logitBias([0: 1000, 4: -1000, 99: 5, -1: 5]) },
        ]
        for logits in lists {
            for setting in settings {
                for change in changes {
                    let config = change(setting)
                    for id in try draws(config, logits, count: 20, prompt: [0, 1, 4, 99, -1]) {
                        #expect(logits.indices.contains(id) && logits[id] > -.infinity, "\(config) \(logits)")
                    }
                }
            }
        }
    }

    @Test func whatIsNotANumberIsAnError() async throws {
        for bad in [Float.nan, .infinity] {
            let error = try await thrown { try draws(plain, [0, bad, 1], count: 1) }
            #expect(error.code == .generationFailed)
        }
        #expect(
            try await thrown { try draws(plain, [-.infinity, -.infinity], count: 1) }.code == .generationFailed)
        #expect(try draws(plain, [-.infinity, 0], count: 50).allSatisfy { $0 == 1 })
    }

    @Test(arguments: [
        GenerateConfig.default.maxTokens(-1), .default.maxTokens(.max), .default.temperature(-1),
        .default.temperature(.nan), .default.temperature(101), .default.topK(0), .default.topK(.max),
        .default.topP(-0.1), .default.topP(1.1), .default.minP(-0.1), .default.minP(.nan), .default.typicalP(2),
        .default.repetitionPenalty(0), .default.repetitionPenalty(.leastNormalMagnitude),
        .default.repetitionPenalty(101),
        .default.frequencyPenalty(.infinity), .default.presencePenalty(.nan), .default.presencePenalty(-101),
        .default.penaltyWindow(-1), .default.logitBias([1: .nan]), .default.logitBias([1: 1001]),
        .default.logitBias([-1: 0]), .default.stopSequences(["a", ""]),
        .default.stopSequences((0..<65).map { "\($0)" }), .default.topLogprobs(-1), .default.topLogprobs(21),
    ])
    func valuesOutOfRangeAreRefused(config: GenerateConfig) async throws {
        #expect(try await thrown { try config.validate() }.code == .invalidInput)
    }

    @Test func presetsAreValid() throws {
        for preset in [GenerateConfig.default, .precise, .creative, .code] { try preset.validate() }
    }
}

@Suite struct StopMatcherTests {
    private func run(_ stops: [String], _ pieces: [String]) -> (shown: [String], stopped: Bool) {
        var matcher = StopMatcher(stops)
        var shown: [String] = []
        for piece in pieces {
            let (text, stopped) = matcher.add(piece)
            shown.append(text)
            if stopped { return (shown, true) }
        }
        return (shown + [matcher.finish()], false)
    }

    @Test func noPartOfAStopSequenceIsShown() {
        let result = run(["\n\nEND"], ["one\n", "\n", "E", "N", "D two"])
        #expect(result.shown == ["one", "", "", "", ""] && result.stopped)
    }

    @Test func whatOnlyLookedLikeOneIsShown() {
        let result = run(["abc"], ["ab", "d a", "b"])
        #expect(result.shown == ["", "abd ", "", "ab"] && !result.stopped)
    }

    @Test func theEarliestOfSeveralCuts() {
        #expect(run(["world", "lo"], ["hello world"]).shown == ["hel"])
        #expect(run(["aab"], ["aaab"]).shown == ["a"])
    }

    @Test func charactersStayWhole() {
        // é and ê share their first byte.
        let result = run(["é"], ["caf", "ê", "é"])
        #expect(result.shown == ["caf", "ê", ""] && result.stopped)
    }
}
