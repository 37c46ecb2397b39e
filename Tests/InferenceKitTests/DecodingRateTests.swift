import Testing

@testable import InferenceKit

/// The rate that a smoke test remembers.
@Suite struct DecodingRateTests {
    /// Milliseconds that each token takes, how many of them are read, and the rate.
    @Test(arguments: [
        // Cold tokens are left out; half a second of warm ones is read.
        ([500, 90, 70, 40] + Array(repeating: 10, count: 1000), 54, 100.0),
        // A slow model is done after eight.
        ([9000, 4000, 3000, 2000] + Array(repeating: 1000, count: 100), 12, 1.0),
        // A text that ends before counts as far as it goes.
        ([100, 100, 100, 100] + Array(repeating: 20, count: 6), 10, 50.0),
    ])
    func isThatOfWarmTokens(_ milliseconds: [Int], _ read: Int, _ expected: Double) throws {
        var rate = DecodingRate()
        var time = ContinuousClock.now
        var count = 0
        for step in milliseconds {
            time += .milliseconds(step)
            count += 1
            if rate.add(time) { break }
        }
        #expect(count == read)
        #expect(abs(try #require(rate.tokensPerSecond) - expected) < 1e-6)
    }

    @Test func tooFewTokensHaveNone() {
        var rate = DecodingRate()
        for _ in 0..<4 { _ = rate.add(.now) }
        #expect(rate.tokensPerSecond == nil)
    }
}
