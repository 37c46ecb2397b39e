import Support
import Testing

@testable import Fetcher

@Suite struct RateLimiterTests {
    /// Pieces of random sizes, each passing as soon as it may.
    @Test(arguments: [10_000, 1_000_000, 20_000_000] as [Int64])
    func overTenSecondsExactlyTheRatePasses(_ rate: Int64) {
        var random = SeededRandom(state: UInt64(rate))
        var limiter = RateLimiter(rate, at: 0)
        var (now, passed, largest) = (0.0, 0, 0)
        while now < 10 {
            if limiter.allows(at: now) {
                let piece = Int.random(in: 1...Int(rate / 50), using: &random)
                limiter.take(piece)
                passed += piece
                largest = max(largest, piece)
            } else {
                #expect(limiter.wait(at: now) > 0)
                now += max(1e-6, limiter.wait(at: now))
            }
        }
        #expect(abs(passed - Int(rate) * 10) <= Int(rate) / 10 + 2 * largest)
    }

    @Test func idleTimeIsNotSavedUp() {
        var limiter = RateLimiter(1000, at: 0)
        var passed = 0
        while limiter.allows(at: 3600) {
            limiter.take(10)
            passed += 10
        }
        #expect(passed <= 110)
    }

    @Test func aDebtIsPaidAtTheNewRate() {
        var limiter = RateLimiter(1000, at: 0)
        limiter.take(10_000)
        #expect(abs(limiter.wait(at: 0) - 10) < 1e-6)
        limiter.set(10_000, at: 0)
        #expect(abs(limiter.wait(at: 0) - 1) < 1e-6)
        let passes = [0.9, 1.1].map { limiter.allows(at: $0) }
        #expect(passes == [false, true])
    }

    @Test func withoutARateEverythingPasses() {
        var limiter = RateLimiter(nil, at: 0)
        limiter.take(1 << 40)
        #expect(limiter.wait(at: 0) == 0)
        var passes = [limiter.allows(at: 0)]
        limiter.set(5, at: 1)
        passes.append(limiter.allows(at: 1))
        limiter.take(50)
        passes.append(limiter.allows(at: 1))
        limiter.set(nil, at: 1)
        passes.append(limiter.allows(at: 1))
        #expect(passes == [true, true, false, true])
    }
}
