package import HubCore
import Libc

/// A value behind a lock that threads can wait on: for tests that must see something happen and not sleep until it
/// probably has.
package final class Monitor<State>: @unchecked Sendable {
    // Both are at a fixed address for as long as this object lives, and the state is touched under the lock alone.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the state, then wakes the waiting threads.
    @discardableResult
    package func update<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Blocks this thread until `body` gives a value; nil once `seconds` are over.
    package func wait<Value>(seconds: Double, for body: (inout State) -> Value?) -> Value? {
        var deadline = timespec()
        let end = Timestamp.now + min(seconds, 1e8)
        deadline.tv_sec = Int(end)
        deadline.tv_nsec = Int((end - end.rounded(.down)) * 1e9)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let value = body(&state) {
                pthread_cond_broadcast(condition)
                return value
            }
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return body(&state) }
        }
    }

    /// The same without blocking a thread of Swift's pool.
    ///
    /// - Parameter what: the awaited condition, for the error.
    /// - Throws: ``TestTimeout`` when it has not come.
    package func value<Value: Sendable>(
        _ what: String, seconds: Double = TestTimeout.seconds, for body: @escaping @Sendable (inout State) -> Value?
    ) async throws -> Value {
        let found = try await Thread.run { self.wait(seconds: seconds, for: body) }
        guard let found else { throw TestTimeout(what: what, seconds: seconds) }
        return found
    }
}

/// What a test waited for did not happen: a failure of what is tested, never a matter of timing, for the wait is far
/// longer than any machine needs.
package struct TestTimeout: Error, CustomStringConvertible {
    /// How long anything may take that must happen. Under a sanitizer everything takes many times as long.
    package static let seconds = 600.0
    /// What tells hub to wait as long: what a gate holds, and what a busy machine is late with, is no stall.
    package static let variables = ["HF_HUB_DOWNLOAD_TIMEOUT": "3600", "HF_HUB_ETAG_TIMEOUT": "3600"]
    package var what: String
    package var seconds: Double
    package var description: String { "\(what) did not happen within \(Int(seconds)) s" }
}

extension HubEnvironment {
    /// An environment for hub's code inside a test: as patient as the programs that tests run.
    package static func test(_ variables: [String: String] = [:]) -> HubEnvironment {
        HubEnvironment(TestTimeout.variables.merging(variables) { $1 })
    }
}

/// Looks until it is so: for what no event tells.
package func eventually(_ what: String, _ isSo: () throws -> Bool) async throws {
    let end = Clock.seconds + TestTimeout.seconds
    while try !isSo() {
        guard Clock.seconds < end else { throw TestTimeout(what: what, seconds: TestTimeout.seconds) }
        try await Task.sleep(nanoseconds: 2_000_000)
    }
}
