import HubCore

/// Threads of the system, for calls that block. Neither Swift's pool, which has one thread for each core, nor
/// Dispatch's, which has 64, may be filled with waiting tests.
package enum Thread {
    /// Runs `body` on a new thread.
<<<<<<< HEAD
    package static func start(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body)).toOpaque()
        #if os(Linux)
        var thread = pthread_t()
        let fault = pthread_create(
            &thread, nil,
            { pointer in
                Unmanaged<Work>.fromOpaque(pointer!).takeRetainedValue().body()
                return nil
            }, work)
        #else
        var thread: pthread_t?
        let fault = pthread_create(
            &thread, nil,
            { pointer in
                Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
                return nil
            }, work)
        #endif
        precondition(fault == 0, "no thread can be started")
        #if os(Linux)
        pthread_detach(thread)
        #else
        pthread_detach(thread!)
        #endif
    }
=======
    package static func start(_ body: @escaping @Sendable () -> Void) { BackgroundThread.start(body) }
>>>>>>> server

    /// Runs `body` on a new thread and waits for it without blocking.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            start { continuation.resume(with: Result(catching: body)) }
        }
    }
}
