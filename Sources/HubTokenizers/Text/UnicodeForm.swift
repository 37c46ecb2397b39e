import CUTF8Proc
import HubCore
import Libc

/// A normalization form (https://unicode.org/reports/tr15/).
enum UnicodeForm: String, Sendable {
    case composed = "NFC"
    case decomposed = "NFD"
    case compatibleComposed = "NFKC"
    case compatibleDecomposed = "NFKD"

    private var composes: Bool { self == .composed || self == .compatibleComposed }
    private var isCompatible: Bool { self == .compatibleComposed || self == .compatibleDecomposed }

    /// A text whose bytes are all lower is already normalised (NF*_Quick_Check): the first characters that change are
    /// U+0300, U+00C0 and U+00A0.
    private var firstByte: UInt8 {
        switch self {
        case .composed: 0xCC
        case .decomposed: 0xC3
        case .compatibleComposed, .compatibleDecomposed: 0xC2
        }
    }

    /// Normalises a text.
    ///
    /// - Throws: ``ErrorCode/insufficientMemory``.
    func normalize(_ text: inout TrackedText) throws(AIError) {
        guard text.bytes.contains(where: { $0 >= firstByte }) else { return }
        guard text.origins != nil || Self.hasManyMarks(text.bytes) else {
            return text.replaceUntracked(try normalized(text.bytes))
        }
        var changes = decomposition(of: text.bytes)
        if composes { changes = Self.composition(of: changes) }
        text.transform(changes)
    }

    private func normalized(_ text: [UInt8]) throws(AIError) -> [UInt8] {
        var options = UTF8PROC_STABLE.rawValue
        options |= composes ? UTF8PROC_COMPOSE.rawValue : UTF8PROC_DECOMPOSE.rawValue
        if isCompatible { options |= UTF8PROC_COMPAT.rawValue }
        var result: UnsafeMutablePointer<utf8proc_uint8_t>?
        let count = text.withUnsafeBufferPointer {
            utf8proc_map($0.baseAddress, $0.count, &result, utf8proc_option_t(options))
        }
        guard count >= 0, let result else {
            throw AIError(
                .insufficientMemory, "cannot normalise a text: \(String(cString: utf8proc_errmsg(count)))")
        }
        defer { free(result) }
        return Array(UnsafeBufferPointer(start: result, count: count))
    }

    /// The decomposed scalars with marks in canonical order, and the changes as the reference's iterator reports them
    /// (https://github.com/n1t0/unicode-normalization).
    private func decomposition(of text: [UInt8]) -> [TrackedText.Change] {
        var options = UTF8PROC_DECOMPOSE.rawValue | UTF8PROC_STABLE.rawValue
        if isCompatible { options |= UTF8PROC_COMPAT.rawValue }
        var changes: [TrackedText.Change] = []
        var pending: [(rank: Int32, change: TrackedText.Change)] = []
        func flush() {
            // Stable: marks of the same combining class keep their order.
            for entry in pending.enumerated().sorted(by: {
                ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset)
            }) {
                changes.append(entry.element.change)
            }
            pending.removeAll(keepingCapacity: true)
        }
        var parts = [Int32](repeating: 0, count: 32)
        text.withUnsafeBufferPointer { text in
            var at = 0
            while at < text.count {
                let (value, width) = text.scalar(at: at)
                at += width
                var boundary: Int32 = 0
                let count = utf8proc_decompose_char(
                    Int32(bitPattern: value), &parts, parts.count, utf8proc_option_t(options), &boundary)
                let known = count > 0 && count <= parts.count
                if !known { parts[0] = Int32(bitPattern: value) }
                for index in 0..<(known ? count : 1) {
                    let rank = Self.combiningClass(parts[index])
                    if rank == 0 { flush() }
                    let change = TrackedText.Change(
                        scalar: UInt32(bitPattern: parts[index]), change: index == 0 ? 0 : 1)
                    pending.append((rank, change))
                    if rank == 0 { flush() }
                }
            }
        }
        flush()
        return changes
    }

    /// Whether there is a long run of marks, which utf8proc sorts in quadratic time.
    private static func hasManyMarks(_ text: [UInt8]) -> Bool {
        // A run of more than 256 bytes contains a probed offset with 32 marks after it.
        let (step, many) = (128, 32)
        return text.withUnsafeBufferPointer { bytes in
            stride(from: step - 1, to: bytes.count, by: step).contains { place in
                var at = place
                while at > 0, bytes[at] & 0xC0 == 0x80 { at -= 1 }
                var count = 0
                while at < bytes.count, count < many {
                    let (value, width) = bytes.scalar(at: at)
                    guard combiningClass(Int32(bitPattern: value)) != 0 else { return false }
                    count += 1
                    at += width
                }
                return count == many
            }
        }
    }

    private static func combiningClass(_ scalar: Int32) -> Int32 {
        scalar < 0x300 ? 0 : Int32(utf8proc_get_property(scalar).pointee.combining_class)
    }

    /// Composes scalars in the manner of the same iterator.
    private static func composition(of parts: [TrackedText.Change]) -> [TrackedText.Change] {
        var result: [TrackedText.Change] = []
        var starter: TrackedText.Change?
        var held: [TrackedText.Change] = []
        var lastRank: Int32?
        func flush() {
            if let starter { result.append(starter) }
            result += held
            held.removeAll(keepingCapacity: true)
            lastRank = nil
        }
        for part in parts {
            let rank = combiningClass(Int32(bitPattern: part.scalar))
            guard let before = starter else {
                if rank == 0 { starter = part } else { result.append(part) }
                continue
            }
            let isBlocked = lastRank.map { $0 >= rank } ?? false
            if !isBlocked, let joined = pair(before.scalar, part.scalar) {
                starter = TrackedText.Change(scalar: joined, change: before.change + part.change - 1)
            } else if rank == 0 {
                flush()
                starter = part
            } else {
                held.append(part)
                lastRank = rank
            }
        }
        flush()
        return result
    }

    /// The composition of two scalars.
    private static func pair(_ first: UInt32, _ second: UInt32) -> UInt32? {
        // Nothing below U+0300 composes with the scalar before it.
        guard second >= 0x300 else { return nil }
        var both = [Int32(bitPattern: first), Int32(bitPattern: second)]
        let options = utf8proc_option_t(UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue)
        return utf8proc_normalize_utf32(&both, 2, options) == 1 ? UInt32(bitPattern: both[0]) : nil
    }
}
