import HubCore
import Testing

@testable import InferenceKit

@Suite struct TokenizerTests {
    @Test func everyGoldenCaseAgrees() throws {
        let tokenizer = try Tokenizer(folder: Fixtures.path("tiny-shakespeare"))
        let cases = try #require(try Fixtures.json("goldens/tokenizer-bpe1024.json")["cases"]?.array)
        #expect(cases.count == 60)
        for golden in cases {
            let text = try #require(golden["text"]?.string)
            let ids = try tokenizer.encode(text, addSpecialTokens: false)
            #expect(ids == golden["ids"]?.ids, "\(text.debugDescription)")
            #expect(try tokenizer.encode(text) == golden["ids_with_special"]?.ids)
            // By bytes: String's == takes a composed and a decomposed letter for equal.
            #expect(Array(tokenizer.decode(ids).utf8) == golden["decoded"]?.string.map { Array($0.utf8) })
            #expect(
                Array(tokenizer.decode(ids, skipSpecialTokens: true).utf8)
                    == golden["decoded_skip_special"]?.string.map { Array($0.utf8) })
        }
    }

    @Test func heldoutTextComesBackWhole() throws {
        let tokenizer = try Tokenizer(folder: Fixtures.path("tiny-shakespeare"))
        let text = try Fixtures.text("heldout.txt")
        let ids = try tokenizer.encode(text, addSpecialTokens: false)
        let golden = try #require(try Fixtures.json("goldens/tiny-shakespeare.json")["perplexity"])
        #expect(Array(ids.prefix(8)) == golden["first_8_ids"]?.ids)
        #expect(tokenizer.decode(ids) == text)
    }

    @Test func mergesMayBeStrings() throws {
        var json = try #require(try Fixtures.json("tiny-shakespeare/tokenizer.json").object)
        var model = try #require(json["model"]?.object)
        model["merges"] = .array(
            try #require(model["merges"]?.array).map {
                .string(($0.array ?? []).compactMap(\.string).joined(separator: " "))
            })
        json["model"] = .object(model)
        let tokenizer = try Tokenizer(.object(json), path: "tokenizer.json")
        let reference = try Tokenizer(folder: Fixtures.path("tiny-shakespeare"))
        let text = "What light through yonder window breaks?"
        #expect(try tokenizer.encode(text) == reference.encode(text))
    }

    @Test func aMegabyteOfOneLetterIsNoQuadraticWork() throws {
        let tokenizer = try Tokenizer(folder: Fixtures.path("tiny-shakespeare"))
        let text = String(repeating: "z", count: 100_000)
        #expect(try tokenizer.decode(tokenizer.encode(text, addSpecialTokens: false)) == text)
    }

    @Test func addedTokensTakeTheWhiteSpaceTheyAskFor() throws {
        func tokenizer(_ strips: String) throws -> Tokenizer {
            var json = try #require(try Fixtures.json("tiny-shakespeare/tokenizer.json").object)
            var tokens = try #require(json["added_tokens"]?.array)
            var token = try #require(tokens[1].object)
            token[strips] = true
            tokens[1] = .object(token)
            json["added_tokens"] = .array(tokens)
            return try Tokenizer(.object(json), path: "tokenizer.json")
        }
        let plain = try Tokenizer(folder: Fixtures.path("tiny-shakespeare"))
        func ids(_ text: String) throws -> [Int] { try plain.encode(text, addSpecialTokens: false) }
        let text = "a \n\u{3000}<|eos|>\t b"
        #expect(try tokenizer("lstrip").encode(text, addSpecialTokens: false) == ids("a") + [1] + ids("\t b"))
        #expect(
            try tokenizer("rstrip").encode(text, addSpecialTokens: false) == ids("a \n\u{3000}") + [1] + ids("b"))
    }

    @Test(arguments: [
        ("normalizer", #"{"type":"NFC"}"#, "normalizer NFC"),
        ("pre_tokenizer", #"{"type":"Whitespace"}"#, "pre_tokenizer Whitespace"),
        (
            "pre_tokenizer", #"{"type":"ByteLevel","add_prefix_space":false,"surprise":1}"#,
            "ByteLevel with surprise"
        ),
        ("decoder", #"{"type":"WordPiece"}"#, "decoder WordPiece"),
        ("post_processor", #"{"type":"BertProcessing"}"#, "post_processor BertProcessing"),
        ("model", #"{"type":"Unigram","vocab":[]}"#, "model Unigram"),
        ("model", #"{"type":"BPE","vocab":{},"merges":[],"byte_fallback":true}"#, "byte_fallback"),
        ("model", #"{"type":"BPE","vocab":{},"merges":[],"dropout":0.1}"#, "dropout"),
        ("novelty", "1", "novelty"),
        (
            "added_tokens", #"[{"id":0,"content":"<|bos|>","single_word":true,"special":true}]"#, "single_word"
        ),
    ])
    func whatIsNotImplementedIsRefusedByName(key: String, value: String, name: String) async throws {
        var json = try #require(try Fixtures.json("tiny-shakespeare/tokenizer.json").object)
        json[key] = try JSON.parse(value)
        let error = try await thrown { try Tokenizer(.object(json), path: "/m/tokenizer.json") }
        #expect(error.code == .unsupportedModel)
        #expect(error.message.contains(name), "\(error.message)")
        #expect(error.message.contains("/m/tokenizer.json"))
    }

    @Test func aMergeOfUnknownTokensIsMalformed() async throws {
        var json = try #require(try Fixtures.json("tiny-shakespeare/tokenizer.json").object)
        var model = try #require(json["model"]?.object)
        model["merges"] = .array(["no such"])
        json["model"] = .object(model)
        #expect(try await thrown { try Tokenizer(.object(json), path: "t") }.code == .malformedModel)
    }

    @Test func aRunawayPatternIsAnErrorAndNotAHang() async throws {
        let pattern = try Pattern("(a+)+$|(?:a?){30}b", path: "t")
        let text = Array((String(repeating: "a", count: 64) + "!").utf8)
        let error = try await thrown { try text.withUnsafeBufferPointer { try pattern.matches(in: $0) } }
        #expect(error.code == .generationFailed)
    }
}

@Suite struct TextAssemblerTests {
    @Test func piecesJoinedEqualTheWhole() {
        // Characters of all lengths, and every kind of fault: stray, cut short, overlong, surrogate, too large.
        let texts: [[UInt8]] = [
            Array("añ€😀z".utf8), [0x80, 0x41, 0xE2, 0x82], [0xC0, 0xAF, 0xE0, 0x80, 0x80],
            [0xED, 0xA0, 0x80, 0x42],
            [0xF4, 0x90, 0x80, 0x80], [0xF0, 0x9F, 0x98, 0x43, 0xF0, 0x9F], [0xFF, 0xE2, 0x82, 0xE2, 0x82, 0xAC],
        ]
        for bytes in texts {
            for size in 1...4 {
                var assembler = TextAssembler()
                var pieces: [String] = []
                for start in stride(from: 0, to: bytes.count, by: size) {
                    pieces.append(assembler.add(Array(bytes[start..<min(start + size, bytes.count)])))
                }
                pieces.append(assembler.finish())
                #expect(pieces.joined() == String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    @Test func neverHalfACharacter() {
        var assembler = TextAssembler()
        let emoji = Array("😀".utf8)
        #expect(emoji.dropLast().map { assembler.add([$0]) } == ["", "", ""])
        #expect(assembler.add([emoji[3]]) == "😀")
    }
}
