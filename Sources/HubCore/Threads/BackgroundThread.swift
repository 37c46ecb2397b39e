import CPlatform

/// A dedicated thread, for long-lived loops and reads that may never return.
package enum BackgroundThread {
    /// Linux gives a new thread 8 MiB, macOS 512 KiB, which deep JSON and templates overflow. Untouched stack takes no
    /// memory.
    private static let stackBytes = 8 << 20

    package static let advice =
        "raise the limit on processes (ulimit -u, or the container's) or on memory (ulimit -v)"

    /// Runs the closure on a new, detached thread.
    ///
    /// - Throws: ``ErrorCode/ioError`` if the system has no more threads.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(AIError) {
        let box = Unmanaged.passRetained(Box(body))
        let fault = hub_thread_start(stackBytes, enter, box.toOpaque())
        guard fault != 0 else { return }
        box.release()
        throw AIError(
            .ioError, "cannot start a thread: \(SystemErrno.text(fault))",
            advice: advice,
            cause: SystemErrno(number: fault))
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { box in
        Unmanaged<Box>.fromOpaque(box!).takeRetainedValue().body()
        return nil
    }
}
