import HubCore

/// What a file of vectors of pictures holds, and its bytes.
///
/// All numbers are little-endian. The file begins with `HUBINDEX`, the version of the format (4 bytes), the numbers of a
/// vector (4), the bytes of a JSON document (4), 4 bytes of zero and the number of entries (8). The document says whose
/// vectors they are. An entry has the length of its path (4), the path, five numbers that the file system told of the
/// file (8 each: ``FileFingerprint``; all 0 where they say nothing), the SHA-256 of its content (32), and its vector as
/// float32. The last 32 bytes are the SHA-256 of all before.
struct PictureIndexFile: Sendable {
    /// A picture.
    struct Entry: Sendable, Hashable {
        /// What tells a change of the file without reading it; nil if it was changed so lately that a later change might
        /// not show.
        var stamp: FileFingerprint?
        /// Of its content, 64 digits.
        var digest: String
        var vector: [Float]
    }

    /// Whose vectors they are.
    var model: ModelIdentity
    /// What people call it.
    var name: String
    /// Numbers of a vector; 0 while there is none.
    var dimensions = 0
    /// By absolute path.
    var entries: [String: Entry] = [:]

    static let magic = Array("HUBINDEX".utf8)
    /// Another one is for another form, or for vectors that are computed in another way.
    static let version: UInt32 = 1
    private static let headBytes = 32
    private static let digestBytes = 32
    /// Numbers of a vector at most.
    private static let mostDimensions = 1 << 16
    private static let mostDocument = 1 << 20

    init(model: ModelIdentity, name: String) { (self.model, self.name) = (model, name) }

    // MARK: Reading

    /// What a file is that is not read.
    enum Fault: Error, Hashable {
        /// Something else: it is not to be replaced.
        case other
        /// Of a later version of the format.
        case later(UInt32)
        /// An index that must be rebuilt: its bytes are damaged, or an earlier version wrote them.
        case unusable(String)
    }

    /// Reads the bytes of a file.
    init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.starts(with: Self.magic) else { throw .other }
        guard bytes.count >= Self.headBytes + Self.digestBytes else { throw .unusable("it is cut off") }
        let body = bytes.count - Self.digestBytes
        var reader = IndexReader(bytes: bytes, at: Self.magic.count, end: body)
        let version = try reader.number(4)
        guard version <= Self.version else { throw .later(UInt32(truncatingIfNeeded: version)) }
        guard version == Self.version else { throw .unusable("an earlier version of hub wrote it") }
        let hasher = ContentHasher()
        bytes.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[..<body])) }
        guard hasher.finish().hex == bytes[body...].hexadecimal else {
            throw .unusable("its bytes have another digest")
        }
        let (dimensions, length) = (try reader.number(4), try reader.number(4))
        _ = try reader.number(4)
        let count = try reader.number(8)
        guard dimensions <= Self.mostDimensions, length <= Self.mostDocument else {
            throw .unusable("its head is wrong")
        }
        let text = Array(try reader.bytes(Int(length)))
        guard let document = try? JSON.parse(text), let model = ModelIdentity(document),
            let name = document["name"]?.string
        else { throw .unusable("it does not say whose vectors it has") }
        (self.model, self.name, self.dimensions) = (model, name, Int(dimensions))
        // Each takes 76 bytes and more, so a wrong number ends before it sizes memory.
        guard count <= UInt64(bytes.count) / 76 else { throw .unusable("its head is wrong") }
        for _ in 0..<count {
            let path = String(decoding: try reader.bytes(Int(try reader.number(4))), as: UTF8.self)
            entries[path] = try Self.entry(&reader, self.dimensions)
        }
        guard reader.at == body else { throw .unusable("it has bytes behind its end") }
    }

    private static func entry(_ reader: inout IndexReader, _ dimensions: Int) throws(Fault) -> Entry {
        var numbers: [UInt64] = []
        for _ in 0..<5 { numbers.append(try reader.number(8)) }
        let digest = try reader.bytes(digestBytes).hexadecimal
        let values = try reader.bytes(4 * dimensions)
        let vector = values.withUnsafeBytes { bytes in
            (0..<dimensions).map { place in
                Float(
                    bitPattern: UInt32(
                        littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * place, as: UInt32.self)))
            }
        }
        let stamp = FileFingerprint(
            device: numbers[0], inode: numbers[1], size: Int64(bitPattern: numbers[2]),
            modified: Int64(bitPattern: numbers[3]), changed: Int64(bitPattern: numbers[4]))
        return Entry(stamp: numbers == [0, 0, 0, 0, 0] ? nil : stamp, digest: digest, vector: vector)
    }

    // MARK: Writing

    var bytes: [UInt8] {
        var document = model.json
        document["name"] = .string(name)
        let text = Array(JSON.object(document).text().utf8)
        var out = Self.magic
        func put(_ number: UInt64, _ size: Int) {
            for byte in 0..<size { out.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
        }
        out.reserveCapacity(entries.count * (4 * dimensions + 200) + text.count + 100)
        put(UInt64(Self.version), 4)
        put(UInt64(dimensions), 4)
        put(UInt64(text.count), 4)
        put(0, 4)
        put(UInt64(entries.count), 8)
        out += text
        for (path, entry) in entries.sorted(by: { $0.key < $1.key }) {
            put(UInt64(path.utf8.count), 4)
            out += path.utf8
            let stamp = entry.stamp
            put(stamp?.device ?? 0, 8)
            put(stamp?.inode ?? 0, 8)
            put(UInt64(bitPattern: stamp?.size ?? 0), 8)
            put(UInt64(bitPattern: stamp?.modified ?? 0), 8)
            put(UInt64(bitPattern: stamp?.changed ?? 0), 8)
            out += Self.bytes(ofHex: entry.digest)
            entry.vector.map(\.bitPattern.littleEndian).withUnsafeBytes { out += $0 }
        }
        out += Self.bytes(ofHex: ContentHasher.digest(of: out, like: .sha256("")).hex)
        return out
    }

    /// The bytes of hexadecimal digits, two for each.
    private static func bytes(ofHex text: String) -> [UInt8] {
        func value(_ digit: UInt8) -> UInt8 {
            digit < UInt8(ascii: "a") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
        }
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).map { value(digits[$0]) << 4 | value(digits[$0 + 1]) }
    }
}

/// Reads an index from its front; what would lie behind the end is damage.
private struct IndexReader {
    let bytes: [UInt8]
    var at: Int
    let end: Int

    /// A number of some bytes.
    mutating func number(_ size: Int) throws(PictureIndexFile.Fault) -> UInt64 {
        try bytes(size).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func bytes(_ count: Int) throws(PictureIndexFile.Fault) -> ArraySlice<UInt8> {
        guard count >= 0, count <= end - at else { throw .unusable("it is cut off") }
        defer { at += count }
        return bytes[at..<at + count]
    }
}
