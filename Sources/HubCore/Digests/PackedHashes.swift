/// The hashes of a file in one small object: trees have up to two million files, and strings would take three times the
/// memory.
struct PackedHashes: @unchecked Sendable {
    /// Bytes of each hash in the store, and whether they are its digits packed two to a byte.
    private struct Header {
        var counts: (UInt16, UInt16, UInt16)
        var arePacked: (Bool, Bool, Bool)
    }

    /// Written once, before it is shared.
    private let store: ManagedBuffer<Header, UInt8>

    typealias Digits = UnsafeBufferPointer<UInt8>

    /// - Parameter oid: any text; lower-case hexadecimal digits of even number are packed, and so for the others.
    init(oid: Digits, sha256: Digits?, xetHash: Digits?) {
        let empty = Digits(start: nil, count: 0)
        let parts = (oid, sha256 ?? empty, xetHash ?? empty)
        let packed = (Self.canPack(parts.0), Self.canPack(parts.1), Self.canPack(parts.2))
        func bytes(_ part: Digits, _ isPacked: Bool) -> Int {
            min(isPacked ? part.count / 2 : part.count, Int(UInt16.max))
        }
        let counts = (bytes(parts.0, packed.0), bytes(parts.1, packed.1), bytes(parts.2, packed.2))
        store = ManagedBuffer<Header, UInt8>.create(minimumCapacity: counts.0 + counts.1 + counts.2) { _ in
            Header(
                counts: (UInt16(counts.0), UInt16(counts.1), UInt16(counts.2)), arePacked: packed)
        }
        store.withUnsafeMutablePointerToElements { place in
            Self.write(parts.0, packed.0, counts.0, to: place)
            Self.write(parts.1, packed.1, counts.1, to: place + counts.0)
            Self.write(parts.2, packed.2, counts.2, to: place + counts.0 + counts.1)
        }
    }

    init(oid: String, sha256: String?, xetHash: String?) {
        func with<Value>(_ text: String?, _ body: (Digits?) -> Value) -> Value {
            guard var text else { return body(nil) }
            return text.withUTF8 { body($0) }
        }
        self = with(oid) { oid in
            with(sha256) { sha256 in with(xetHash) { PackedHashes(oid: oid!, sha256: sha256, xetHash: $0) } }
        }
    }

    var oid: String { text(0)! }
    var sha256: String? { text(1) }
    var xetHash: String? { text(2) }
    var hasSHA256: Bool { store.header.counts.1 > 0 }

    /// The bytes that identify the content: the SHA-256, or else the oid.
    func withDigest<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        store.withUnsafeMutablePointers { header, place in
            let counts = header.pointee.counts
            return counts.1 > 0
                ? body(UnsafeRawBufferPointer(start: place + Int(counts.0), count: Int(counts.1)))
                : body(UnsafeRawBufferPointer(start: place, count: Int(counts.0)))
        }
    }

    private func text(_ part: Int) -> String? {
        store.withUnsafeMutablePointers { header, place in
            let header = header.pointee
            let counts = [header.counts.0, header.counts.1, header.counts.2].map(Int.init)
            if part > 0, counts[part] == 0 { return nil }
            let bytes = Digits(start: place + counts[..<part].reduce(0, +), count: counts[part])
            let arePacked = [header.arePacked.0, header.arePacked.1, header.arePacked.2]
            return arePacked[part] ? Self.digits(bytes) : String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func digits(_ bytes: Digits) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { out in
            for (at, byte) in bytes.enumerated() {
                out[2 * at] = digit(byte >> 4)
                out[2 * at + 1] = digit(byte & 15)
            }
            return bytes.count * 2
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? value + 0x30 : value - 10 + 0x61 }
    private static func value(_ digit: UInt8) -> UInt8 { digit < 0x40 ? digit - 0x30 : digit - 0x61 + 10 }

    private static func canPack(_ digits: Digits) -> Bool {
        digits.count.isMultiple(of: 2) && digits.allSatisfy(\.isLowercaseHex)
    }

    private static func write(
        _ digits: Digits, _ isPacked: Bool, _ count: Int, to place: UnsafeMutablePointer<UInt8>
    ) {
        for at in 0..<count {
            (place + at).initialize(
                to: isPacked ? value(digits[2 * at]) << 4 | value(digits[2 * at + 1]) : digits[at])
        }
    }
}

extension PackedHashes: Hashable {
    static func == (left: PackedHashes, right: PackedHashes) -> Bool {
        left.oid == right.oid && left.sha256 == right.sha256 && left.xetHash == right.xetHash
    }

    func hash(into hasher: inout Hasher) { withDigest { hasher.combine(bytes: $0) } }
}
