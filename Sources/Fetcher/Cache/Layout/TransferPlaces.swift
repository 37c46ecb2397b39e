import HubCore
import Libc

/// The paths for assembling one content and for the verified result. All on one file system.
struct TransferPlaces: Sendable {
    /// The verified content.
    var content: String
    /// The common prefix of the partial, its map and copies.
    var stem: String
    /// The lock that every client takes around this content.
    var lock: String
    /// Distinguishes these names from other processes' if locks are unsupported; otherwise nil.
    var nonce: String?
    /// Whether the content is in its place already.
    var isReady: @Sendable () throws(AIError) -> Bool

    var partial: String { name("") }
    /// The map of the partial's safe ranges.
    var map: String { name("map.") }
    /// The temporary path of a copy.
    var copy: String { name("copy.") }

    private func name(_ kind: String) -> String { stem + (nonce.map { "." + $0 } ?? "") + ".hub.\(kind)incomplete" }

    /// Whether no interrupted pull has left anything here.
    var isTidy: Bool { ![partial, map, RangeMap.temporary(map), copy].contains(where: FileSystem.exists) }

    /// Bytes that another process has fetched: the safe ranges of its map, or the size of Python's partial. 0 if
    /// neither can be read.
    func bytesElsewhere() -> Int64 {
        let python = (try? FileSystem.linkStatus(stem + ".incomplete")) ?? nil
        return max(RangeMap.read(map)?.safe.count ?? 0, python?.size ?? 0)
    }

    /// Removes the partial and what goes with it.
    func clear() throws(AIError) {
        try FileSystem.remove(partial)
        try RangeMap.remove(map)
        try FileSystem.remove(copy)
    }

    /// Removes leftovers of interrupted pulls of this content; under the lock.
    func sweep() throws(AIError) {
        try clear()
        guard nonce == nil else { return }
        for name in try names() { try FileSystem.remove(Path.join(Path.parent(stem), name)) }
    }

    /// All our files beside this content.
    private func names() throws(AIError) -> [String] {
        let prefix = Path.name(stem) + "."
        return (try FileSystem.entries(Path.parent(stem)) ?? []).filter {
            $0.hasPrefix(prefix) && $0.contains(".hub.") && $0.hasSuffix(".incomplete")
        }
    }

    /// Without locks: takes over the leftovers of an ended process of this machine, by a rename, which only one process
    /// can do. Files of a live process or another machine are left alone.
    func claim() throws(AIError) {
        let folder = Path.parent(stem)
        for name in try names() where name.hasSuffix(".hub.map.incomplete") {
            let map = Path.join(folder, name)
            let partial = Path.join(folder, name.dropLast("map.incomplete".count) + "incomplete")
            guard let known = RangeMap.read(map), known.owner.map({ ProcessOwner($0)?.isGone ?? false }) ?? true
            else { continue }
            do throws(AIError) {
                try FileSystem.rename(partial, to: self.partial)
                return try FileSystem.rename(map, to: self.map)
            } catch {
                // Another was faster.
                guard error.errno == ENOENT else { throw error }
            }
        }
    }
}

extension RepositoryFolder {
    func places(_ file: RepositoryFile) -> TransferPlaces {
        let name = file.digest.hex
        return TransferPlaces(
            content: blob(name), stem: blob(name), lock: lock(name),
            isReady: { () throws(AIError) in try SnapshotFile.hasBlob(file, in: self) })
    }
}

/// A process as recorded in a map: host and pid.
struct ProcessOwner: CustomStringConvertible {
    var host: String
    var process: Int32

    static var current: ProcessOwner { ProcessOwner(host: Machine.hostName, process: getpid()) }

    init(host: String, process: Int32) {
        self.host = host
        self.process = process
    }

    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let process = Int32(parts[1]), process > 0 else { return nil }
        self.init(host: String(parts[0]), process: process)
    }

    var description: String { "\(host) \(process)" }

    /// Whether it has certainly ended. Unknown on another machine.
    var isGone: Bool { host == Machine.hostName && kill(process, 0) != 0 && errno == ESRCH }
}
