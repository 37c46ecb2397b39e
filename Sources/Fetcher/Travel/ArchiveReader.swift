import HubCore

/// Reads an archive, or a folder of an export, in the order of its manifest. Names in it are only compared with those that
/// are due; no path is made of one.
final class ArchiveReader {
    let manifest: ArchiveManifest
    private let folder: String?
    private let input: ArchiveInput
    /// As errors name it.
    let name: String

    /// - Parameter path: a folder, an archive, or its first part; nil for standard input.
    /// - Throws: ``ErrorCode/fileNotFound`` for a missing part, ``ErrorCode/malformedModel`` for a manifest that is wrong.
    init(_ path: String?) throws(AIError) {
        if let path, try FileSystem.status(path)?.kind == .directory {
            folder = path
            name = Path.join(path, ArchiveManifest.name)
            input = try ArchiveInput(name)
            let size = try FileSystem.status(name)?.size ?? 0
            manifest = try Self.named(name) { [input] () throws(AIError) in
                try Self.checkSize(size)
                return try ArchiveManifest(input.read(Int(size)))
            }
            return
        }
        folder = nil
        input = try ArchiveInput(path)
        name = input.name
        manifest = try Self.named(name) { [input] () throws(AIError) in
            guard let entry = try Self.entry(input), entry.isFile, entry.name == ArchiveManifest.name else {
                throw AIError(.malformedModel, "it does not begin with a manifest; hub export makes archives")
            }
            try Self.checkSize(entry.size)
            let manifest = try ArchiveManifest(input.read(Int(entry.size)))
            try input.skip(TarHeader.padding(entry.size))
            return manifest
        }
    }

    private static func checkSize(_ size: Int64) throws(AIError) {
        guard size <= ArchiveManifest.limit else {
            throw AIError(.malformedModel, "its manifest has \(ByteCount(size)), more than any export writes")
        }
    }

    /// The error with the archive's name before a fault in its bytes.
    private static func named<Value>(_ name: String, _ body: () throws(AIError) -> Value) throws(AIError) -> Value {
        do throws(AIError) { return try body() } catch {
            guard error.code == .malformedModel, error.context.path == nil else { throw error }
            throw AIError(.malformedModel, "\(name.printable): \(error.message)", context: .init(path: name))
        }
    }

    /// The next entry; nil at the end of the archive.
    private static func entry(_ input: ArchiveInput) throws(AIError) -> TarHeader.Entry? {
        guard var entry = try TarHeader.parse(input.read(TarHeader.block)) else { return nil }
        guard entry.type == UInt8(ascii: "x") else { return entry }
        guard entry.size <= 64 << 10 else { throw AIError(.malformedModel, "an extended header is too long") }
        let size = try TarHeader.paxSize(input.read(Int(entry.size)))
        try input.skip(TarHeader.padding(entry.size))
        guard let next = try TarHeader.parse(input.read(TarHeader.block)) else {
            throw AIError(.malformedModel, "an extended header has no entry")
        }
        entry = next
        if let size { entry.size = size }
        return entry
    }

    /// Calls the closure for each content, with a reader of its bytes that it reads or skips whole; then expects the end.
    func contents(_ body: (ArchiveManifest.Blob, ArchiveInput) throws -> Void) throws {
        for blob in manifest.blobs where !blob.isLeftOut {
            if let folder {
                let place = Path.join(folder, blob.name)
                guard let status = try FileSystem.status(place), status.kind == .file else {
                    throw AIError(.fileNotFound, "\(place.printable) is missing", context: .init(path: place))
                }
                guard status.size == blob.size else {
                    throw AIError(
                        .malformedModel, "\(place.printable) has \(status.size) bytes instead of \(blob.size)",
                        context: .init(path: place))
                }
                try body(blob, try ArchiveInput(place))
                continue
            }
            try Self.named(name) { [input] () throws(AIError) in
                guard let entry = try Self.entry(input) else {
                    throw AIError(.malformedModel, "it ends before \(blob.name)")
                }
                guard entry.isFile, entry.name == blob.name, entry.size == blob.size else {
                    throw AIError(
                        .malformedModel, "it has \"\(entry.name.printable)\" where \(blob.name) is due")
                }
            }
            let end = input.position + blob.size
            try body(blob, input)
            precondition(input.position == end, "a content was not read whole")
            try input.skip(TarHeader.padding(blob.size))
        }
        guard folder == nil else { return }
        try Self.named(name) { [input] () throws(AIError) in
            guard try Self.entry(input) == nil else {
                throw AIError(.malformedModel, "it has more than its manifest says")
            }
        }
    }
}
