import Catalog
import Fetcher
import HubCore
import InferenceKit

extension Context {
    /// How fast this machine reads memory, in bytes per second; nil if that is unknown.
    ///
    /// It is measured by the first command of a day that needs it, in a tenth of a second. The best of a month counts:
    /// other programs only make memory slower.
    func memorySpeed(_ workspace: Workspace) async -> Double? {
        let catalog = workspace.dispensable
        do {
            let (threads, machine) = (try MemoryBandwidth.threads(), Machine.hostName)
            let known = await Blocking.run {
                catalog.use { catalog throws(AIError) in try catalog.memorySpeed(of: machine, threads: threads) }
                    ?? nil
            }
            if let known, known.measuredAt > now - 86_400 { return known.bytesPerSecond }
            let measured = try await MemoryBandwidth.measure(threads: threads)
            await remember(memorySpeed: measured, threads: threads, catalog)
            return max(measured, known?.bytesPerSecond ?? 0)
        } catch {
            output.note("the speed of this machine is unknown: \(error.message)")
            return nil
        }
    }

    /// Keeps a measurement for later commands.
    func remember(memorySpeed rate: Double, threads: Int, _ catalog: DispensableCatalog) async {
        guard rate.isFinite, rate > 0 else { return }
        let (machine, now) = (Machine.hostName, now)
        await Blocking.run {
            _ = catalog.use { catalog throws(AIError) in
                try catalog.remember(memorySpeed: rate, of: machine, threads: threads, at: now)
            }
        }
    }
}
