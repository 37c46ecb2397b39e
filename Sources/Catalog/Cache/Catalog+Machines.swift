package import HubCore

/// How fast a machine reads memory.
package struct MemorySpeed: Sendable, Hashable {
    /// The best of a month.
    package var bytesPerSecond: Double
    /// When it was last measured, seconds since 1970.
    package var measuredAt: Double
}

extension Catalog {
    /// Remembers a measurement in bytes per second. A better one of the month before it still counts.
    package func remember(memorySpeed rate: Double, of machine: String, threads: Int, at now: Double)
        throws(AIError)
    {
        try write { connection in
            try connection.run(
                """
                INSERT INTO machines (name, threads, bytes_per_second, best_at, measured_at) VALUES (?1, ?2, ?3, ?4, ?4)
                ON CONFLICT DO UPDATE SET
                    bytes_per_second = iif(best_at < ?4 - 2592000, ?3, max(bytes_per_second, ?3)),
                    best_at = iif(best_at < ?4 - 2592000 OR ?3 >= bytes_per_second, ?4, best_at), measured_at = ?4
                """, machine, Int64(threads), rate, now)
        }
    }

    /// What was measured with this many threads; nil if nothing was.
    package func memorySpeed(of machine: String, threads: Int) throws(AIError) -> MemorySpeed? {
        try read { connection in
            try connection.first(
                "SELECT bytes_per_second, measured_at FROM machines WHERE name = ? AND threads = ?", machine,
                Int64(threads)
            ) { MemorySpeed(bytesPerSecond: $0.double(0), measuredAt: $0.double(1)) }
        }
    }
}
