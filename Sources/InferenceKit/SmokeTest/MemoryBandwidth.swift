import CKernels
package import HubCore
import Libc

/// How fast this machine reads memory: the bound of generation, for which every weight is read once per token.
package enum MemoryBandwidth {
    /// The number of threads that models compute with here, on which the rate depends.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a `HUB_THREADS` that is not a number.
    package static func threads() throws(AIError) -> Int { try ComputeTeam.usualThreads() }

    /// Bytes per second that so many threads read. Takes about a tenth of a second.
    package static func measure(threads: Int) async throws(AIError) -> Double {
        try await ComputeQueue().run { _ throws(AIError) in
            let team = try ComputeTeam(threads: threads)
            // More than most caches hold, in pieces so short that some are read without other programs in between.
            return read(team, bytes: 128 << 20, piece: 16 << 20, times: 3)
        }
    }

    /// The highest rate of all pieces of a buffer, which is read several times from beginning to end.
    fileprivate static func read(_ team: ComputeTeam, bytes: Int, piece: Int, times: Int) -> Double {
        guard let buffer = malloc(bytes) else { return 0 }
        defer { free(buffer) }
        // Untouched pages are all the same page of zeros.
        memset(buffer, 1, bytes)
        var best = 0.0
        for _ in 0..<times {
            for start in stride(from: 0, to: bytes, by: piece) {
                best = max(best, hub_read_bandwidth(team.team, buffer + start, min(piece, bytes - start)))
            }
        }
        return best
    }
}

extension LanguageModel {
    /// Bytes per second that the model's threads read from memory.
    package func memoryBandwidth() async throws(AIError) -> Double {
        // More than caches hold.
        let bytes = try Machine.memory().available > 2 << 30 ? 256 << 20 : 64 << 20
        return try await model.scheduler.alone { [team = model.team] _, _ throws(AIError) in
            MemoryBandwidth.read(team, bytes: bytes, piece: bytes, times: 1)
        }
    }
}
