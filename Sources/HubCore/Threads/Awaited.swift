import Libc

/// A value that one thread at a time can reach, and that threads can wait for. Waiting blocks: never call ``wait(_:)`` on a
/// thread of Swift's cooperative pool.
package final class Awaited<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    package init(_ value: consuming sending Value) {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_cond_destroy(changed)
        changed.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Reads or changes the value; nobody who waits is woken.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value.pointee)
    }

    /// Changes the value and wakes those who wait.
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        defer { pthread_cond_broadcast(changed) }
        return body(&value.pointee)
    }

    /// Returns what `body` returns, once that is not nil. It is called now and after each change.
    package func wait<Result>(_ body: (inout Value) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value.pointee) { return result }
            pthread_cond_wait(changed, mutex)
        }
    }

    /// The same, for a limited time; nil when it is over.
    package func wait<Result>(seconds: Double, _ body: (inout Value) -> Result?) -> Result? {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        let nanoseconds = Double(end.tv_nsec) + seconds * 1e9
        end.tv_sec += time_t(nanoseconds / 1e9)
        end.tv_nsec = Int(nanoseconds.truncatingRemainder(dividingBy: 1e9))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value.pointee) { return result }
            if pthread_cond_timedwait(changed, mutex, &end) != 0 { return body(&value.pointee) }
        }
    }
}

extension Blocking {
    /// The result of asynchronous work, for a thread that may block. Never call it on a thread of Swift's cooperative pool.
    package static func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value
    {
        let result = Awaited<Result<Value, any Error>?>(nil)
        Task.detached {
            let found: Result<Value, any Error>
            do { found = .success(try await body()) } catch { found = .failure(error) }
            result.change { $0 = found }
        }
        return try result.wait { $0 }.get()
    }
}
