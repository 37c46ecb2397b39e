import CPlatform

/// The monotonic clock.
package enum Clock {
    /// Nanoseconds since some fixed moment.
    package static var nanoseconds: UInt64 { hub_monotonic_nanoseconds() }
    /// Seconds since some fixed moment.
    package static var seconds: Double { Double(nanoseconds) / 1e9 }
    /// CPU seconds of this thread.
    package static var threadSeconds: Double { Double(hub_thread_nanoseconds()) / 1e9 }
}
