import CUTF8Proc
import HubCore
import ModelFormats

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What rewrites a text before it is cut: composition (NFC, https://unicode.org/reports/tr15/) or nothing.
struct Normalizer: Sendable {
    private var composes = false

    /// Reads `normalizer`; nil where it does nothing.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for another kind.
    init(_ part: TokenizerComponent?) throws(AIError) {
        guard let part else { return }
        try add(part)
    }

    private mutating func add(_ part: TokenizerComponent) throws(AIError) {
        switch part.type {
        case "Sequence":
            try part.allowOnly(["normalizers"])
            for member in try part.parts("normalizers") { try add(member) }
        case "NFC":
            try part.allowOnly([])
            composes = true
        default:
            throw part.refuse("")
        }
    }

    /// The text rewritten; nil where it stays as it is.
    ///
    /// - Throws: ``ErrorCode/insufficientMemory``.
    func normalize(_ text: UnsafeBufferPointer<UInt8>) throws(AIError) -> [UInt8]? {
        // Nothing below U+0300, whose first byte is 0xCC, is ever changed or composed (NFC_Quick_Check).
        guard composes, let base = text.baseAddress, text.contains(where: { $0 >= 0xCC }) else { return nil }
        var result: UnsafeMutablePointer<utf8proc_uint8_t>?
        let options = utf8proc_option_t(UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue)
        let count = utf8proc_map(base, text.count, &result, options)
        guard count >= 0, let result else {
            throw AIError(
                .insufficientMemory, "cannot normalise a text: \(String(cString: utf8proc_errmsg(count)))")
        }
        defer { free(result) }
        return Array(UnsafeBufferPointer(start: result, count: count))
    }

    func normalize(_ text: [UInt8]) throws(AIError) -> [UInt8]? {
        let result = text.withUnsafeBufferPointer { text in
            Result { () throws(AIError) in try normalize(text) }
        }
        return try result.get()
    }
}
