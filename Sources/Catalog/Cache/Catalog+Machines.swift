package import HubCore

/// How fast a machine reads memory.
package struct MemorySpeed: Sendable, Hashable {
    package var bytesPerSecond: Double
    /// Seconds since 1970.
    package var measuredAt: Double

    package init(bytesPerSecond: Double, measuredAt: Double) {
        (self.bytesPerSecond, self.measuredAt) = (bytesPerSecond, measuredAt)
    }
}

extension Catalog {
    /// Remembers a measurement, in place of an earlier one.
    package func remember(_ speed: MemorySpeed, of machine: String, threads: Int) throws(AIError) {
        try write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO machines (name, threads, bytes_per_second, measured_at) VALUES (?, ?, ?, ?)",
                machine, Int64(threads), speed.bytesPerSecond, speed.measuredAt)
        }
    }

    /// The last measurement with this many threads; nil if there was none.
    package func memorySpeed(of machine: String, threads: Int) throws(AIError) -> MemorySpeed? {
        try read { connection in
            try connection.first(
                "SELECT bytes_per_second, measured_at FROM machines WHERE name = ? AND threads = ?", machine,
                Int64(threads)
            ) { MemorySpeed(bytesPerSecond: $0.double(0), measuredAt: $0.double(1)) }
        }
    }
}
