import HubCore

/// Where everything is in an archive: its bytes follow from the manifest and the contents alone, so an export that was
/// cut off can be continued, and a reader knows what comes next.
struct ArchiveLayout {
    struct Entry {
        var blob: ArchiveManifest.Blob
        /// Offset of its header.
        var header: Int64
        /// Offset of its content.
        var content: Int64
        var end: Int64 { content + blob.size }
    }

    /// The manifest with its header and padding.
    let preamble: [UInt8]
    let entries: [Entry]
    /// Bytes of the whole archive.
    let total: Int64

    /// - Throws: ``ErrorCode/invalidInput`` if the manifest is larger than a reader takes.
    init(_ manifest: ArchiveManifest) throws(AIError) {
        let text = Array(manifest.json.text().utf8)
        guard text.count <= ArchiveManifest.limit else {
            throw AIError(
                .invalidInput, "the list of files has \(ByteCount(Int64(text.count))), too much for one archive",
                advice: "export fewer models at once")
        }
        let size = Int64(text.count)
        preamble =
            TarHeader.bytes(name: ArchiveManifest.name, size: size) + text
            + [UInt8](repeating: 0, count: Int(TarHeader.padding(size)))
        var at = Int64(preamble.count)
        var entries: [Entry] = []
        for blob in manifest.blobs where !blob.isLeftOut {
            let content = at + TarHeader.length(size: blob.size)
            entries.append(Entry(blob: blob, header: at, content: content))
            at = content + blob.size + TarHeader.padding(blob.size)
        }
        self.entries = entries
        // Two blocks of zeros end it.
        total = at + 2 * Int64(TarHeader.block)
    }
}
