package import Catalog
package import HubCore
import Libc

/// Takes an archive into the cache. Contents are assembled as a pull's are, in partials with maps, proven by their
/// digests, and get their names only when the whole archive was right. Links, refs and the catalog are then a pull's own
/// work, without a network.
package final class ArchiveImport: @unchecked Sendable {
    private let reader: ArchiveReader
    private let layout: CacheLayout
    private let catalog: DispensableCatalog
    private var plans: [PullPlan] = []
    private var uses: [RepositoryUse] = []
    /// Contents that the cache lacks, by digest: where they belong.
    private var needed: [String: Needed] = [:]
    private var staged: [Staged] = []

    package var manifest: ArchiveManifest { reader.manifest }
    /// Bytes that the archive brings.
    package private(set) var newBytes: Int64 = 0

    private struct Needed {
        var file: RepositoryFile
        var plan: Int
        /// The path of the content in another repository.
        var source: String?
        /// The path of the older content that a delta needs.
        var base: String?
    }

    /// A content in a partial, proven.
    private struct Staged {
        var file: RepositoryFile
        var folder: RepositoryFolder
        var stamp: FileStamp
        var ranges: RangeDigests
    }

    /// Reads the manifest and looks at the cache; writes nothing.
    ///
    /// - Parameter path: a folder, an archive, or its first part; nil for standard input.
    package init(_ path: String?, into layout: CacheLayout, catalog: DispensableCatalog) throws(AIError) {
        (self.layout, self.catalog) = (layout, catalog)
        reader = try ArchiveReader(path)
        try plan()
    }

    private func plan() throws(AIError) {
        for model in manifest.models {
            let folder = layout.repository(model.repository)
            var known =
                catalog.use { catalog throws(AIError) in
                    try catalog.tree(of: model.repository, at: model.commit)
                } ?? nil
            if known == nil { known = try folder.readTree(model.commit) }
            if let known, known != model.tree {
                throw AIError(
                    .malformedModel,
                    "\(reader.name.printable): the files of \(model.repository) at \(model.commit.short) are not those known here",
                    context: .init(repository: model.repository.description))
            }
            plans.append(
                try PullPlan(
                    model.repository, in: layout, tree: model.tree, ref: model.ref, choice: model.choice,
                    force: false))
        }
        for (index, plan) in plans.enumerated() {
            for (file, state) in plan.files {
                let key = key(file, plan.repository)
                switch state {
                case .present, .blob, .foreign: continue
                case .elsewhere(let source):
                    if needed[key] == nil { needed[key] = Needed(file: file, plan: index, source: source) }
                case .missing:
                    if needed[key] == nil { needed[key] = Needed(file: file, plan: index) }
                }
            }
        }
        newBytes = needed.values.lazy.filter { $0.source == nil }.map(\.file).totalSize
        for blob in manifest.blobs {
            let digest = blob.file.digest.hex
            guard blob.isLeftOut || blob.delta != nil, let lacking = needed[digest] else { continue }
            if let delta = blob.delta {
                let base = try layout.content(delta.base, first: plans[lacking.plan].folder)
                guard base != nil || lacking.source != nil else { throw missingBase(lacking.file, of: delta) }
                needed[digest]?.base = base
            } else if lacking.source == nil {
                throw missingBase(lacking.file)
            }
        }
    }

    /// Content named by SHA-1 counts in its own repository only.
    private func key(_ file: RepositoryFile, _ repository: Repository) -> String {
        file.isLFS ? file.digest.hex : "\(repository) \(file.digest.hex)"
    }

    private func missingBase(_ file: RepositoryFile, of delta: ArchiveDelta? = nil) -> AIError {
        AIError(
            .notCached,
            delta == nil
                ? "\(reader.name.printable) leaves out \(file.path.printable), and the cache does not have it"
                : "\(reader.name.printable) has only the changes of \(file.path.printable), and the cache does not have what was changed",
            advice: "export again with --since and this machine's hub cache inventory",
            context: .init(path: file.path))
    }

    /// Reads and proves all contents, and gives them their names.
    ///
    /// - Throws: `CancellationError`; what was read is kept. If the archive is wrong, nothing of it is kept.
    package func run(_ watcher: ArchiveExport.Watcher) throws {
        try checkSpace()
        try layout.create()
        for folder in Set(plans.map(\.folder)) { uses.append(try RepositoryUse.share(folder)) }
        do {
            try adopt(watcher)
            try stage(watcher)
        } catch {
            // The error is what people need; leftovers are partials of a pull to everything else.
            try? abandon(staged: AIError.wrapping(error).exitStatus == 7)
            throw error
        }
        try promote(watcher)
    }

    private func checkSpace() throws(AIError) {
        let disk = try FileSystem.diskSpace(layout.root)
        let partial = plans.reduce(0) { $0 + $1.reservedBytes.values.reduce(0, +) }
        guard disk.total > 0, newBytes - partial > disk.available else { return }
        throw AIError(
            .diskFull,
            "\(ByteCount(newBytes)) are needed in \(layout.root), \(ByteCount(disk.available)) are free",
            context: .init(path: layout.root))
    }

    /// Takes what other repositories of the cache have, proven again.
    private func adopt(_ watcher: ArchiveExport.Watcher) throws {
        for (key, one) in needed {
            guard let source = one.source else { continue }
            let outcome = try BlobReuse.adopt(
                one.file, from: source, to: plans[one.plan].folder.places(one.file),
                isCancelled: watcher.isCancelled,
                progress: { _ in })
            if case .taken = outcome {
                needed[key] = nil
            } else {
                guard !manifest.leftOut.contains(one.file.digest.hex) else { throw missingBase(one.file) }
                if let delta = manifest.deltas[one.file.digest.hex], one.base == nil {
                    throw missingBase(one.file, of: delta)
                }
                needed[key]?.source = nil
                newBytes += one.file.size
            }
        }
    }

    // MARK: Reading

    private func stage(_ watcher: ArchiveExport.Watcher) throws {
        var done: Int64 = 0
        try reader.contents { blob, input in
            if watcher.isCancelled() { throw CancellationError() }
            let repository = manifest.models[blob.model].repository
            guard let need = needed[key(blob.file, repository)] else { return try input.skip(blob.size) }
            try stage(blob, need, from: input) { bytes in
                if watcher.isCancelled() { throw CancellationError() }
                done += bytes
                watcher.report(.init(path: need.file.path, doneBytes: done, totalBytes: newBytes))
            }
        }
    }

    /// Opens a partial; another process that has it is waited for. nil if the content is there by now.
    private func open(_ disk: PartialFile, _ isCancelled: () -> Bool = { false }) throws -> IntervalSet? {
        while true {
            switch try disk.open(restart: false) {
            case .blobExists: return nil
            case .ready(let safe, _): return safe
            case .locked:
                if isCancelled() { throw CancellationError() }
                usleep(50_000)
            }
        }
    }

    private func stage(
        _ blob: ArchiveManifest.Blob, _ need: Needed, from input: ArchiveInput, report: (Int64) throws -> Void
    ) throws {
        let (file, folder) = (need.file, plans[need.plan].folder)
        let places = folder.places(file)
        let disk = PartialFile(file, at: places)
        guard let safe = try open(disk) else {
            try report(file.size)
            return try input.skip(blob.size)
        }
        let base = try need.base.map { path throws(AIError) in try DeltaSource(path) }
        var written = safe
        do {
            var at = min(safe.front, file.size)
            try disk.hash(0..<at)
            try report(at)
            let buffer = CopyBuffer()
            var unflushed: Int64 = 0
            for piece in blob.pieces {
                if piece.source == nil, at > piece.range.lowerBound {
                    try input.skip(min(at, piece.range.upperBound) - piece.range.lowerBound)
                }
                while at < piece.range.upperBound {
                    let bytes = buffer.prefix(Int(min(Int64(buffer.count), piece.range.upperBound - at)))
                    if let source = piece.source {
                        try base?.read(into: bytes, at: source + at - piece.range.lowerBound)
                    } else {
                        try input.read(into: bytes)
                    }
                    let next = at + Int64(bytes.count)
                    try disk.write(UnsafeRawBufferPointer(bytes), at: at)
                    try disk.hash(at..<next)
                    written.insert(at..<next)
                    (at, unflushed) = (next, unflushed + Int64(bytes.count))
                    if unflushed >= Self.flushBytes {
                        try disk.flush(written)
                        unflushed = 0
                    }
                    try report(Int64(bytes.count))
                }
            }
            let digest = disk.digest()
            guard digest == file.digest else { throw wrong(need, digest, input) }
            try disk.flush(IntervalSet([0..<file.size]))
            guard let status = try FileSystem.linkStatus(places.partial) else { throw vanished(file) }
            staged.append(Staged(file: file, folder: folder, stamp: status.stamp, ranges: disk.ranges))
            disk.close(isUnused: false)
        } catch {
            // Bytes that cannot be flushed are read again; only the original error is reported.
            if AIError.wrapping(error).exitStatus == 7 { try? disk.discard() } else { try? disk.flush(written) }
            disk.close(isUnused: written.isEmpty)
            throw error
        }
    }

    /// A partial's bytes go to stable storage in steps of this many.
    private static let flushBytes: Int64 = 256 << 20

    private func wrong(_ need: Needed, _ digest: ContentDigest?, _ input: ArchiveInput) -> AIError {
        let file = need.file
        let advice = need.base.map {
            "nothing was imported; hub verify \(plans[need.plan].repository) shows whether \($0.printable) is whole"
        }
        return AIError(
            .digestMismatch,
            "\(input.name.printable): \(file.path.printable) has the digest \(digest?.hex ?? "?") instead of \(file.digest.hex)",
            advice: advice ?? "export it again; nothing was imported", context: .init(path: file.path))
    }

    private func vanished(_ file: RepositoryFile) -> AIError {
        AIError(
            .ioError, "the partial of \(file.path.printable) was deleted while it was imported",
            advice: "repeat the command", context: .init(path: file.path))
    }

    // MARK: The end

    /// The archive was right: its contents get their names.
    private func promote(_ watcher: ArchiveExport.Watcher) throws {
        var proven: [VerifiedFile] = []
        for one in staged {
            let places = one.folder.places(one.file)
            let disk = PartialFile(one.file, at: places)
            guard let safe = try open(disk, watcher.isCancelled) else {
                disk.close(isUnused: false)
                continue
            }
            guard safe.front == one.file.size, try FileSystem.linkStatus(places.partial)?.stamp == one.stamp else {
                disk.close(isUnused: false)
                throw vanished(one.file)
            }
            try disk.promote()
            disk.close(isUnused: false)
            if let status = try FileSystem.status(places.content) {
                proven.append(
                    VerifiedFile(folder: one.folder.name, etag: one.file.digest.hex, stamp: status.stamp))
            }
        }
        catalog.use { [staged, layout] catalog throws(AIError) in
            for one in staged where !one.ranges.isEmpty { try catalog.remember(one.ranges, of: one.file) }
            try catalog.remember(proven, ofCache: layout.root, at: Timestamp.now)
        }
        staged = []
    }

    /// Removes the folders of new models in which there is nothing yet.
    ///
    /// - Parameter discards: also what was proven, for the archive is wrong.
    private func abandon(staged discards: Bool) throws {
        for one in discards ? staged : [] {
            let disk = PartialFile(one.file, at: one.folder.places(one.file))
            if try open(disk) != nil { try disk.discard() }
            disk.close(isUnused: false)
        }
        for plan in plans where plan.isNew {
            for path in [plan.folder.blobs, plan.folder.snapshots, plan.folder.path] {
                try FileSystem.removeEmptyDirectory(path)
            }
        }
    }

    /// Makes links, trees and refs of what ``run(_:)`` has put in place, and tells the catalog.
    package func finish(_ puller: Puller, symlinks: Bool) async throws -> [Puller.Result] {
        var puller = puller
        puller.isOffline = true
        var options = Puller.Options()
        options.symlinks = symlinks
        let plans = try await Blocking.run { [self] in
            catalog.use { catalog throws(AIError) in
                for model in manifest.models {
                    try catalog.remember(model.tree, of: model.repository, at: Timestamp.now)
                    guard try catalog.model(model.repository) == nil, let json = model.record,
                        let record = ModelRecord(json: json, kind: model.repository.kind),
                        record.repository == model.repository
                    else { continue }
                    try catalog.remember([record], detailed: false, at: Timestamp.now)
                }
            }
            return try manifest.models.map { model in
                try PullPlan(
                    model.repository, in: layout, tree: model.tree, ref: model.ref, choice: model.choice,
                    force: false)
            }
        }
        let results = await puller.pull(plans, options) { _, _ in }
        uses = []
        return results
    }
}
