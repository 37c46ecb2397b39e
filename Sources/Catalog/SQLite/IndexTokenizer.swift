import CSQLite
import Libc

/// FTS5's own tokenizer, so that texts are split exactly as in the index.
/// https://www.sqlite.org/fts5.html#custom_tokenizers
final class IndexTokenizer {
    /// As the index names it: letters, digits and private use make words, without regard to case and accents.
    static let arguments = ["remove_diacritics", "2"]

    private let functions: fts5_tokenizer
    private let instance: OpaquePointer

    init(_ database: OpaquePointer) throws(SQLiteError) {
        var functions = fts5_tokenizer()
        var data: UnsafeMutableRawPointer?
        var instance: OpaquePointer?
        guard let api = hub_fts5_api(database),
            api.pointee.xFindTokenizer(api, "unicode61", &data, &functions) == SQLITE_OK
        else { throw SQLiteError(extendedCode: SQLITE_ERROR, message: "this SQLite is built without FTS5") }
        let arguments = Self.arguments.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        var pointers = arguments.map { UnsafePointer($0) }
        let code = functions.xCreate(data, &pointers, Int32(pointers.count), &instance)
        guard code == SQLITE_OK, let instance else {
            throw SQLiteError(extendedCode: code, message: "FTS5's tokenizer cannot be made")
        }
        self.functions = functions
        self.instance = instance
    }

    deinit { functions.xDelete(instance) }

    /// The words of a text in their order, folded as the index folds them.
    func words(_ text: String) -> [String] {
        var words: [String] = []
        forEach(text) { words.append(String(decoding: $0, as: UTF8.self)) }
        return words
    }

    /// Calls `body` with the words of a text, as UTF-8 bytes that are valid until it returns.
    func forEach(_ text: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        var text = text
        text.withUTF8 { bytes in
            if bytes.allSatisfy({ $0 < 128 }) {
                Self.forEach(ascii: bytes, body)
            } else {
                forEach(unicode: bytes, body)
            }
        }
    }

    /// The same as FTS5 for ASCII, at a tenth of the cost: letters and digits form words, in lower case.
    private static func forEach(ascii text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: max(text.count, 1), alignment: 1) { folded in
            var begin: Int?
            for (place, byte) in text.enumerated() {
                let isCapital = byte &- UInt8(ascii: "A") < 26
                folded[place] = isCapital ? byte | 0x20 : byte
                if isCapital || byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 {
                    begin = begin ?? place
                } else if let start = begin {
                    body(UnsafeRawBufferPointer(rebasing: folded[start..<place]))
                    begin = nil
                }
            }
            if let begin { body(UnsafeRawBufferPointer(rebasing: folded[begin..<text.count])) }
        }
    }

    private func forEach(unicode text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeRawBufferPointer) -> Void) {
        guard let start = text.baseAddress, let count = Int32(exactly: text.count) else { return }
        withoutActuallyEscaping(body) { body in
            let context = Unmanaged.passRetained(Listener(hear: body))
            defer { context.release() }
            start.withMemoryRebound(to: CChar.self, capacity: text.count) { characters in
                // Only the callback can fail.
                _ = functions.xTokenize(instance, context.toOpaque(), FTS5_TOKENIZE_QUERY, characters, count) {
                    context, _, token, length, _, _ in
                    guard let context, let token else { return SQLITE_OK }
                    Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().hear(
                        UnsafeRawBufferPointer(start: token, count: Int(length)))
                    return SQLITE_OK
                }
            }
        }
    }

    private final class Listener {
        let hear: (UnsafeRawBufferPointer) -> Void
        init(hear: @escaping (UnsafeRawBufferPointer) -> Void) { self.hear = hear }
    }
}
