import CKernels
package import HubCore
import Libc

extension LanguageModel {
    /// Bytes per second that the model's threads read from memory.
    package func memoryBandwidth() async throws(AIError) -> Double {
        // More than caches hold.
        let bytes = try Machine.memory().available > 2 << 30 ? 256 << 20 : 64 << 20
        return try await model.scheduler.alone { [team = model.team] _, _ throws(AIError) in
            guard let buffer = malloc(bytes) else { return 0 }
            defer { free(buffer) }
            // Untouched pages are all the same page of zeros.
            memset(buffer, 1, bytes)
            return hub_read_bandwidth(team.team, buffer, bytes)
        }
    }
}
