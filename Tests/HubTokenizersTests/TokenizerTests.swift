import HubCore
import Support
import Testing

@testable import HubTokenizers

@Suite struct TokenizerTests {
    private func read(_ json: JSONObject, path: String = "t") throws -> Tokenizer {
        try Tokenizer(json: Array(JSON.object(json).text().utf8), path: path)
    }

    @Test(arguments: [
        ("tiny-shakespeare", "bpe1024", 60), ("tokenizers/bpe-splitregex", "bpe-splitregex", 60),
        ("tokenizers/bpe-digits", "bpe-digits", 86), ("tokenizers/bpe-llama3", "bpe-llama3", 86),
        ("tokenizers/bpe-bytefallback", "bpe-bytefallback", 60), ("tokenizers/unigram", "unigram", 60),
        ("tokenizers/bert-wordpiece", "bert-wordpiece", 60),
    ])
    func everyGoldenCaseAgrees(fixture: String, golden: String, count: Int) throws {
        let tokenizer = try Tokenizer(folder: Fixtures.path(fixture))
        let cases = try #require(try Fixtures.json("goldens/tokenizer-\(golden).json")["cases"]?.array)
        #expect(cases.count == count)
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
        let tokenizer = try read(json)
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
            return try read(json)
        }
        let plain = try Tokenizer(folder: Fixtures.path("tiny-shakespeare"))
        func ids(_ text: String) throws -> [Int] { try plain.encode(text, addSpecialTokens: false) }
        let text = "a \n\u{3000}<|eos|>\t b"
        #expect(try tokenizer("lstrip").encode(text, addSpecialTokens: false) == ids("a") + [1] + ids("\t b"))
        #expect(
            try tokenizer("rstrip").encode(text, addSpecialTokens: false) == ids("a \n\u{3000}") + [1] + ids("b"))
    }

    @Test(arguments: [
        ("normalizer", #"{"type":"NFX"}"#, "normalizer NFX"),
        ("normalizer", #"{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Novel"}]}"#, "Novel"),
        (
            "pre_tokenizer", #"{"type":"Split","pattern":{"String":"x"},"behavior":"Scattered"}"#,
            "behavior Scattered"
        ),
        ("pre_tokenizer", #"{"type":"Split","pattern":{"Glob":"x"},"behavior":"Removed"}"#, "pattern Glob"),
        (
            "pre_tokenizer", #"{"type":"Metaspace","replacement":"_","prepend_scheme":"last"}"#,
            "prepend_scheme last"
        ),
        ("decoder", #"{"type":"Sequence","decoders":[{"type":"Novel"}]}"#, "decoder Novel"),
        ("decoder", #"{"type":"Replace","pattern":{"Regex":"x"},"content":"y"}"#, "decoder Replace with a Regex"),
        ("pre_tokenizer", #"{"type":"Novel"}"#, "pre_tokenizer Novel"),
        ("post_processor", #"{"type":"Novel"}"#, "post_processor Novel"),
        (
            "post_processor",
            #"{"type":"Sequence","processors":[{"type":"BertProcessing","sep":["a",1],"cls":["b",2]},{"type":"BertProcessing","sep":["a",1],"cls":["b",2]}]}"#,
            "another template"
        ),
        ("model", #"{"type":"Novel","vocab":{}}"#, "model Novel"),
        ("model", #"{"type":"BPE","vocab":{},"merges":[],"dropout":0.1}"#, "dropout"),
        ("novelty", "1", "novelty"),
        ("truncation", #"{"max_length":1,"strategy":"Wild","stride":0}"#, "strategy Wild"),
    ])
    func whatIsNotImplementedIsRefusedByName(key: String, value: String, name: String) async throws {
        var json = try #require(try Fixtures.json("tiny-shakespeare/tokenizer.json").object)
        json[key] = try JSON.parse(value)
        let error = try await thrown { try read(json, path: "/m/tokenizer.json") }
        #expect(error.code == .unsupportedModel)
        #expect(error.message.contains(name), "\(error.message)")
        #expect(error.message.contains("/m/tokenizer.json"))
    }

    /// As in the reference, which writes new ones into files that older versions read.
    @Test(arguments: [
        "tiny-shakespeare", "tokenizers/bpe-splitregex", "tokenizers/bpe-bytefallback", "tokenizers/unigram",
        "tokenizers/bert-wordpiece",
    ])
    func aSettingThatAPartDoesNotKnowChangesNothing(fixture: String) throws {
        func surprising(_ json: JSON, isPart: Bool = true) -> JSON {
            if let list = json.array { return .array(list.map { surprising($0) }) }
            guard var members = json.object else { return json }
            // Names are keys of these.
            for (key, value) in members.members where !["vocab", "pattern", "merges"].contains(key) {
                members[key] = surprising(value, isPart: key != "special_tokens")
            }
            if isPart, members["Sequence"] == nil, members["SpecialToken"] == nil {
                members["surprise"] = .array([1])
            }
            return .object(members)
        }
        let json = try Fixtures.json("\(fixture)/tokenizer.json")
        var root = try #require(surprising(json).object)
        root["surprise"] = nil
        let text = "What light through yonder window breaks? Köln, 12 (hi)."
        let (plain, changed) = (try read(try #require(json.object)), try read(root))
        let ids = try plain.encode(text)
        #expect(try ids.count > 8 && changed.encode(text) == ids)
        #expect(changed.decode(ids) == plain.decode(ids))
    }

    @Test(arguments: [
        ("pre_tokenizer", #"{"type":"Split","behavior":"Removed"}"#, "no pattern"),
        ("pre_tokenizer", #"{"type":"Split","pattern":{"String":"x"}}"#, "no behavior"),
        ("pre_tokenizer", #"{"type":"Split","pattern":{"Regex":"(a"},"behavior":"Removed"}"#, "parenthesis"),
        ("pre_tokenizer", #"{"type":"Sequence"}"#, "pretokenizers"),
        ("pre_tokenizer", #"{"type":"FixedLength","length":0}"#, "length of 0"),
        ("pre_tokenizer", #"{"type":"CharDelimiterSplit","delimiter":"ab"}"#, "not one character"),
        ("normalizer", #"{"type":"Precompiled","precompiled_charsmap":"AAAA"}"#, "truncated"),
        ("normalizer", #"{"type":"Precompiled","precompiled_charsmap":"!"}"#, "Base64"),
        ("model", #"{"type":"Unigram","unk_id":3,"vocab":[["a",0.0]]}"#, "unk_id"),
        ("model", #"{"type":"Unigram","vocab":[["a","b"]]}"#, "token 0"),
        ("model", #"{"type":"BPE","vocab":{"a":4000000000},"merges":[]}"#, "no valid id"),
        ("model", #"{"type":"BPE","vocab":{"a":1,"b":1},"merges":[]}"#, "two tokens have the id 1"),
        ("model", #"{"type":"BPE","vocab":{"a":-1},"merges":[]}"#, "no valid id"),
        ("model", #"{"type":"BPE","vocab":{"a":1,"b":2,"ab":3},"merges":["a b c"]}"#, "merge 0"),
        ("model", #"{"type":"BPE","vocab":{"a":1,"b":2,"ab":3},"merges":[["a"]]}"#, "merge 0"),
    ])
    func whatIsBrokenIsMalformed(key: String, value: String, fault: String) async throws {
        var json = try #require(try Fixtures.json("tiny-shakespeare/tokenizer.json").object)
        json[key] = try JSON.parse(value)
        let error = try await thrown { try read(json, path: "/m/tokenizer.json") }
        #expect(error.code == .malformedModel)
        #expect(error.message.contains(fault) && error.message.contains("/m/tokenizer.json"), "\(error.message)")
    }

    @Test func aMergeOfUnknownTokensIsMalformed() async throws {
        var json = try #require(try Fixtures.json("tiny-shakespeare/tokenizer.json").object)
        var model = try #require(json["model"]?.object)
        model["merges"] = .array(["no such"])
        json["model"] = .object(model)
        #expect(try await thrown { try read(json) }.code == .malformedModel)
    }

    /// Special tokens matched in the normalised text are themselves normalised.
    @Test func addedTokensAreFoundInTheTextTheyAskFor() throws {
        func ids(normalized: Bool, _ text: String) throws -> [Int] {
            var json = try #require(try Fixtures.json("tokenizers/bpe-splitregex/tokenizer.json").object)
            json["added_tokens"] = .array([
                .object(["id": 5000, "content": "cafe\u{301}", "special": true, "normalized": .bool(normalized)])
            ])
            json["post_processor"] = nil
            return try read(json).encode(text)
        }
        #expect(try ids(normalized: true, "caf\u{E9}") == [5000])
        #expect(try ids(normalized: true, "cafe\u{301}") == [5000])
        #expect(try ids(normalized: false, "cafe\u{301}") == [5000])
        #expect(try ids(normalized: false, "caf\u{E9}").count > 1)
    }

    /// The reference finds such a token between all characters.
    @Test func anAddedTokenThatTheNormalizerRemovesIsRefused() async throws {
        let json =
            #"{"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"normalizer":{"type":"Strip","strip_left":true,"strip_right":true},"added_tokens":[{"id":1,"content":"\n","normalized":NORMALIZED}]}"#
        func read(_ normalized: String) throws -> Tokenizer {
            try Tokenizer(json: Array(json.replacing("NORMALIZED", with: normalized).utf8), path: "t")
        }
        #expect(try read("false").encode("a\na") == [0, 1, 0])
        let error = try await thrown { try read("true") }
        #expect(
            error.code == .unsupportedModel && error.message.contains("which the normalizer removes"),
            "\(error.message)")
    }

    @Test func aByteWithoutATokenIsLeftOutWhereNothingStandsForTheUnknown() throws {
        var json = try #require(try Fixtures.json("tokenizers/bpe-digits/tokenizer.json").object)
        #expect(try read(json).encode("\u{1}\u{2}") == [])
        var model = try #require(json["model"]?.object)
        model["unk_token"] = "<|endoftext|>"
        json["model"] = .object(model)
        let unknown = try #require(model["vocab"]?["<|endoftext|>"]?.int)
        #expect(try read(json).encode("\u{1}\u{2}") == [Int(unknown), Int(unknown)])
    }

    @Test(arguments: [
        #"{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"],"unk_token":"<unk>"}"#,
        ###"{"type":"WordPiece","vocab":{"ab":2,"##a":0},"unk_token":"<unk>","continuing_subword_prefix":"##","max_input_chars_per_word":9}"###,
    ])
    func onlyTheUnknownFailsWhereWhatStandsForItIsNoToken(model: String) async throws {
        let tokenizer = try Tokenizer(json: Array(#"{"model":\#(model)}"#.utf8), path: "t")
        #expect(try tokenizer.encode("aba") == [2, 0])
        let error = try await thrown { try tokenizer.encode("abz") }
        #expect(error.code == .generationFailed && error.message.contains("z"), "\(error.message)")
    }

    @Test func theFirstLineOfAListOfMergesIsNone() throws {
        let model = ##"{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["#version: 0.2","a b"]}"##
        #expect(try Tokenizer(json: Array(#"{"model":\#(model)}"#.utf8), path: "t").encode("ab") == [2])
    }

    @Test func aFileOfAnotherVersionIsRefused() async throws {
        func read(_ version: String) throws -> Tokenizer {
            let model = #"{"type":"BPE","vocab":{"a":0},"merges":[]}"#
            return try Tokenizer(json: Array(#"{"version":\#(version),"model":\#(model)}"#.utf8), path: "t")
        }
        #expect(try read(#""1.0""#).encode("a") == [0])
        let error = try await thrown { try read(#""2.0""#) }
        #expect(error.code == .unsupportedModel && error.message.contains("version 2.0"), "\(error.message)")
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
