import HubCore
import ModelFormats

/// Iterates over the fields of a message (https://protobuf.dev/programming-guides/encoding/).
struct ProtocolBuffer {
    /// The content of a field.
    enum Value {
        case number(UInt64)
        case bytes(UnsafeBufferPointer<UInt8>)
        case float(Float)

        var isTrue: Bool? { if case .number(let value) = self { value != 0 } else { nil } }
        var int: Int? { if case .number(let value) = self { Int(truncatingIfNeeded: value) } else { nil } }
        var message: UnsafeBufferPointer<UInt8>? { if case .bytes(let bytes) = self { bytes } else { nil } }
        var real: Double? { if case .float(let value) = self { Double(value) } else { nil } }
    }

    /// Calls `body` for each field until it returns false.
    ///
    /// - Returns: false if the message is malformed or `body` stopped.
    static func forEachField(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (_ field: Int, Value) -> Bool) -> Bool {
        var at = 0
        func varint() -> UInt64? {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while at < bytes.count, shift < 64 {
                let byte = bytes[at]
                at += 1
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }
        func take(_ count: UInt64) -> UnsafeBufferPointer<UInt8>? {
            guard count <= UInt64(bytes.count - at) else { return nil }
            defer { at += Int(count) }
            return UnsafeBufferPointer(rebasing: bytes[at..<at + Int(count)])
        }
        while at < bytes.count {
            guard let key = varint(), key >> 3 > 0, key >> 3 < 1 << 29 else { return false }
            var value: Value
            switch key & 7 {
            case 0:
                guard let number = varint() else { return false }
                value = .number(number)
            case 1:
                guard let eight = take(8) else { return false }
                value = .bytes(eight)
            case 2:
                guard let count = varint(), let content = take(count) else { return false }
                value = .bytes(content)
            case 5:
                guard let four = take(4) else { return false }
                let bits = four.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << UInt32(8 * $1.offset) }
                value = .float(Float(bitPattern: bits))
            default: return false
            }
            guard body(Int(key >> 3), value) else { return false }
        }
        return true
    }
}
