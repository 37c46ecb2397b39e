import HubCore

/// The entries of a list, parsed while its pages arrive: on the engine's thread during an exchange, by the caller between
/// exchanges.
final class ListIntake<Entry: Sendable>: Sendable {
    /// Parses a document that is a list of some of the page's elements; returns the number of elements.
    typealias Read = @Sendable ([UInt8], inout [Entry]) throws -> Int

    /// What is listed, for messages: `the file list of org/name`.
    let name: String
    /// The limits; see ``ListBounds``.
    private let limits: (bytes: Int, entries: Int)
    private let read: Read
    private let state = Lock(State())

    private struct State {
        var reader = JSONListReader()
        var taken = Taken()
        /// The state before this page, which may be retried.
        var before = (entries: 0, count: 0, bytes: 0)
    }

    private struct Taken: Sendable {
        var entries: [Entry] = []
        var count = 0
        var bytes = 0
    }

    init(
        _ name: String, limits: (bytes: Int, entries: Int) = (ListBounds.bytes, ListBounds.entries),
        read: @escaping Read
    ) {
        self.name = name
        self.limits = limits
        self.read = read
    }

    var entries: [Entry] { state.withLock { $0.taken.entries } }
    /// Elements of the list, including those without an entry.
    var count: Int { state.withLock { $0.taken.count } }

    /// Begins a page.
    func begin() { state.withLock { $0.before = ($0.taken.entries.count, $0.taken.count, $0.taken.bytes) } }

    /// Restarts the page.
    func restart() {
        state.withLock { state in
            state.taken.entries.removeSubrange(state.before.entries...)
            (state.taken.count, state.taken.bytes) = (state.before.count, state.before.bytes)
            state.reader = JSONListReader()
        }
    }

    func take(_ piece: UnsafeRawBufferPointer) throws {
        try state.withLock { state in try take(piece, &state.reader, &state.taken) }
    }

    private func take(
        _ piece: UnsafeRawBufferPointer, _ reader: inout JSONListReader, _ taken: inout Taken
    ) throws {
        taken.bytes += piece.count
        guard taken.bytes <= limits.bytes else {
            throw violation("has more than \(ByteCount(Int64(limits.bytes)))")
        }
        try reader.take(piece) { document in
            taken.count += try read(document, &taken.entries)
            guard taken.count <= limits.entries else { throw violation("has more than \(limits.entries) entries") }
        }
    }

    func finish() throws { try state.withLock { try $0.reader.finish() } }

    /// Returns the entries and releases them.
    func takeEntries() -> [Entry] {
        state.withLock { state in
            defer { state.taken.entries = [] }
            return state.taken.entries
        }
    }

    func violation(_ what: String) -> AIError { AIError(.protocolViolation, "\(name) \(what)") }
}
