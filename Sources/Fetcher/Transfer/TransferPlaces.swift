import HubCore
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where one content is assembled, and where it goes when it is verified. All on one file system.
struct TransferPlaces: Sendable {
    /// The proven content.
    var content: String
    /// What the names of the partial, its map and copies begin with.
    var stem: String
    /// The lock that every client takes around this content.
    var lock: String
    /// Distinguishes these names from those of other processes where there are no locks; nil where there are.
    var nonce: String?
    /// Whether the content is in its place already.
    var isReady: @Sendable () throws(AIError) -> Bool

    var partial: String { name("") }
    /// The map of the partial's safe ranges.
    var map: String { name("map.") }
    /// Where a copy is made before it gets its name.
    var copy: String { name("copy.") }

    private func name(_ kind: String) -> String { stem + (nonce.map { "." + $0 } ?? "") + ".hub.\(kind)incomplete" }

    /// Whether a pull that was cut off has left something here.
    var isTidy: Bool { ![partial, map, RangeMap.temporary(map), copy].contains(where: FileSystem.exists) }

    /// Bytes of the content that another process has by now: what its map calls safe, or how far Python's partial has
    /// grown. 0 where neither can be read.
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

    /// Removes what pulls of this content left that were cut off; under the lock.
    func sweep() throws(AIError) {
        try clear()
        guard nonce == nil else { return }
        for name in try names() { try FileSystem.remove(Path.join(Path.parent(stem), name)) }
    }

    /// Everything of ours that stands beside this content.
    private func names() throws(AIError) -> [String] {
        let prefix = Path.name(stem) + "."
        return (try FileSystem.entries(Path.parent(stem)) ?? []).filter {
            $0.hasPrefix(prefix) && $0.contains(".hub.") && $0.hasSuffix(".incomplete")
        }
    }

    /// Where there are no locks: takes over what a process of this machine left that has ended. By a rename, which only one
    /// process can do; what belongs to a live process, or to another machine, is left alone.
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

/// A process as a map names it: its machine and its number there.
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
