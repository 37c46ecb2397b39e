import HubCore

/// The headers of a tar archive: ustar, and pax's `size` for files of 8 GiB and more.
/// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html
enum TarHeader {
    static let block = 512
    /// What ustar's eleven octal digits hold.
    private static let largest: Int64 = 1 << 33

    /// The length of ``bytes(name:size:)``.
    static func length(size: Int64) -> Int64 { size < largest ? 512 : 3 * 512 }

    /// The bytes before an entry's content. Owner and times are always the same, so that the same content makes the same
    /// archive.
    ///
    /// - Parameter name: at most 100 bytes of ASCII.
    static func bytes(name: String, size: Int64) -> [UInt8] {
        guard size >= largest else { return header(name, size, type: "0") }
        // The record's length counts its own digits.
        let value = " size=\(size)\n"
        var record = value
        while "\(record.utf8.count)\(value)" != record { record = "\(record.utf8.count)\(value)" }
        let padding = [UInt8](repeating: 0, count: block - record.utf8.count)
        return header("size", Int64(record.utf8.count), type: "x") + Array(record.utf8) + padding
            + header(name, 0, type: "0")
    }

    private static func header(_ name: String, _ size: Int64, type: Character) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: block)
        func put(_ text: String, at offset: Int) {
            out.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
        }
        func octal(_ number: Int64, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: digits - text.utf8.count) + text
        }
        precondition(name.utf8.count <= 100, "a name of an entry has more than 100 bytes")
        put(name, at: 0)
        put("0000644\0" + "0000000\0" + "0000000\0", at: 100)
        put(octal(size, 11) + "\0", at: 124)
        put(octal(0, 11) + "\0", at: 136)
        put("        ", at: 148)
        put(String(type), at: 156)
        put("ustar\0" + "00", at: 257)
        let sum = out.reduce(0) { $0 + Int64($1) }
        put(octal(sum, 6) + "\0 ", at: 148)
        return out
    }

    /// Bytes of zeros after content of this size.
    static func padding(_ size: Int64) -> Int64 { (512 - size % 512) % 512 }

    /// An entry as a header tells of it.
    struct Entry: Sendable, Hashable {
        var name: String
        var size: Int64
        /// `0` for a file; anything else is its type's letter.
        var type: UInt8
        var isFile: Bool { type == UInt8(ascii: "0") || type == 0 }
    }

    /// Reads one header block; nil for the zeros that end an archive.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    static func parse(_ bytes: [UInt8]) throws(AIError) -> Entry? {
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        func fault(_ why: String) -> AIError { AIError(.malformedModel, why) }
        func field(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range].prefix { $0 != 0 } }
        func octal(_ range: Range<Int>) throws(AIError) -> Int64 {
            let digits = field(range).filter { $0 != UInt8(ascii: " ") }
            guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
            else {
                throw fault("a header has a number that is not octal; is this an archive of hub export?")
            }
            return digits.reduce(0) { $0 << 3 | Int64($1 - UInt8(ascii: "0")) }
        }
        let told = try octal(148..<156)
        let sum = bytes.enumerated().reduce(Int64(0)) {
            $0 + Int64((148..<156).contains($1.offset) ? 32 : $1.element)
        }
        guard told == sum else { throw fault("a header has the wrong checksum; is this an archive of hub export?") }
        return Entry(
            name: String(decoding: field(0..<100), as: UTF8.self), size: try octal(124..<136), type: bytes[156])
    }

    /// The size in a pax record list; nil if it names none.
    static func paxSize(_ bytes: [UInt8]) throws(AIError) -> Int64? {
        var rest = bytes[...]
        var size: Int64?
        while !rest.isEmpty {
            let digits = rest.prefix { $0 != UInt8(ascii: " ") }
            guard let length = Int(String(decoding: digits, as: UTF8.self)), length > digits.count + 1,
                length <= rest.count
            else { throw AIError(.malformedModel, "an extended header is not one") }
            let record = rest.prefix(length)
            rest = rest.dropFirst(length)
            guard
                let value = String(decoding: record.dropFirst(digits.count + 1), as: UTF8.self)
                    .dropping(prefix: "size=")
            else { continue }
            guard let number = Int64(value.dropLast()), number >= 0 else {
                throw AIError(.malformedModel, "an extended header has a size that is not a number")
            }
            size = number
        }
        return size
    }
}
