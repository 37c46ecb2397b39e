import CPlatform

/// The clock that never jumps.
package enum Clock {
    /// Nanoseconds since some fixed moment.
    package static var nanoseconds: UInt64 { hub_monotonic_nanoseconds() }
    /// Seconds since some fixed moment.
    package static var seconds: Double { Double(nanoseconds) / 1e9 }
    /// Seconds that this thread has been running on a processor: what it waited for one does not count.
    package static var threadSeconds: Double { Double(hub_thread_nanoseconds()) / 1e9 }
}
