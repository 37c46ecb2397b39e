/// Writes the values of a remembered scan one after the other.
struct ScanWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter form: changes with what is written, so that what an older program has written is read anew.
    init(form: UInt8) { bytes.append(form) }

    mutating func write(_ value: Int64) { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }
    mutating func write(_ value: UInt64) { write(Int64(bitPattern: value)) }
    mutating func write(_ value: Double) { write(value.bitPattern) }
    mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
    mutating func write(byte: UInt8) { bytes.append(byte) }

    mutating func write(count: Int) {
        withUnsafeBytes(of: UInt32(clamping: count).littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// A text and a zero byte, so that it can be handed to the system as it lies there.
    mutating func write(_ text: String) {
        write(count: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
    }

    mutating func write<Element>(_ list: [Element], _ body: (Element, inout ScanWriter) -> Void) {
        write(count: list.count)
        for element in list { body(element, &self) }
    }

    mutating func write(_ file: PhysicalFile) {
        write(file.size)
        write(file.device)
        write(file.inode)
        write(file.links)
        write(file.modified)
        write(file.accessed)
    }

    mutating func write(_ problem: CacheProblem) {
        write(byte: problem.kind.rawValue)
        write(problem.path)
        write(problem.detail)
    }
}

/// Reads what ``ScanWriter`` wrote. What is not there reads as nothing, and is told by ``isSound`` at the end.
struct ScanReader {
    private let bytes: UnsafeRawBufferPointer
    private var at = 1
    /// Whether everything so far was there.
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

    mutating func int() -> Int64 {
        let bytes = take(8)
        return bytes.isEmpty ? 0 : Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
    }

    /// A number of bytes or files; what could not be one, and would not add up, is not sound.
    mutating func size() -> Int64 {
        let size = int()
        if !(0...1 << 50).contains(size) { isSound = false }
        return size
    }

    /// Seconds since 1970.
    mutating func time() -> Double {
        let time = Double(bitPattern: unsigned())
        if !(time.magnitude < 1e12) { isSound = false }
        return time
    }

    mutating func unsigned() -> UInt64 { UInt64(bitPattern: int()) }
    mutating func byte() -> UInt8 { take(1).first ?? 0 }
    mutating func bool() -> Bool { byte() != 0 }

    mutating func count() -> Int {
        let bytes = take(4)
        return bytes.isEmpty ? 0 : Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
    }

    /// A text as it lies there, the zero byte behind it.
    mutating func pointer() -> UnsafePointer<CChar>? {
        let text = take(count() + 1)
        guard text.last == 0 else {
            isSound = false
            return nil
        }
        return text.baseAddress?.assumingMemoryBound(to: CChar.self)
    }

    mutating func text() -> String {
        let bytes = take(count())
        guard take(1).first == 0 else {
            isSound = false
            return ""
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func list<Element>(_ body: (inout ScanReader) -> Element?) -> [Element] {
        let count = count()
        // Each takes a byte at least: a count that was made up makes no room for itself.
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
        PhysicalFile(
            size: size(), device: unsigned(), inode: unsigned(), links: unsigned(), modified: time(),
            accessed: time())
    }

    mutating func problem() -> CacheProblem? {
        guard let kind = CacheProblem.Kind(rawValue: byte()) else { return nil }
        return CacheProblem(kind, text(), text())
    }
}
