import HubCore

extension Tokenizer {
    /// The text of ids. What is not UTF-8 becomes U+FFFD; unknown ids are left out, as in the reference.
    public func decode(_ ids: [Int], skipSpecialTokens: Bool = false) -> String {
        if decoder.isByteLevel { return decodeBytes(ids, skipSpecialTokens: skipSpecialTokens) }
        var run = DecodingRun(decoder)
        for id in ids { push(id, to: &run, skipSpecialTokens: skipSpecialTokens) }
        run.finish()
        return run.take()
    }

    /// Begins to decode ids one by one.
    ///
    /// - Parameter kept: special tokens that are not left out.
    public func stream(skipSpecialTokens: Bool = false, except kept: Set<Int> = []) -> TokenStream {
        TokenStream(self, skipSpecialTokens: skipSpecialTokens, except: kept)
    }

    func push(_ id: Int, to run: inout DecodingRun, skipSpecialTokens: Bool) {
        if skipSpecialTokens && specialIDs.contains(id) { return }
        guard let token = spelling(of: id) else { return }
        let isText = showsAddedAsTheyAre && addedSpellings[id] != nil
        run.push(isText ? ByteLevelAlphabet.spelling(of: token) : token, id: id)
    }

    /// The fast path for the usual decoder, which concatenates bytes.
    private func decodeBytes(_ ids: [Int], skipSpecialTokens: Bool) -> String {
        let table = byteSpellings.table(self)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 * ids.count)
        for id in ids {
            if skipSpecialTokens && specialIDs.contains(id) { continue }
            bytes.append(contentsOf: table[id])
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The bytes that the tokens of a byte-level vocabulary stand for, computed on first use.
final class ByteSpellings: Sendable {
    struct Table: Sendable {
        private var bytes: [UInt8] = []
        private var ranges: [Range<Int>] = []
        private var distant: [Int: Range<Int>] = [:]

        init(_ tokenizer: Tokenizer) {
            let vocabulary = tokenizer.model.vocabulary
            let dense = 2 * (vocabulary.count + tokenizer.addedSpellings.count) + 256
            ranges = Array(repeating: 0..<0, count: min(tokenizer.idCount, dense))
            vocabulary.forEach { id, spelling in add(Int(id), spelling) }
            for (id, spelling) in tokenizer.addedSpellings {
                add(id, spelling[...], isText: tokenizer.showsAddedAsTheyAre)
            }
        }

        private mutating func add(_ id: Int, _ spelling: ArraySlice<UInt8>, isText: Bool = false) {
            let start = bytes.count
            if isText || !ByteLevelAlphabet.append(spelling, to: &bytes) { bytes += spelling }
            if id < ranges.count { ranges[id] = start..<bytes.count } else { distant[id] = start..<bytes.count }
        }

        subscript(id: Int) -> ArraySlice<UInt8> {
            if id >= 0, id < ranges.count { return bytes[ranges[id]] }
            return bytes[distant[id] ?? 0..<0]
        }
    }

    private let made = Lock<Table?>(nil)

    func table(_ tokenizer: Tokenizer) -> Table {
        made.withLock { made in
            if let made { return made }
            let table = Table(tokenizer)
            made = table
            return table
        }
    }
}
