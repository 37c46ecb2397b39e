import HubCore

/// The entries of a list, parsed while its pages arrive. Used by the engine's thread during an exchange, and by the
/// caller between exchanges.
final class ListIntake<Entry>: @unchecked Sendable {
    /// Parses a document that is a list of some of the page's elements; returns the number of elements.
    typealias Read = @Sendable ([UInt8], inout [Entry]) throws -> Int

    /// What is listed, for messages: `the file list of org/name`.
    let name: String
    /// The limits; see ``ListBounds``.
    var limits = (bytes: ListBounds.bytes, entries: ListBounds.entries)
    private(set) var entries: [Entry] = []
    /// Elements of the list, including those without an entry.
    private(set) var count = 0
    private(set) var bytes = 0
    private let read: Read
    private var reader = JSONListReader()
    /// The state before this page, which may be retried.
    private var before = (entries: 0, count: 0, bytes: 0)

    init(_ name: String, read: @escaping Read) {
        self.name = name
        self.read = read
    }

    /// Begins a page.
    func begin() { before = (entries.count, count, bytes) }

    /// Restarts the page.
    func restart() {
        entries.removeSubrange(before.entries...)
        (count, bytes) = (before.count, before.bytes)
        reader = JSONListReader()
    }

    func take(_ piece: UnsafeRawBufferPointer) throws {
        bytes += piece.count
        guard bytes <= limits.bytes else { throw violation("has more than \(ByteCount(Int64(limits.bytes)))") }
        try reader.take(piece) { document in
            count += try read(document, &entries)
            guard count <= limits.entries else { throw violation("has more than \(limits.entries) entries") }
        }
    }

    func finish() throws { try reader.finish() }

    /// Returns the entries and releases them.
    func takeEntries() -> [Entry] {
        defer { entries = [] }
        return entries
    }

    func violation(_ what: String) -> AIError { AIError(.protocolViolation, "\(name) \(what)") }
}
