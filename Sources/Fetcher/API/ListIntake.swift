import HubCore

/// The entries of a list, read as its pages arrive. Touched by the engine's thread alone during an exchange, and by who
/// asked between two of them.
final class ListIntake<Entry>: @unchecked Sendable {
    /// Makes entries of a document that is a list of some of the page's elements, and says how many elements it has.
    typealias Read = @Sendable ([UInt8], inout [Entry]) throws -> Int

    /// What is listed, for messages: `the file list of org/name`.
    let name: String
    /// How much may come; see ``ListBounds``.
    var limits = (bytes: ListBounds.bytes, entries: ListBounds.entries)
    private(set) var entries: [Entry] = []
    /// Elements of the list, those that became no entry among them.
    private(set) var count = 0
    private(set) var bytes = 0
    private let read: Read
    private var reader = JSONListReader()
    /// What there was before this page, for it may be asked for again.
    private var before = (entries: 0, count: 0, bytes: 0)

    init(_ name: String, read: @escaping Read) {
        self.name = name
        self.read = read
    }

    /// Begins a page.
    func begin() { before = (entries.count, count, bytes) }

    /// Begins the page anew.
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

    /// The entries, for whom they are kept no longer here.
    func takeEntries() -> [Entry] {
        defer { entries = [] }
        return entries
    }

    func violation(_ what: String) -> AIError { AIError(.protocolViolation, "\(name) \(what)") }
}
