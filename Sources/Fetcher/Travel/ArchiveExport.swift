import HubCore

/// Writes models of the cache into an archive or a folder. Every content is proven while it is read.
package struct ArchiveExport: Sendable {
    package let manifest: ArchiveManifest
    private let layout: CacheLayout

    /// What was done so far.
    package struct Progress: Sendable {
        package var path: String
        package var doneBytes: Int64
        package var totalBytes: Int64
    }

    /// Tells of the work, and says whether to go on.
    package struct Watcher: Sendable {
        let isCancelled: @Sendable () -> Bool
        let report: @Sendable (Progress) -> Void

        package init(
            isCancelled: @escaping @Sendable () -> Bool, report: @escaping @Sendable (Progress) -> Void
        ) { (self.isCancelled, self.report) = (isCancelled, report) }
    }

    package init(_ manifest: ArchiveManifest, in layout: CacheLayout) {
        (self.manifest, self.layout) = (manifest, layout)
    }

    /// Bytes of the contents that are written.
    package var contentBytes: Int64 { contents.reduce(0) { $0 + $1.size } }
    /// Bytes that are read and proven for them.
    private var readBytes: Int64 { contents.map(\.file).totalSize }
    private var contents: [ArchiveManifest.Blob] { manifest.blobs.filter { !$0.isLeftOut } }

    /// Writes one archive. What an interrupted export of the same models has left at the same place is checked and kept.
    ///
    /// - Parameters:
    ///   - path: nil for standard output.
    ///   - partBytes: the size of the parts `PATH.001`, `PATH.002` and so on; nil for one file.
    /// - Throws: ``ErrorCode/digestMismatch`` for a damaged file of the cache; `CancellationError`.
    package func writeArchive(to path: String?, partBytes: Int64?, _ watcher: Watcher) throws {
        let uses = try share()
        defer { withExtendedLifetime(uses) {} }
        let plan = try ArchiveLayout(manifest)
        let output = try ArchiveOutput(path, partBytes: partBytes, total: plan.total)
        var existing = try output.existingBytes()
        if existing < Int64(plan.preamble.count) {
            existing = 0
        } else if try !output.holds(plan.preamble, at: 0) {
            try output.clear()
            existing = 0
        }
        if let path { try checkSpace(plan.total - existing, at: path) }
        if existing == 0 { try output.write(plan.preamble, at: 0) }
        var copy = ContentCopy(output: output, existing: existing, watcher: watcher, total: readBytes)
        for entry in plan.entries {
            let header = TarHeader.bytes(name: entry.blob.name, size: entry.blob.size)
            try copy.write(entry.blob, from: source(entry.blob), header: header, at: entry.header)
            let padding = TarHeader.padding(entry.blob.size)
            if padding > 0 { try output.write([UInt8](repeating: 0, count: Int(padding)), at: entry.end) }
        }
        let end = 2 * TarHeader.block
        try output.write([UInt8](repeating: 0, count: end), at: plan.total - Int64(end))
        try output.finish()
    }

    /// Writes a folder: each content a file of its own, the manifest last.
    package func writeFolder(_ folder: String, _ watcher: Watcher) throws {
        let uses = try share()
        defer { withExtendedLifetime(uses) {} }
        let text = Array(manifest.json.text().utf8)
        guard text.count <= ArchiveManifest.limit else {
            _ = try ArchiveLayout(manifest)
            return
        }
        try FileSystem.createDirectories(folder)
        try checkSpace(contentBytes - contents.reduce(0) { $0 + size(Path.join(folder, $1.name)) }, at: folder)
        var done: Int64 = 0
        for blob in contents {
            let place = Path.join(folder, blob.name)
            try FileSystem.createDirectories(Path.parent(place))
            if size(place) != blob.size || !FileSystem.exists(place) {
                let output = try ArchiveOutput(place, partBytes: nil, total: blob.size)
                var copy = ContentCopy(
                    output: output, existing: try output.existingBytes(), watcher: watcher, total: readBytes)
                copy.done = done
                try copy.write(blob, from: source(blob), header: [], at: 0)
                try output.finish()
            }
            done += blob.file.size
        }
        try FileSystem.replace(Path.join(folder, ArchiveManifest.name), with: text, durable: true)
    }

    private func size(_ path: String) -> Int64 { ((try? FileSystem.status(path)) ?? nil)?.size ?? 0 }

    private func source(_ blob: ArchiveManifest.Blob) -> String {
        let model = manifest.models[blob.model]
        return Path.join(layout.repository(model.repository).snapshot(model.commit), blob.file.path)
    }

    /// Keeps deletions away.
    private func share() throws(AIError) -> [RepositoryUse] {
        var uses: [RepositoryUse] = []
        for folder in Set(manifest.models.map { layout.repository($0.repository) }) {
            uses.append(try RepositoryUse.share(folder))
        }
        return uses
    }

    private func checkSpace(_ needed: Int64, at path: String) throws(AIError) {
        let disk = try FileSystem.diskSpace(Path.parent(path))
        guard disk.total > 0, needed > disk.available else { return }
        throw AIError(
            .diskFull,
            "\(ByteCount(needed)) are needed for \(path.printable), \(ByteCount(disk.available)) are free",
            advice: "choose another place with -o, or leave out what the other side has with --since",
            context: .init(path: path))
    }
}

/// Copies contents of the cache into an output, proving them on the way.
private struct ContentCopy {
    let output: ArchiveOutput
    /// Bytes of the output that an earlier export has left.
    let existing: Int64
    let watcher: ArchiveExport.Watcher
    let total: Int64
    var done: Int64 = 0
    private let buffer = CopyBuffer()

    init(output: ArchiveOutput, existing: Int64, watcher: ArchiveExport.Watcher, total: Int64) {
        (self.output, self.existing, self.watcher, self.total) = (output, existing, watcher, total)
    }

    /// Writes a header and a content behind it.
    ///
    /// - Throws: ``ErrorCode/digestMismatch`` if the source is not what its name says.
    mutating func write(
        _ blob: ArchiveManifest.Blob, from source: String, header: [UInt8], at offset: Int64
    ) throws {
        let began = done
        let content = offset + Int64(header.count)
        var kept = max(0, min(existing - content, blob.size))
        if kept > 0, try !output.holds(header, at: offset) { kept = 0 }
        if kept > 0 {
            if try copy(blob, from: source, to: content, keeping: kept) { return }
            done = began
        }
        if !header.isEmpty { try output.write(header, at: offset) }
        guard try copy(blob, from: source, to: content, keeping: 0) else {
            throw AIError(
                .digestMismatch, "\(source) is damaged: its content is not what its digest says",
                advice: "hub verify --repair repairs it", context: .init(path: source))
        }
    }

    /// Whether the content is proven. Of what is there already nothing is written again.
    private mutating func copy(
        _ blob: ArchiveManifest.Blob, from source: String, to content: Int64, keeping kept: Int64
    ) throws -> Bool {
        let file = blob.file
        let hasher = ContentHasher(like: file.digest, size: file.size)
        let opened = kept < file.size ? CopySource(try FileDescriptor(unnoticed: source)) : nil
        // Bytes of it that the archive has so far.
        var stored: Int64 = 0
        for piece in blob.pieces {
            let isStored = piece.source == nil
            var at = piece.range.lowerBound
            while at < piece.range.upperBound {
                if watcher.isCancelled() { throw CancellationError() }
                let isThere = isStored && stored < kept
                let room = min(piece.range.upperBound - at, isThere ? kept - stored : .max)
                let bytes = buffer.prefix(Int(min(Int64(buffer.count), room)))
                if isThere {
                    guard try output.read(into: bytes, at: content + stored) else { return false }
                } else if let opened {
                    guard try opened.descriptor.read(into: bytes, at: at) == bytes.count else { return false }
                    if isStored { try output.write(UnsafeRawBufferPointer(bytes), at: content + stored) }
                }
                hasher.update(UnsafeRawBufferPointer(bytes))
                at += Int64(bytes.count)
                done += Int64(bytes.count)
                if isStored { stored += Int64(bytes.count) }
                watcher.report(.init(path: file.path, doneBytes: done, totalBytes: total))
            }
        }
        return hasher.finish() == file.digest
    }
}

/// A descriptor in a class, so that it can be optional.
private final class CopySource {
    let descriptor: FileDescriptor
    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}

/// A megabyte for copying.
final class CopyBuffer: @unchecked Sendable {
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    var count: Int { bytes.count }
    deinit { bytes.deallocate() }
    func prefix(_ count: Int) -> UnsafeMutableRawBufferPointer { .init(rebasing: bytes[..<count]) }
}
