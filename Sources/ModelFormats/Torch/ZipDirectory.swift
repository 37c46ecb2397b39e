import HubCore

/// The entries of a ZIP archive with uncompressed files: PyTorch's checkpoints, NumPy's `.npz`.
/// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
struct ZipDirectory: Sendable {
    struct Entry: Sendable, Hashable {
        let name: String
        /// Its byte range; nil if compressed or encrypted.
        let byteRange: Range<Int>?
        /// Uncompressed size in bytes.
        let size: Int
    }

    let entries: [Entry]

    private static let endMark: UInt32 = 0x0605_4B50
    private static let wideLocatorMark: UInt32 = 0x0706_4B50
    private static let wideEndMark: UInt32 = 0x0606_4B50
    private static let entryMark: UInt32 = 0x0201_4B50
    private static let fileMark: UInt32 = 0x0403_4B50
    /// Sizes of the end record and the longest comment.
    private static let (endSize, commentLimit) = (22, 65_535)

    /// Whether a file begins with an archive's magic number.
    static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) }

    /// - Throws: ``ErrorCode/malformedModel``.
    init(_ bytes: UnsafeRawBufferPointer, path: String) throws(AIError) {
        do {
            let place = try Self.directory(bytes, path)
            var reader = ByteReader(bytes, at: place.offset)
            var entries: [Entry] = []
            for _ in 0..<place.count { entries.append(try Self.entry(&reader, path)) }
            try Self.checkDistinct(entries, path)
            self.entries = entries
        } catch is ByteReader.Short {
            throw .malformed(
                path, "its ZIP directory goes past the end of the file; the file is truncated or damaged")
        } catch {
            throw AIError.wrapping(error)
        }
    }

    /// Programs would read different files from an archive with two of a name or two in one place.
    private static func checkDistinct(_ entries: [Entry], _ path: String) throws {
        var names: Set<String> = []
        for entry in entries where !names.insert(entry.name).inserted {
            throw AIError.malformed(path, "\(entry.name.printable) is in it twice")
        }
        let ranges = entries.compactMap(\.byteRange).filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }
        for (first, second) in zip(ranges, ranges.dropFirst()) where first.upperBound > second.lowerBound {
            throw AIError.malformed(path, "files in it overlap at byte \(second.lowerBound)")
        }
    }

    /// The offset of the directory, and the number of entries.
    private static func directory(_ bytes: UnsafeRawBufferPointer, _ path: String) throws -> (
        offset: Int, count: Int
    ) {
        let first = max(0, bytes.count - endSize - commentLimit)
        guard bytes.count >= endSize,
            let end = stride(from: bytes.count - endSize, through: first, by: -1).first(where: {
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self)) == endMark
            })
        else { throw AIError.malformed(path, "its ZIP directory is missing; the file is truncated or damaged") }
        var reader = ByteReader(bytes, at: end + 10)
        var count = UInt64(try reader.number(UInt16.self))
        try reader.skip(4)
        var offset = UInt64(try reader.number(UInt32.self))
        if count == 0xFFFF || offset == 0xFFFF_FFFF, end >= 20 {
            var locator = ByteReader(bytes, at: end - 20)
            if try locator.number(UInt32.self) == wideLocatorMark {
                try locator.skip(4)
                let place: UInt64 = try locator.number()
                guard place < UInt64(bytes.count) else { throw ByteReader.Short(needed: .max) }
                var wide = ByteReader(bytes, at: Int(place))
                guard try wide.number(UInt32.self) == wideEndMark else {
                    throw AIError.malformed(path, "its ZIP64 directory is damaged")
                }
                try wide.skip(28)
                count = try wide.number()
                try wide.skip(8)
                offset = try wide.number()
            }
        }
        // An entry takes at least 46 bytes.
        guard offset <= UInt64(bytes.count), count <= (UInt64(bytes.count) - offset) / 46 else {
            throw AIError.malformed(
                path,
                "its ZIP directory claims \(count) entries at byte \(offset); the file has \(bytes.count) bytes")
        }
        return (Int(offset), Int(count))
    }

    private static func entry(_ reader: inout ByteReader, _ path: String) throws -> Entry {
        guard try reader.number(UInt32.self) == entryMark else {
            throw AIError.malformed(path, "its ZIP directory is damaged")
        }
        try reader.skip(4)
        let flags: UInt16 = try reader.number()
        let method: UInt16 = try reader.number()
        try reader.skip(8)
        var packed = UInt64(try reader.number(UInt32.self))
        var size = UInt64(try reader.number(UInt32.self))
        let nameLength = Int(try reader.number(UInt16.self))
        let extraLength = Int(try reader.number(UInt16.self))
        let commentLength = Int(try reader.number(UInt16.self))
        try reader.skip(8)
        var place = UInt64(try reader.number(UInt32.self))
        let name = reader.bytes.repairedText(try reader.skip(nameLength))
        let extra = try reader.skip(extraLength)
        try reader.skip(commentLength)
        try widen(&size, &packed, &place, UnsafeRawBufferPointer(rebasing: reader.bytes[extra]))
        guard flags & 1 == 0, method == 0 else {
            return Entry(name: name, byteRange: nil, size: Int(clamping: size))
        }
        guard packed == size else { throw AIError.malformed(path, "\(name.printable) in it has two sizes") }
        let range = try content(at: place, size: size, in: reader.bytes, path)
        return Entry(name: name, byteRange: range, size: range.count)
    }

    /// Numbers beyond 32 bits are in an extra field, in this order.
    private static func widen(
        _ size: inout UInt64, _ packed: inout UInt64, _ place: inout UInt64, _ extra: UnsafeRawBufferPointer
    ) throws {
        var reader = ByteReader(extra)
        while reader.rest >= 4 {
            let kind: UInt16 = try reader.number()
            let length = Int(try reader.number(UInt16.self))
            let end = reader.at + length
            guard kind == 1 else {
                try reader.skip(length)
                continue
            }
            if size == 0xFFFF_FFFF { size = try reader.number() }
            if packed == 0xFFFF_FFFF { packed = try reader.number() }
            if place == 0xFFFF_FFFF { place = try reader.number() }
            guard end >= reader.at else { return }
            try reader.skip(end - reader.at)
        }
    }

    /// The bytes after the local header, whose name and extra field may differ in length from the directory's.
    private static func content(at place: UInt64, size: UInt64, in bytes: UnsafeRawBufferPointer, _ path: String)
        throws
        -> Range<Int>
    {
        guard let start = Int(exactly: place), let size = Int(exactly: size), start <= bytes.count else {
            throw ByteReader.Short(needed: .max)
        }
        var reader = ByteReader(bytes, at: start)
        guard try reader.number(UInt32.self) == fileMark else {
            throw AIError.malformed(path, "its ZIP directory points outside of the file")
        }
        try reader.skip(22)
        let nameLength = Int(try reader.number(UInt16.self))
        let extraLength = Int(try reader.number(UInt16.self))
        try reader.skip(nameLength + extraLength)
        return try reader.skip(size)
    }
}
