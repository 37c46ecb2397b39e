import HubCore
import HubServer

/// gzip without compression: stored blocks, which every decoder reads. https://www.rfc-editor.org/rfc/rfc1952
enum Gzip {
    /// The response as a server sends it that compresses on the fly: encoded and without a length.
    static func encoded(_ response: HTTPResponse) -> HTTPResponse {
        var out = response
        out.headers["Content-Encoding"] = "gzip"
        out.body = .stream(length: nil, Bytes(encode(bytes(of: response.body))))
        return out
    }

    private final class Bytes: BodyProducer {
        let bytes: [UInt8]
        init(_ bytes: [UInt8]) { self.bytes = bytes }
        func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep {
            let part = bytes.dropFirst(Int(position)).prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.isEmpty ? .end : .bytes(part.count)
        }
    }

    private static func bytes(of body: HTTPBody) -> [UInt8] {
        switch body {
        case .bytes(let bytes): return bytes
        case .file(let file, let range):
            var bytes = [UInt8](repeating: 0, count: range.count)
            let count = bytes.withUnsafeMutableBytes { try? file.descriptor.read(into: $0, at: range.lowerBound) }
            precondition(count == bytes.count, "a fixture cannot be read")
            return bytes
        case .stream: fatalError("what is made while it is sent cannot be encoded here")
        }
    }

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        func little(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
        }
        var out: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65535)
            rest = rest.dropFirst(block.count)
            let length = UInt32(block.count)
            out += [rest.isEmpty ? 1 : 0] + little(length, 2) + little(~length, 2) + block
        } while !rest.isEmpty
        return out + little(crc32(bytes), 4) + little(UInt32(truncatingIfNeeded: bytes.count), 4)
    }

    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
