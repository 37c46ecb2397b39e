import CSQLite
import HubCore

/// The table of names that many models share: tags, tasks, libraries, licences. Each has a number, by which the models'
/// rows hold it, the common ones a byte or two. Numbers and names that were met are kept in memory.
final class SharedNames {
    private let words: IndexedWords
    private var numbers = TextNumbers()
    private var names: [Int64: String] = [:]
    /// Maximum number of cached names.
    private static let most = 500_000

    /// - Parameter words: hear of each new name.
    init(words: IndexedWords) { self.words = words }

    /// Forgets what memory holds: a transaction that failed may have made some of it.
    func forget() {
        numbers = TextNumbers()
        names.removeAll()
    }

    /// The number of a name; nil if no model has it.
    func number(of name: String, _ connection: Connection) throws -> Int64? {
        var name = name
        if let known = name.withUTF8({ numbers.number(of: UnsafeRawBufferPointer($0)) }) { return known }
        let found = try connection.once("SELECT tag FROM tags WHERE name = ?", bind: { $0.add(name) }) { $0.int(0) }
        if let found { keep(name, found) }
        return found
    }

    /// The number of a name, assigned if it has none.
    func numberMade(for name: String, _ connection: Connection) throws -> Int64 {
        if let known = try number(of: name, connection) { return known }
        try connection.once("INSERT INTO tags (name) VALUES (?)", bind: { $0.add(name) })
        let made = connection.lastInsertedRow
        try words.add(name, connection)
        keep(name, made)
        return made
    }

    /// The name of a number.
    ///
    /// - Throws: if there is none: the rows are damaged.
    func name(of number: Int64, _ connection: Connection) throws -> String {
        if let known = names[number] { return known }
        guard
            let name = try connection.once(
                "SELECT name FROM tags WHERE tag = ?", bind: { $0.add(number) }, row: { $0.text(0) })
        else { throw SQLiteError(extendedCode: SQLITE_CORRUPT, message: "there is no name of number \(number)") }
        keep(name, number)
        return name
    }

    private func keep(_ name: String, _ number: Int64) {
        if numbers.count >= Self.most { forget() }
        var name = name
        name.withUTF8 { _ = numbers.insert(UnsafeRawBufferPointer($0), number) }
        names[number] = name
    }

    // MARK: Lists

    /// Names as stored in a model's row: their numbers in order, as varints (seven bits per byte, the lowest first).
    /// nil for no list.
    func packed(_ list: [String]?, _ connection: Connection) throws -> [UInt8]? {
        guard let list else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(list.count * 2)
        for name in list {
            var rest = UInt64(try numberMade(for: name, connection))
            while rest >= 128 {
                bytes.append(UInt8(rest & 127) | 128)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        return bytes
    }

    /// The names of a packed list.
    func unpacked(_ bytes: [UInt8], _ connection: Connection) throws -> [String] {
        var list: [String] = []
        try Self.forEach(bytes) { number in
            list.append(try name(of: number, connection))
            return true
        }
        return list
    }

    /// Calls `body` with the numbers of a packed list until it returns false.
    static func forEach(_ bytes: [UInt8], _ body: (Int64) throws -> Bool) rethrows {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        for byte in bytes {
            number |= UInt64(byte & 127) << shift
            shift += 7
            guard byte < 128 else { continue }
            guard try body(Int64(truncatingIfNeeded: number)) else { return }
            (number, shift) = (0, 0)
        }
    }
}
