import Dispatch
import Support
import Testing

@testable import HubCore

/// Work on as many threads as the system gives.
@Suite struct ThreadPoolTests {
    /// The end of a job.
    private final class Ends: Sendable {
        let all = Monitor([Int]())
        func add(_ number: Int) { all.update { $0.append(number) } }
        func wait(for count: Int) async throws -> [Int] {
            try await all.value("\(count) jobs") { $0.count >= count ? $0 : nil }
        }
    }

    /// A pool of at most eight threads on a system that gives `count`.
    private static func pool(_ count: Int, ended: Monitor<Int> = Monitor(0)) -> ThreadPool {
        let left = Lock(count)
        return ThreadPool(8) { job throws(AIError) in
            let isGiven = left.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            guard isGiven else { throw AIError(.ioError, "no thread") }
            try BackgroundThread.start {
                job()
                ended.update { $0 += 1 }
            }
        }
    }

    @Test func withoutAThreadTheCallerDoesTheWork() {
        let pool = Self.pool(0)
        let done = Lock([Int]())
        pool.run { done.withLock { $0.append(1) } }
        let queue = SerialQueue(pool)
        queue.async {
            // Comes after this job, not within it.
            queue.async { done.withLock { $0.append(3) } }
            done.withLock { $0.append(2) }
        }
        Parallel.perform(3, on: pool) { number in done.withLock { $0.append(4 + number) } }
        #expect(done.withLock(\.self) == [1, 2, 3, 4, 5, 6])
    }

    /// More jobs wait than there are threads, and half of the threads end, so that others in the process find one.
    @Test func aPoolThatCannotGrowDoesAllAndGivesThreadsBack() async throws {
        let ended = Monitor(0)
        let pool = Self.pool(4, ended: ended)
        let (ends, gate) = (Ends(), DispatchSemaphore(value: 0))
        for number in 0..<20 {
            pool.run {
                gate.wait()
                ends.add(number)
            }
        }
        for _ in 0..<20 { gate.signal() }
        #expect(try await ends.wait(for: 20).sorted() == Array(0..<20))
        _ = try await ended.value("the end of two threads") { $0 == 2 ? $0 : nil }
        pool.run { ends.add(20) }
        _ = try await ends.wait(for: 21)
    }

    @Test func aQueueKeepsItsOrder() async throws {
        let queue = SerialQueue(ThreadPool(4))
        let ends = Ends()
        for number in 0..<500 { queue.async { ends.add(number) } }
        #expect(try await ends.wait(for: 500) == Array(0..<500))
    }

    @Test(arguments: [0, 1, 2, 8]) func aLoopCallsEachNumberOnce(_ threads: Int) {
        let pool = Self.pool(threads)
        for count in [0, 1, 2, 7, 300] {
            let calls = Lock([Int](repeating: 0, count: count))
            Parallel.perform(count, on: pool) { number in
                // A loop within a loop does not wait for threads that the outer one has.
                if number % 50 == 0 { Parallel.perform(3, on: pool) { _ in } }
                calls.withLock { $0[number] += 1 }
            }
            #expect(calls.withLock { $0.allSatisfy { $0 == 1 } })
        }
    }

    /// Documents and templates recurse deeply, and some systems give a thread 512 KiB.
    @Test func aThreadHasRoomForDeepCalls() async throws {
        @Sendable func descend(_ depth: Int) -> Int {
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { room in
                room[0] = UInt8(truncatingIfNeeded: depth)
                return depth == 0 ? Int(room[0]) : descend(depth - 1) + 1
            }
        }
        let depth: Int = await Blocking.run { descend(1000) }
        #expect(depth == 1000)
    }
}
