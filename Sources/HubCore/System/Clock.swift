import CPlatform

/// The clock that never jumps.
package enum Clock {
    /// Nanoseconds since some fixed moment.
    package static var nanoseconds: UInt64 { hub_monotonic_nanoseconds() }
    /// Seconds since some fixed moment.
    package static var seconds: Double { Double(nanoseconds) / 1e9 }
}
