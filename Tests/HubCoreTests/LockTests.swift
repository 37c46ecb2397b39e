import Dispatch
import HubCore
import Testing

/// One thread at a time, whatever ends the turn.
@Suite struct LockTests {
    @Test func noTurnIsLost() {
        let (count, threads, turns) = (Lock(0), 4, 20_000)
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            for _ in 0..<turns { count.withLock { $0 += 1 } }
        }
        #expect(count.withLock(\.self) == threads * turns)
    }

    @Test func anErrorEndsTheTurn() {
        let names = Lock(["a"])
        #expect(throws: AIError.self) {
            try names.withLock { names throws(AIError) in
                names.append("b")
                throw AIError(.ioError, "no")
            }
        }
        #expect(names.withLock(\.self) == ["a", "b"])
    }

    @Test func theValueEndsWithItsLock() {
        final class Held: Sendable {}
        weak var held: Held?
        do {
            let lock = Lock(Held())
            held = lock.withLock(\.self)
            #expect(held != nil)
        }
        #expect(held == nil)
    }
}
