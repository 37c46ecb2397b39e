/// Encodes a scan compactly for the catalog.
struct ScanWriter {
    private(set) var bytes: [UInt8] = []
    private var device: UInt64 = 0

    /// - Parameter form: the format version, so that older programs' scans are not read.
    init(form: UInt8) {
        bytes.reserveCapacity(2048)
        bytes.append(form)
    }

    /// A varint: seven bits per byte, the lowest first; the eighth means that more follow.
    mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// A non-negative number.
    mutating func write(_ value: Int64) { write(UInt64(max(0, value))) }
    mutating func write(count: Int) { write(UInt64(max(0, count))) }
    mutating func write(byte: UInt8) { bytes.append(byte) }
    mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
    mutating func write(_ value: Bool?) { bytes.append(value.map { $0 ? 1 : 0 } ?? 2) }

    /// Eight bytes.
    mutating func write(whole value: Int64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    mutating func write(_ time: Double) { write(whole: Int64(bitPattern: time.bitPattern)) }

    /// A text; digests and commits take half a byte per digit.
    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { digits in
            let isLong = digits.count == 40 || digits.count == 64
            let start = bytes.count
            write(UInt64(digits.count) << 1 | (isLong ? 1 : 0))
            if isLong, pack(digits) { return }
            if isLong {
                bytes.removeLast(bytes.count - start)
                write(UInt64(digits.count) << 1)
            }
            bytes.append(contentsOf: digits)
        }
    }

    /// Writes two hex digits per byte; false if not all are hex digits.
    private mutating func pack(_ digits: UnsafeBufferPointer<UInt8>) -> Bool {
        func value(_ digit: UInt8) -> UInt8 {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: 0xFF
            }
        }
        for at in stride(from: 0, to: digits.count, by: 2) {
            let (high, low) = (value(digits[at]), value(digits[at + 1]))
            guard high < 16, low < 16 else { return false }
            bytes.append(high << 4 | low)
        }
        return true
    }

    /// A text and a zero byte, so that it can be passed to system calls without a copy.
    mutating func write(path: String) {
        write(count: path.utf8.count)
        bytes.append(contentsOf: path.utf8)
        bytes.append(0)
    }

    mutating func write<Element>(_ list: [Element], _ body: (Element, inout ScanWriter) -> Void) {
        write(count: list.count)
        for element in list { body(element, &self) }
    }

    /// Nearly all files of a cache are on one device and have one name.
    mutating func write(_ file: PhysicalFile) {
        write(file.identity)
        write(file.links)
        write(file.size)
        write(file.allocated)
        write(file.modified)
        write(file.accessed)
    }

    mutating func write(_ identity: PhysicalFile.Identity) {
        write(identity.device == device)
        if identity.device != device { write(identity.device) }
        device = identity.device
        write(identity.inode)
    }

    mutating func write(_ problem: CacheProblem) {
        write(byte: problem.kind.rawValue)
        write(problem.path)
        write(problem.detail)
    }
}

/// Reads what ``ScanWriter`` wrote. Missing data reads as zero; ``isSound`` reports it at the end.
struct ScanReader {
    private let bytes: UnsafeRawBufferPointer
    private var at = 1
    private var device: UInt64 = 0
    /// Whether all data so far was valid.
    private(set) var isSound: Bool
    /// Whether nothing is left.
    var isAtEnd: Bool { at == bytes.count }

    init(_ bytes: UnsafeRawBufferPointer, form: UInt8) {
        self.bytes = bytes
        isSound = bytes.first == form
    }

    private mutating func take(_ count: Int) -> UnsafeRawBufferPointer {
        guard isSound, count >= 0, count <= bytes.count - at else {
            isSound = false
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        defer { at += count }
        return UnsafeRawBufferPointer(rebasing: bytes[at..<at + count])
    }

    mutating func unsigned() -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            let byte = byte()
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        isSound = false
        return 0
    }

    /// A number of bytes or files; implausible values, which could overflow sums, are invalid.
    mutating func size() -> Int64 {
        let size = unsigned()
        guard size <= UInt64(PhysicalFile.mostBytes) else {
            isSound = false
            return 0
        }
        return Int64(size)
    }

    mutating func count() -> Int { Int(size()) }
    mutating func byte() -> UInt8 { take(1).first ?? 0 }

    mutating func optionalBool() -> Bool? {
        let byte = byte()
        if byte > 2 { isSound = false }
        return byte == 2 ? nil : byte == 1
    }

    mutating func bool() -> Bool { optionalBool() ?? false }

    mutating func whole() -> Int64 {
        let bytes = take(8)
        return bytes.isEmpty ? 0 : Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
    }

    /// Seconds since 1970.
    mutating func time() -> Double {
        let time = Double(bitPattern: UInt64(bitPattern: whole()))
        if !(time.magnitude < 1e12) { isSound = false }
        return isSound ? time : 0
    }

    mutating func text() -> String {
        let head = unsigned()
        guard head >> 1 <= UInt64(bytes.count) else {
            isSound = false
            return ""
        }
        let count = Int(head >> 1)
        guard head & 1 == 1 else { return String(decoding: take(count), as: UTF8.self) }
        let packed = take(count / 2)
        guard isSound else { return "" }
        return String(unsafeUninitializedCapacity: count) { text in
            func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : value + 87 }
            for (index, byte) in packed.enumerated() {
                text[2 * index] = digit(byte >> 4)
                text[2 * index + 1] = digit(byte & 0xF)
            }
            return 2 * packed.count
        }
    }

    /// A zero-terminated path without a copy.
    mutating func path() -> UnsafePointer<CChar>? {
        let text = take(count() + 1)
        guard text.last == 0 else {
            isSound = false
            return nil
        }
        return text.baseAddress?.assumingMemoryBound(to: CChar.self)
    }

    mutating func list<Element>(_ body: (inout ScanReader) -> Element?) -> [Element] {
        let count = count()
        // Each takes at least a byte, so a wrong count cannot cause a large allocation.
        guard isSound, count <= bytes.count - at else {
            isSound = false
            return []
        }
        var list: [Element] = []
        list.reserveCapacity(count)
        for _ in 0..<count {
            guard let element = body(&self), isSound else {
                isSound = false
                return []
            }
            list.append(element)
        }
        return list
    }

    mutating func file() -> PhysicalFile {
        let (identity, links) = (identity(), unsigned())
        return PhysicalFile(
            size: size(), allocated: size(), device: identity.device, inode: identity.inode, links: links,
            modified: time(), accessed: time())
    }

    mutating func identity() -> PhysicalFile.Identity {
        if !bool() { device = unsigned() }
        return PhysicalFile.Identity(device: device, inode: unsigned())
    }

    mutating func problem() -> CacheProblem? {
        guard let kind = CacheProblem.Kind(rawValue: byte()) else { return nil }
        return CacheProblem(kind, text(), text())
    }
}
