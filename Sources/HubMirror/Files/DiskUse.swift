import Fetcher
import HubCore

/// The bytes of the cache, for the metrics: read anew after some seconds, because a scan of a large cache takes a while.
final class DiskUse: Sendable {
    private let workspace: Workspace
    private let known = Lock<(bytes: Double, at: Double)?>(nil)
    private static let keptSeconds = 10.0

    init(_ workspace: Workspace) { self.workspace = workspace }

    /// nil if the cache cannot be read. Blocks.
    var bytes: Double? {
        let now = Clock.seconds
        if let known = known.withLock({ $0 }), now - known.at < Self.keptSeconds { return known.bytes }
        guard let state = try? Blocking.wait({ [workspace] in try await workspace.state() }) else { return nil }
        let bytes = Double(state.totalSize + state.partialSize + state.otherSize)
        known.withLock { $0 = (bytes, now) }
        return bytes
    }
}
