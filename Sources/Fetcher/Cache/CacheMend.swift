package import HubCore

/// Something that can be done about a finding without losing anything that was fetched. Each looks again before it acts.
package enum CacheMend: Sendable, Hashable {
    package struct Ref: Sendable, Hashable {
        var folder: RepositoryFolder
        var name: String
        var path: String { folder.ref(name) }
    }
    package struct Partial: Sendable, Hashable {
        var folder: RepositoryFolder
        var name: String
    }

    /// Refs are written without what stands around their commits.
    case rewriteRefs([Ref])
    /// Refs that name no snapshot go: they hide the whole repository from Python.
    case removeDanglingRefs([Ref])
    /// Partials of ours that cannot be gone on with, for nothing says which of their bytes are safe.
    case removePartials([Partial])
    /// Files that are made again when somebody needs them.
    case removeFiles([String])
    case sweepXet(XetFolder)

    /// What was left alone for an hour is nobody's work.
    static let rest = 3600.0

    /// Does it; what was done, as a sentence.
    package func run(now: Double) throws(AIError) -> String {
        switch self {
        case .rewriteRefs(let refs):
            var count = 0
            for ref in refs {
                guard let commit = try ref.folder.commit(ofRef: ref.name) else { continue }
                try ref.folder.writeRef(ref.name, commit)
                count += 1
            }
            return "\(Self.plural(count, "ref")) written anew"
        case .removeDanglingRefs(let refs):
            var count = 0
            for ref in refs where try isStillDangling(ref, now: now) {
                if try FileSystem.remove(ref.path) { count += 1 }
            }
            return "\(Self.plural(count, "ref")) deleted"
        case .removePartials(let partials):
            var freed: Int64 = 0
            for partial in partials { freed += try remove(partial) }
            return "\(ByteCount(freed)) freed"
        case .removeFiles(let paths):
            var count = 0
            for path in paths where try isAtRest(path, now: now) {
                if try FileSystem.remove(path) { count += 1 }
            }
            return "\(Self.plural(count, "file")) deleted"
        case .sweepXet(let xet): return "\(ByteCount(try xet.sweep(now: now))) freed"
        }
    }

    private static func plural(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    private func isAtRest(_ path: String, now: Double) throws(AIError) -> Bool {
        guard let status = try FileSystem.linkStatus(path), status.kind != .directory else { return false }
        return now - status.modified >= Self.rest
    }

    private func isStillDangling(_ ref: Ref, now: Double) throws(AIError) -> Bool {
        guard try isAtRest(ref.path, now: now), try ref.folder.heldLocks().isEmpty,
            let commit = try ref.folder.commit(ofRef: ref.name)
        else { return false }
        return try FileSystem.linkStatus(ref.folder.snapshot(commit)) == nil
    }

    /// Under the lock of its blob, and only while it has no map.
    private func remove(_ partial: Partial) throws(AIError) -> Int64 {
        let (folder, etag) = (partial.folder, DeletionPlanner.etag(ofPartial: partial.name))
        let path = folder.blob(partial.name)
        func removed() throws(AIError) -> Int64 {
            guard try FileSystem.linkStatus(folder.blob(etag + ".hub.map.incomplete")) == nil,
                let status = try FileSystem.linkStatus(path), status.kind == .file, try FileSystem.remove(path)
            else { return 0 }
            return status.links == 1 ? status.size : 0
        }
        let attempt = try BlobLock.attempt(folder.lock(etag))
        switch consume attempt {
        case .held: return 0
        case .unsupported: return try removed()
        case .taken(let lock):
            let freed = try removed()
            _ = consume lock
            return freed
        }
    }
}
