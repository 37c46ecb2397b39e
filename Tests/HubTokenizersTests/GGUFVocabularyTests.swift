import HubCore
import ModelFormats
import Support
import Testing

@testable import HubTokenizers

/// What GGUF files leave unsaid, as llama.cpp was seen to take it.
@Suite struct GGUFVocabularyTests {
    /// `▁▁` scores so little that it is made last.
    private func llama(_ change: (inout GGUFVocabulary) -> Void = { _ in }) throws -> Tokenizer {
        let tokens: [(String, Int, Float)] = [
            ("<unk>", 2, 0), ("<s>", 3, 0), ("</s>", 3, 0), ("▁", 1, -1), ("h", 1, -2), ("i", 1, -3), ("hi", 1, -4),
            ("▁hi", 1, -5), ("<u>", 4, 0), ("<e>", 3, 0), ("▁▁", 4, -9), ("\n", 1, -10),
        ]
        var vocabulary = GGUFVocabulary(model: "llama", tokens: tokens.map { Array($0.0.utf8) })
        vocabulary.types = tokens.map(\.1)
        vocabulary.scores = tokens.map(\.2)
        change(&vocabulary)
        return try Tokenizer(vocabulary, path: "m.gguf")
    }

    private func bytePair(_ tokens: [(String, Int)], _ change: (inout GGUFVocabulary) -> Void) throws -> Tokenizer {
        var vocabulary = GGUFVocabulary(
            model: "gpt2", preTokenizer: "gpt-2", tokens: tokens.map { Array($0.0.utf8) })
        vocabulary.types = tokens.map(\.1)
        change(&vocabulary)
        return try Tokenizer(vocabulary, path: "m.gguf")
    }

    @Test func usualIDsStandInForThoseTheFileDoesNotName() throws {
        #expect(try llama().encode("hi") == [1, 7])
        #expect(try llama { $0.addsEnd = true }.encode("hi") == [1, 7, 2])
        #expect(try llama { $0.beginID = 99 }.encode("hi") == [1, 7])
        #expect(try llama { $0.beginID = 9 }.encode("hi") == [9, 7])
        let letters = "abcdefghijklm".map { (String($0), 1) }
        #expect(try bytePair(letters) { $0.addsBegin = true }.encode("c") == [11, 2])
        #expect(try bytePair(letters) { $0.preTokenizer = "tekken" }.encode("c") == [11, 2])
        #expect(try bytePair(letters) { $0.preTokenizer = "qwen2" }.encode("c") == [2])
        #expect(throws: AIError.self) {
            try bytePair(letters) { ($0.preTokenizer, $0.addsBegin) = ("glm4", true) }
        }
    }

    @Test func tokensOfTheUserAreFoundFirstAndMergeAsOthersDo() throws {
        let tokenizer = try llama()
        #expect(try tokenizer.encode("<u>hi", addSpecialTokens: false) == [8, 7])
        #expect(try tokenizer.encode("hi<u>hi<unk>hi", addSpecialTokens: false) == [7, 8, 7, 0, 7])
        #expect(try tokenizer.encode("  hi", addSpecialTokens: false) == [10, 7])
        #expect(try tokenizer.encode("▁▁hi", addSpecialTokens: false) == [10, 7])
    }

    @Test func whiteSpaceBesideATokenGoesByTheNameOfTheModel() throws {
        #expect(try llama().encode("<e>\nhi", addSpecialTokens: false) == [9, 3, 11, 6])
        let phi = try llama { $0.name = "Phi-3 Mini" }
        #expect(try phi.encode("<e>\n hi", addSpecialTokens: false) == [9, 7])
        #expect(try phi.encode("<u> hi</s> \nhi", addSpecialTokens: false) == [8, 7, 2, 7])
        #expect(try phi.encode("<s>\nhi", addSpecialTokens: false) == [1, 3, 11, 6])
        let tokens = [("a", 1), ("Ġ", 1), ("<mask>", 3), ("[MASK]", 3)]
        let text = "a <mask> [MASK]"
        #expect(try bytePair(tokens) { _ in }.encode(text) == [0, 1, 2, 1, 3])
        #expect(try bytePair(tokens) { $0.preTokenizer = "jina-v2-de" }.encode(text) == [0, 2, 1, 3])
        #expect(try bytePair(tokens) { $0.architecture = "jina-bert-v3" }.encode(text) == [0, 2, 1, 3])
        #expect(try bytePair(tokens) { $0.name = "Modern-BERT" }.encode(text) == [0, 1, 2, 3])
    }

    /// Gemma 4: byte tokens, `▁` for spaces, and no byte-level characters.
    @Test func sentencesOfBytePairsAreCutAtLinesAlone() throws {
        let tokens: [(String, Int)] = [
            ("<bos>", 3), ("a", 1), ("▁", 1), ("▁a", 1), ("a▁", 1), ("\n", 1), ("\n\n", 1), ("\n\n\n", 1),
            ("<0xC3>", 6), ("<0xA9>", 6), ("<u▁>", 4), ("Ġ", 1),
        ]
        func tokenizer(_ model: String, _ pre: String?, _ change: (inout GGUFVocabulary) -> Void = { _ in }) throws
            -> Tokenizer
        {
            var vocabulary = GGUFVocabulary(
                model: model, preTokenizer: pre, tokens: tokens.map { Array($0.0.utf8) })
            vocabulary.types = tokens.map(\.1)
            vocabulary.merges = ["▁ a", "a ▁", "\n \n"].map { Array($0.utf8) }
            vocabulary.beginID = 0
            change(&vocabulary)
            return try Tokenizer(vocabulary, path: "m.gguf")
        }
        for (model, pre) in [("gemma4", nil), ("gemma4", "llama-bpe"), ("gpt2", "granite-embed-multi-311m")] {
            let tokenizer = try tokenizer(model, pre) { $0.addsBegin = false }
            #expect(tokenizer.kind == "BPE")
            #expect(try tokenizer.encode("a a  ") == [0, 1, 3, 2, 2])
            let ids = try tokenizer.encode("aé\n\n\n<u▁>Ġ", addSpecialTokens: false)
            #expect(ids == [1, 8, 9, 7, 10, 11])
            #expect(tokenizer.decode(ids) == "aé\n\n\n<u >Ġ")
            // A character that has no bytes either is left out.
            #expect(try tokenizer.encode("\n\n\n\nb", addSpecialTokens: false) == [6, 6])
        }
        let other = try tokenizer("gpt2", "sarvam-moe")
        #expect(try other.encode("\n\n\n a") == [6, 5, 3])
        #expect(throws: AIError.self) { try tokenizer("gemma4", nil) { $0.beginID = nil } }
    }

    @Test func tokensOfBERTAreAroundATextWhateverTheFlagsSay() throws {
        let tokens = ["[UNK]", "[CLS]", "[SEP]", "▁a", "▁A", "b"]
        var vocabulary = GGUFVocabulary(model: "bert", tokens: tokens.map { Array($0.utf8) })
        vocabulary.types = [3, 3, 3, 1, 1, 1]
        (vocabulary.unknownID, vocabulary.classID, vocabulary.separatorID) = (0, 1, 2)
        (vocabulary.addsBegin, vocabulary.addsEnd) = (false, false)
        #expect(try Tokenizer(vocabulary, path: "m").encode("Ab x") == [1, 3, 5, 0, 2])
        vocabulary.lowercases = false
        #expect(try Tokenizer(vocabulary, path: "m").encode("Ab") == [1, 4, 5, 2])
        vocabulary.separatorID = nil
        #expect(throws: AIError.self) { try Tokenizer(vocabulary, path: "m") }
    }

    @Test func tokensForControlAreShownUnlessTheyAreSkipped() throws {
        let tokenizer = try llama()
        #expect(tokenizer.decode([1, 7, 9, 7, 2]) == "<s> hi<e> hi</s>")
        #expect(tokenizer.decode([1, 7, 9, 7, 2], skipSpecialTokens: true) == "hi hi")
        var stream = tokenizer.stream()
        #expect([1, 7, 2].map { stream.add($0) } == ["<s>", " hi", "</s>"])
    }

    /// What ends a text: the keys' tokens, and known texts as llama.cpp takes them.
    @Test(arguments: [
        ("a 1 <|im_end|> 3", [1]), ("a 1 <|im_end|> 1 <end_of_turn> 4", [1, 2]),
        ("</s> 4 [EOT] 4 <x> 3", []), ("</s> 3 [EOT] 3 <eos> 3", [0, 1, 2]),
        ("<|end|> 3 <|return|> 3 <|call|> 3", [1, 2]), ("<|end|> 3 <|call|> 3", [0, 1]),
        ("<|end|> 3 <|flush|> 3 <|calls|> 3", [1, 2]), ("</s> 3 <|tool_response> 3 <turn|> 3", [1, 2]),
    ])
    func whatEndsATextIsNamedOrKnown(list: String, ends: [Int]) throws {
        let words = list.split(separator: " ").map(String.init)
        let tokens = stride(from: 0, to: words.count, by: 2).map { (words[$0], Int(words[$0 + 1]) ?? 0) }
        #expect(try bytePair(tokens) { _ in }.ends == Set(ends))
        let named = try bytePair(tokens + [("e", 1), ("o", 1)]) {
            ($0.endID, $0.otherEndIDs) = (tokens.count, [tokens.count + 1, 999])
        }
        #expect(named.ends == Set(ends + [tokens.count, tokens.count + 1]))
    }

    @Test func aTokenThatEndsATurnIsForControlWhateverItsType() throws {
        let tokenizer = try bytePair([("a", 1), ("<|im_end|>", 1), ("<", 1)]) { _ in }
        #expect(try tokenizer.encode("a<|im_end|>a<") == [0, 1, 0, 2])
        #expect(tokenizer.decode([0, 1, 2], skipSpecialTokens: true) == "a<")
    }

    @Test func wordsWithoutMergesAreMalformed() async throws {
        #expect(try bytePair([("a", 1), ("Ġ", 1), ("<|im_end|>", 3)]) { _ in }.encode("a a") == [0, 1, 0])
        let error = try await thrown { try bytePair([("a", 1), ("b", 1), ("ab", 1)]) { _ in } }
        #expect(error.code == .malformedModel && error.message.contains("no merges"), "\(error.message)")
    }

    /// The same in tokenizer.json, where words may be tokens that are added, or be taken whole.
    @Test func wordsWithoutMergesAreMalformedInAnyFile() async throws {
        func open(_ vocabulary: String, _ more: String = "", added: String = "") throws {
            let folder = try TemporaryFolder()
            try folder.write(
                "tokenizer.json",
                #"{"added_tokens":[\#(added)],"model":{"type":"BPE","vocab":{\#(vocabulary)},"merges":[]\#(more)}}"#
            )
            _ = try Tokenizer(folder: folder.path)
        }
        let token =
            #"{"id":2,"content":"ab","special":true,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false}"#
        try open(#""a":0,"b":1"#)
        try open(#""a":0,"b":1"#, added: token)
        try open(#""a":0,"b":1,"ab":2"#, #","ignore_merges":true"#)
        let error = try await thrown { try open(#""a":0,"b":1,"ab":2"#) }
        #expect(error.code == .malformedModel && error.message.contains("no merges"), "\(error.message)")
    }

    /// A flag that is a number, an id that is a text.
    @Test(
        arguments: [
            ("add_eos_token", UInt32(4), [1, 0, 0, 0]), ("mask_token_id", 8, GGUFBytes.text("1")),
            ("cls_token_id", 8, GGUFBytes.text("1")),
        ] as [(String, UInt32, [UInt8])])
    func aValueOfTheWrongTypeIsNamed(key: String, type: UInt32, value: [UInt8]) async throws {
        let folder = try TemporaryFolder()
        let file = try Fixtures.bytes("tiny-shakespeare-gguf/model-q4_0.gguf")
        try folder.write(
            "m.gguf", GGUFBytes.adding([GGUFBytes.pair("tokenizer.ggml.\(key)", type, value)], to: file))
        let gguf = try GGUFFile(folder("m.gguf"))
        if key == "mask_token_id" {
            #expect(throws: AIError.self) { try GGUFTokenizerValues(gguf).id("mask") }
        } else {
            let error = #expect(throws: AIError.self) { try GGUFVocabulary(gguf) }
            #expect(error?.message.contains(key) == true)
        }
    }

    /// Each type of number that is no id is named.
    @Test(
        arguments: [
            (UInt32(6), GGUFBytes.little(Float(1.5).bitPattern), "1.5"), (7, [1], "true"),
            (12, GGUFBytes.little(Double(2).bitPattern), "2.0"),
        ] as [(UInt32, [UInt8], String)])
    func idsThatAreNoWholeNumbersAreNamed(type: UInt32, value: [UInt8], shown: String) throws {
        let folder = try TemporaryFolder()
        let list = GGUFBytes.little(type) + GGUFBytes.little(UInt64(1)) + value
        let pair = GGUFBytes.pair("tokenizer.ggml.eos_token_ids", 9, list)
        let file = try Fixtures.bytes("tiny-shakespeare-gguf/model-q4_0.gguf")
        try folder.write("m.gguf", GGUFBytes.adding([pair], to: file))
        let gguf = try GGUFFile(folder("m.gguf"))
        let error = #expect(throws: AIError.self) { try GGUFTokenizerValues(gguf).ends() }
        #expect(error?.code == .malformedModel)
        #expect(error?.message.hasSuffix("tokenizer.ggml.eos_token_ids: \(shown) is no whole number") == true)
    }

    @Test func anAddedTokenOfBytePairsIsTextAsItIs() throws {
        let tokenizer = try bytePair([("a", 1), ("÷", 4), ("Ã", 1), ("·", 1)]) { _ in }
        #expect(try tokenizer.encode("a÷") == [0, 1])
        #expect(tokenizer.decode([0, 1, 2, 3]) == "a÷÷")
        var stream = tokenizer.stream()
        #expect([0, 1, 2, 3].map { stream.add($0) } == ["a", "÷", "", "÷"])
    }
}

/// The splits of the pre-tokenizers, as observed in llama.cpp where its expressions agree.
@Suite struct GGUFPreTokenizerTests {
    @Test(arguments: [
        ("mellum", "a12", ["a", "12"]), ("mellum2", "a12", ["a", "1", "2"]),
        ("deepseek-llm", "héllo na世界 42!\n", ["h", "é", "llo", " na", "世界", " ", "42", "!", "\n"]),
        ("superbpe", "a 1234567", ["a ", "1", "234", "567"]), ("afmoe", "a1234567", ["a", "1", "234", "567"]),
        ("tiny_aya", "1234567", ["1", "234", "567"]), ("minicpm5", "12345", ["123", "45"]),
        ("viking", "ab12 c", ["ab", "1", "2", " c"]), ("kimi-k2", "世界hello's", ["世界", "hello's"]),
        ("seed-coder", "a!!\n\nb", ["a", "!!", "\n\n", "b"]), ("bailingmoe", "a\n\nb", ["a", "\n\n", "b"]),
        ("exaone-moe", "hello world 1", ["hello world", " ", "1"]), ("jais-2", "     x", ["    ", " x"]),
        ("laguna", "a!\n\nb", ["a", "!", "\n\n", "b"]), ("youtu", "가나abc", ["가나", "abc"]),
        ("chameleon", "a  b.c", ["a", "  ", "b", ".", "c"]), ("spark2_5", "a!\n\n", ["a", "!", "\n", "\n"]),
        ("ufakzeka", "Ali'ye", ["Ali", "'ye"]), ("qwen2", "it's", ["it", "'s"]),
        ("qwen35", "a\u{302}b", ["âb"]), ("hy_v4", "a1234", ["a", "123", "4"]),
        ("granite-embed-multi-97m", "helloWorld", ["hello", "World"]),
    ])
    func eachCutsItsOwnWay(name: String, text: String, pieces: [String]) throws {
        let rules = try GGUFPreTokenizer(name, path: "m.gguf")
        var tracked = TrackedText(untracked: Array(text.utf8))
        try rules.normalizer.normalize(&tracked)
        var preTokenizer = rules.preTokenizer
        preTokenizer.leavesBytes = true
        let found = try preTokenizer.cut(tracked, isAtStart: true)
        #expect(found.ranges.map { Array(found.text.bytes[$0]) } == pieces.map { Array($0.utf8) })
    }

    @Test(arguments: [
        "bailingmoe2", "llada-moe", "cohere2moe", "joyai-llm", "grok-2", "solar-open", "kormo", "f2llmv2",
        "a.x-4.0",
        "modern-bert", "exaone4", "jina-v5-nano", "minimax-m2", "talkie",
    ])
    func eachIsKnown(name: String) throws { _ = try GGUFPreTokenizer(name, path: "m.gguf") }
}
