import HubCore

/// Bounds on the pages of a list. Real lists are far below them; without them an endless list would fill the memory.
struct ListBounds {
    /// Folders of a tree are entries too.
    static let entries = 2_000_000
    /// The Hub's pages have 50 to 1,000 entries. A list with pages of one entry ends after 105.
    static func pages(_ entries: Int) -> Int { min(4_000, 100 + entries / 20) }
    /// Pages in a row without an entry.
    static let emptyPages = 10
    /// Bytes of JSON in all pages: two million files have some 400 MB.
    static let bytes = 512 << 20

    /// What is listed, for messages: `the file list of org/name`.
    let name: String
    private var visited: Set<String> = []
    private var emptyPages = 0
    private var entries = 0

    init(_ name: String) { self.name = name }

    /// Call before requesting a page.
    mutating func begin(_ address: String) throws(AIError) {
        guard visited.insert(address).inserted else { throw violation("runs in a circle") }
        guard visited.count <= Self.pages(entries) else {
            throw violation("has more than \(visited.count - 1) pages with \(entries) entries in all")
        }
    }

    /// Call with the number of entries of a page.
    mutating func add(_ count: Int) throws(AIError) {
        entries += count
        emptyPages = count == 0 ? emptyPages + 1 : 0
        guard entries <= Self.entries else { throw violation("has more than \(Self.entries) entries") }
        guard emptyPages < Self.emptyPages else { throw violation("continues without an entry") }
    }

    private func violation(_ what: String) -> AIError { AIError(.protocolViolation, "\(name) \(what)") }
}
