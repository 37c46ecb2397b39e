import HubCore
import Support
import Testing

@testable import HubTokenizers

/// The reference's results for tokenizers of every kind, made by Tests/Peers/make_tokenizer_goldens.py and
/// make_tokenizer_corner_goldens.py.
@Suite struct TokenizerPartsTests {
    private static func goldens(_ key: String) throws -> [JSON] {
        try ["parts", "corners"].flatMap { name in
            try #require(try Fixtures.json("goldens/tokenizer-\(name).json")[key]?.array)
        }
    }

    private func tokenizer(_ json: JSON) throws -> Tokenizer {
        try Tokenizer(json: Array(json.text().utf8), path: "t")
    }

    @Test func everyKindOfTokenizerAgrees() throws {
        let all = try Self.goldens("tokenizers")
        #expect(all.count == 29)
        for golden in all {
            let name = golden["name"]?.string ?? ""
            let tokenizer = try tokenizer(try #require(golden["json"]))
            for item in golden["cases"]?.array ?? [] {
                let text = try #require(item["text"]?.string)
                let about: Comment = "\(name) \(text.debugDescription)"
                let ids = try tokenizer.encode(text, addSpecialTokens: false)
                #expect(ids == item["ids"]?.ids, about)
                #expect(try tokenizer.encode(text) == item["special"]?.ids, about)
                let tokens = try tokenizer.encoding(text, addSpecialTokens: false).tokens
                #expect(tokens.map(\.id) == ids, about)
                for token in tokens { #expect(token.range.upperBound <= text.utf8.count, about) }
                if let offsets = item["offsets"]?.array {
                    #expect(tokens.map { characters($0.range, text) } == offsets.map(\.ids), about)
                    let found = try tokenizer.encode(text, nil, addSpecialTokens: false, withOffsets: true)
                    #expect(found.offsets?.map { [$0.lowerBound, $0.upperBound] } == offsets.map(\.ids), about)
                    #expect(found.ids == ids, about)
                }
                #expect(tokens.map(\.word) == item["words"]?.array?.map { $0.int.map(Int.init) }, about)
                expectBytes(tokenizer.decode(ids), item["decoded"], about)
                let full = try tokenizer.encode(text)
                expectBytes(tokenizer.decode(full, skipSpecialTokens: true), item["skipped"], about)
                expectBytes(streamed(tokenizer, ids), item["decoded"], about)
            }
        }
    }

    @Test func pairsTruncationAndPaddingAgree() throws {
        let tokenizers = Dictionary(
            uniqueKeysWithValues: try Self.goldens("tokenizers").map { ($0["name"]?.string ?? "", $0["json"]) })
        for golden in try Self.goldens("pairs") {
            var json = try #require(tokenizers[golden["tokenizer"]?.string ?? ""]??.object)
            json["truncation"] = golden["truncation"]
            json["padding"] = golden["padding"]
            let tokenizer = try tokenizer(.object(json))
            for item in golden["cases"]?.array ?? [] {
                let first = try #require(item["first"]?.string)
                let second = item["second"]?.string
                let about: Comment =
                    "\(item.text()) \(golden["truncation"]?.text() ?? "") \(golden["tokenizer"]?.text() ?? "")"
                func encoding() throws -> Encoding {
                    try tokenizer.encoding(
                        first, pair: second, addSpecialTokens: item["special"]?.bool == true, appliesLimits: true)
                }
                if item["fails"] != nil {
                    #expect(throws: AIError.self, about) { try encoding() }
                    continue
                }
                let tokens = try encoding().tokens
                #expect(tokens.map(\.id) == item["ids"]?.ids, about)
                #expect(tokens.map(\.typeID) == item["types"]?.ids, about)
                #expect(tokens.map { $0.isPadding ? 0 : 1 } == item["mask"]?.ids, about)
                #expect(tokens.map { $0.isSpecial ? 1 : 0 } == item["added"]?.ids, about)
                let ranges = tokens.map { characters($0.range, $0.sequence == 1 ? second ?? "" : first) }
                #expect(ranges == item["offsets"]?.array?.map(\.ids), about)
            }
        }
    }

    /// The library's own call, whose limit is a parameter.
    @Test(arguments: [true, false]) func pairsAgreeWithAndWithoutOffsets(withOffsets: Bool) throws {
        let tokenizers = Dictionary(
            uniqueKeysWithValues: try Self.goldens("tokenizers").map { ($0["name"]?.string ?? "", $0["json"]) })
        var compared = 0
        for golden in try Self.goldens("pairs") {
            let truncation = golden["truncation"]
            var json = try #require(tokenizers[golden["tokenizer"]?.string ?? ""]??.object)
            json["truncation"] = truncation
            let tokenizer = try tokenizer(.object(json))
            let strategy = truncation?["strategy"]?.string.flatMap(TruncationStrategy.init)
            for item in golden["cases"]?.array ?? [] {
                let first = try #require(item["first"]?.string)
                func encode() throws -> TokenizedText {
                    try tokenizer.encode(
                        first, item["second"]?.string, addSpecialTokens: item["special"]?.bool == true,
                        maxTokens: truncation?["max_length"]?.int.map(Int.init), cutting: strategy ?? .longestFirst,
                        withOffsets: withOffsets)
                }
                let about: Comment = "\(item.text()) \(golden["tokenizer"]?.text() ?? "")"
                compared += 1
                if item["fails"] != nil {
                    #expect(throws: AIError.self, about) { try encode() }
                    continue
                }
                let tokens = try encode()
                // The file's padding is not part of it.
                let mask = item["mask"]?.ids ?? []
                func unpadded<T>(_ list: [T]?) -> [T]? {
                    list.map { zip($0, mask).filter { $0.1 == 1 }.map(\.0) }
                }
                #expect(tokens.ids == unpadded(item["ids"]?.ids), about)
                #expect(tokens.types == unpadded(item["types"]?.ids), about)
                #expect(tokens.isSpecial.map { $0 ? 1 : 0 } == unpadded(item["added"]?.ids), about)
                let offsets = tokens.offsets?.map { [$0.lowerBound, $0.upperBound] }
                #expect(offsets == (withOffsets ? unpadded(item["offsets"]?.array?.map(\.ids)) : nil), about)
            }
        }
        #expect(compared == 260)
    }

    @Test func everyNormalizerAgrees() throws {
        for golden in try Self.goldens("normalizers") {
            let part = try TokenizerComponent(try #require(golden["json"]), place: "normalizer", path: "t")
            let normalizer = try Normalizer(part)
            for item in golden["cases"]?.array ?? [] {
                let text = try #require(item.array?[0].string)
                let about: Comment = "\(golden["json"]?.text().prefix(200) ?? "") \(text.debugDescription)"
                for isTracked in [false, true] {
                    var tracked = Array(text.utf8).withUnsafeBufferPointer {
                        TrackedText($0, base: 0, isTracked: isTracked)
                    }
                    try normalizer.normalize(&tracked)
                    #expect(tracked.bytes == item.array?[1].string.map { Array($0.utf8) }, about)
                    guard isTracked else { continue }
                    let pieces = try PreTokenizer([.fixedLength(1)]).cut(tracked, isAtStart: true)
                    let origins = pieces.ranges.map { characters(tracked.origin(of: $0) ?? 0..<0, text) }
                    #expect(origins == item.array?[2].array?.map(\.ids), about)
                }
            }
        }
    }

    @Test func everyPreTokenizerAgrees() throws {
        for golden in try Self.goldens("pre_tokenizers") {
            let part = try TokenizerComponent(try #require(golden["json"]), place: "pre_tokenizer", path: "t")
            let preTokenizer = try PreTokenizer(part)
            for item in golden["cases"]?.array ?? [] {
                let text = try #require(item.array?[0].string)
                let about: Comment = "\(golden["json"]?.text() ?? "") \(text.debugDescription)"
                for isTracked in [true, false] where isTracked || !preTokenizer.needsOrigins(normalizes: false) {
                    let tracked = Array(text.utf8).withUnsafeBufferPointer {
                        TrackedText($0, base: 0, isTracked: isTracked)
                    }
                    let pieces = try preTokenizer.cut(tracked, isAtStart: true)
                    let rows = item.array?[1].array ?? []
                    let found = pieces.ranges.map { Array(pieces.text.bytes[$0]) }
                    #expect(found == rows.compactMap { $0.array?[0].string.map { Array($0.utf8) } }, about)
                    guard isTracked else { continue }
                    let origins = pieces.ranges.map { characters(pieces.text.origin(of: $0) ?? 0..<0, text) }
                    #expect(
                        origins == rows.map { $0.array?.dropFirst().compactMap { $0.int.map(Int.init) } }, about)
                }
            }
        }
    }

    /// All at once, and token by token.
    @Test func everyDecoderAgrees() throws {
        for golden in try Self.goldens("decoders") {
            let part = try TokenizerComponent(try #require(golden["json"]), place: "decoder", path: "t")
            let decoder = try TokenDecoder(part)
            for item in golden["cases"]?.array ?? [] {
                let tokens = (item.array?[0].array ?? []).compactMap { $0.string.map { Array($0.utf8) } }
                var run = DecodingRun(decoder)
                var text = ""
                for token in tokens {
                    run.push(token, id: 0)
                    // Only whole characters are ever handed over.
                    #expect(String(validating: run.output, as: UTF8.self) != nil)
                    text += run.take()
                }
                run.finish()
                expectBytes(text + run.take(), item.array?[1], "\(golden["json"]?.text() ?? "") \(item.text())")
            }
        }
    }

    @Test func everySentencePieceModelAgrees() throws {
        for golden in try Self.goldens("sentencepiece") {
            let model = try #require(golden["model"]?.string.flatMap { Base64.bytes($0) })
            let tokenizer = try Tokenizer(try SentencePieceFile(model, path: "m").parts(), path: "m")
            for item in golden["cases"]?.array ?? [] {
                let text = try #require(item.array?[0].string)
                let about: Comment = "\(golden["name"]?.string ?? "") \(text.debugDescription)"
                let ids = try tokenizer.encode(text)
                #expect(ids == item.array?[1].ids, about)
                #expect(try tokenizer.encoding(text).ids == ids, about)
                expectBytes(tokenizer.decode(ids), item.array?[2], about)
                expectBytes(streamed(tokenizer, ids), item.array?[2], about)
            }
        }
    }

    // MARK: What the tests share

    private func streamed(_ tokenizer: Tokenizer, _ ids: [Int]) -> String {
        var stream = tokenizer.stream()
        return ids.map { stream.add($0) }.joined() + stream.finish()
    }

    /// By bytes: String's == takes a composed and a decomposed letter for equal.
    private func expectBytes(_ text: String, _ golden: JSON?, _ about: Comment) {
        #expect(Array(text.utf8) == golden?.string.map { Array($0.utf8) }, about)
    }

    /// Offsets in characters, as Python counts them.
    private func characters(_ range: Range<Int>, _ text: String) -> [Int] {
        let bytes = Array(text.utf8)
        func count(_ end: Int) -> Int { bytes[..<end].count { $0 & 0xC0 != 0x80 } }
        return [count(range.lowerBound), count(range.upperBound)]
    }
}
