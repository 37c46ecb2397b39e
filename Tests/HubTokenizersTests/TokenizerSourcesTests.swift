import HubCore
import Support
import Testing

@testable import HubTokenizers

/// Vocabularies of GGUF files, and files that are broken.
@Suite struct TokenizerSourcesTests {
    private func goldenCases(_ name: String) throws -> [JSON] {
        try #require(try Fixtures.json("goldens/tokenizer-\(name).json")["cases"]?.array)
    }

    /// The tokens of a tokenizer.json in the order of their ids.
    private func tokens(_ json: JSON) throws -> [String] {
        var tokens: [Int: String] = [:]
        for (token, id) in try #require(json["model"]?["vocab"]?.object).members {
            tokens[Int(id.int ?? -1)] = token
        }
        for token in json["added_tokens"]?.array ?? [] {
            tokens[Int(token["id"]?.int ?? -1)] = token["content"]?.string
        }
        return try (0..<tokens.count).map { try #require(tokens[$0]) }
    }

    @Test func aVocabularyOfBytePairsEncodesAsItsTokenizerFile() throws {
        let json = try Fixtures.json("tiny-shakespeare/tokenizer.json")
        var vocabulary = GGUFVocabulary(
            model: "gpt2", preTokenizer: "gpt-2", tokens: try tokens(json).map { Array($0.utf8) })
        vocabulary.merges = (json["model"]?["merges"]?.array ?? []).map {
            Array(($0.array ?? []).compactMap(\.string).joined(separator: " ").utf8)
        }
        let special = Set((json["added_tokens"]?.array ?? []).compactMap { $0["id"]?.int.map(Int.init) })
        vocabulary.types = vocabulary.tokens.indices.map { special.contains($0) ? 3 : 1 }
        vocabulary.beginID = 0
        vocabulary.addsBegin = true
        let tokenizer = try Tokenizer(vocabulary, path: "m.gguf")
        for golden in try goldenCases("bpe1024") {
            let text = try #require(golden["text"]?.string)
            #expect(try tokenizer.encode(text) == golden["ids_with_special"]?.ids, "\(text.debugDescription)")
            #expect(tokenizer.decode(golden["ids"]?.ids ?? []) == golden["decoded"]?.string)
        }
    }

    @Test func aVocabularyOfWordPiecesEncodesAsItsTokenizerFile() throws {
        let json = try Fixtures.json("tokenizers/bert-wordpiece/tokenizer.json")
        let tokens = try tokens(json).map { token in
            token.hasPrefix("##")
                ? String(token.dropFirst(2)) : token.hasPrefix("[") && token.count > 1 ? token : "▁" + token
        }
        var vocabulary = GGUFVocabulary(model: "bert", tokens: tokens.map { Array($0.utf8) })
        vocabulary.types = tokens.map { ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].contains($0) ? 3 : 1 }
        (vocabulary.unknownID, vocabulary.classID, vocabulary.separatorID) = (1, 2, 3)
        let tokenizer = try Tokenizer(vocabulary, path: "m.gguf")
        for golden in try goldenCases("bert-wordpiece") {
            let text = try #require(golden["text"]?.string)
            #expect(try tokenizer.encode(text) == golden["ids_with_special"]?.ids, "\(text.debugDescription)")
        }
    }

    /// SentencePiece's own models, converted to GGUF metadata.
    @Test(arguments: [("llama", "bpe-bytes"), ("t5", "unigram")])
    func aVocabularyOfScoredPiecesEncodesAsSentencePiece(model: String, name: String) throws {
        let rows = try #require(try Fixtures.json("goldens/tokenizer-parts.json")["sentencepiece"]?.array)
        let golden = try #require(rows.first { $0["name"]?.string == name })
        let bytes = Base64.bytes(try #require(golden["model"]?.string))
        var vocabulary = GGUFVocabulary(model: model, tokens: [])
        let isWhole = try #require(bytes).withUnsafeBufferPointer { bytes in
            ProtocolBuffer.forEachField(bytes) { field, value in
                guard let message = value.message else { return true }
                if field == 1 { self.addPiece(message, to: &vocabulary) }
                return ProtocolBuffer.forEachField(message) { inner, value in
                    if field == 3, inner == 2 { vocabulary.charsmap = value.message.map { Array($0) } ?? [] }
                    return true
                }
            }
        }
        #expect(isWhole)
        (vocabulary.addsBegin, vocabulary.addsEnd, vocabulary.unknownID) = (false, false, 0)
        let tokenizer = try Tokenizer(vocabulary, path: "m.gguf")
        for item in golden["cases"]?.array ?? [] {
            let text = try #require(item.array?[0].string)
            let ids = try tokenizer.encode(text)
            #expect(ids == item.array?[1].ids, "\(text.debugDescription)")
            #expect(Array(tokenizer.decode(ids).utf8) == item.array?[2].string.map { Array($0.utf8) })
        }
    }

    private func addPiece(_ message: UnsafeBufferPointer<UInt8>, to vocabulary: inout GGUFVocabulary) {
        var piece: ([UInt8], Float, Int) = ([], 0, 1)
        _ = ProtocolBuffer.forEachField(message) { field, value in
            switch field {
            case 1: piece.0 = value.message.map { Array($0) } ?? []
            case 2: piece.1 = Float(value.real ?? 0)
            default: piece.2 = value.int ?? 1
            }
            return true
        }
        vocabulary.tokens.append(piece.0)
        vocabulary.scores.append(piece.1)
        vocabulary.types.append(piece.2)
    }

    @Test func whatAVocabularyLacksIsNamed() async throws {
        func fault(_ change: (inout GGUFVocabulary) -> Void) async throws -> AIError {
            var vocabulary = GGUFVocabulary(
                model: "gpt2", preTokenizer: "gpt-2", tokens: [Array("a".utf8), Array("b".utf8)])
            change(&vocabulary)
            return try await thrown { try Tokenizer(vocabulary, path: "/m/x.gguf") }
        }
        let unknown = try await fault { $0.preTokenizer = "novel" }
        #expect(unknown.code == .unsupportedModel && unknown.message.contains("novel"))
        #expect(try await fault { $0.model = "rwkv" }.message.contains("rwkv"))
        #expect(try await fault { $0.merges = [Array("a c".utf8)] }.message.contains("merge 0"))
        #expect(try await fault { $0.types = [1] }.code == .malformedModel)
        let nameless = try await fault { $0.addsBegin = true }
        #expect(nameless.code == .malformedModel && nameless.message.contains("begin"), "\(nameless.message)")
        #expect(try await fault { $0.tokens[1] = [0xFF] }.message.contains("token 1"))
        #expect(try await fault { $0.model = "llama" }.message.contains("scores"))
    }

    @Test func hugeIDsTakeNoHugeMemory() throws {
        let json =
            #"{"model":{"type":"WordLevel","vocab":{"a":2147483647,"b":0},"unk_token":"b"},"added_tokens":[{"id":2000000000,"content":"<x>","special":true}]}"#
        let tokenizer = try Tokenizer(json: Array(json.utf8), path: "t")
        #expect(try tokenizer.encode("a<x>b") == [2_147_483_647, 2_000_000_000, 0])
        #expect(tokenizer.decode([2_147_483_647, 2_000_000_000, 5]) == "a <x>")
        #expect(tokenizer.idCount == 2_147_483_648)
    }

    /// Merges whose result is one of their parts, and one that makes itself.
    @Test func mergesThatLeadNowhereEnd() throws {
        let json =
            #"{"model":{"type":"BPE","vocab":{"":0,"a":1,"aa":2,"aaa":3,"aaaa":4},"merges":[["a","a"],["aa","a"],["a","aa"],["","a"],["a",""],["",""],["aa","aa"]]}}"#
        let tokenizer = try Tokenizer(json: Array(json.utf8), path: "t")
        #expect(try tokenizer.encode("aaaa") == [4])
        #expect(try tokenizer.encode(String(repeating: "a", count: 101)).count == 26)
    }

    @Test func tokensSpelledAlikeKeepTheirIDs() throws {
        let unigram = #"{"model":{"type":"Unigram","unk_id":0,"vocab":[["u",-9.0],["a",-1.0],["a",-5.0]]}}"#
        let tokenizer = try Tokenizer(json: Array(unigram.utf8), path: "t")
        #expect(try tokenizer.encode("a") == [2])
        #expect(tokenizer.decode([1, 2]) == "a a")
        let pairs = #"{"model":{"type":"BPE","vocab":{"a":1,"a":2},"merges":[]}}"#
        #expect(try Tokenizer(json: Array(pairs.utf8), path: "t").encode("a") == [2])
    }

    /// The reference takes either of them, now this one and now that.
    @Test func ofAddedTokensThatAreOneTextWhenNormalizedTheFirstCounts() throws {
        let json =
            #"{"model":{"type":"BPE","vocab":{"a":0,"b":1,"x":2},"merges":[]},"normalizer":{"type":"Lowercase"},"#
            + #""added_tokens":[{"id":3,"content":"Ab","normalized":true},{"id":4,"content":"AB","normalized":true}]}"#
        let tokenizer = try Tokenizer(json: Array(json.utf8), path: "t")
        #expect(try tokenizer.encode("xABaba") == [2, 3, 3, 0])
        #expect(tokenizer.decode([3, 4]) == "ab ab")
    }
}
