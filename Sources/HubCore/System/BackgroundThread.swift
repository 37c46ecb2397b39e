#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Threads of our own, for loops that live long and for reads that may never return.
package enum BackgroundThread {
    /// Runs the closure on a new, detached thread.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        final class Box {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        #if os(Linux)
        var thread = pthread_t()
        let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { box in
            Unmanaged<Box>.fromOpaque(box!).takeRetainedValue().body()
            return nil
        }
        #else
        var thread: pthread_t?
        let entry: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { box in
            Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body()
            return nil
        }
        #endif
        let result = pthread_create(&thread, nil, entry, box)
        precondition(result == 0, "no thread could be started: \(String(cString: strerror(result)))")
        #if os(Linux)
        pthread_detach(thread)
        #else
        pthread_detach(thread!)
        #endif
    }
}
