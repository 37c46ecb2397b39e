import HubCore
import Support
import Testing

@testable import HubTokenizers

/// Tokenizers that would make much of little, or that give large numbers.
@Suite struct TokenizerLimitsTests {
    private static let words = #""model":{"type":"WordLevel","vocab":{"a":0,"b":1},"unk_token":"b"}"#

    private func tokenizer(_ parts: String, model: String = words) throws -> Tokenizer {
        try Tokenizer(json: Array("{\(model),\(parts)}".utf8), path: "/m/tokenizer.json")
    }

    /// A part as often as asked, each in the list that `key` names.
    private func sequence(_ key: String, _ parts: [String], times: Int) -> String {
        let list = Array(repeating: parts, count: times).joined().joined(separator: ",")
        return #"{"type":"Sequence","\#(key)":[\#(list)]}"#
    }

    private static let replace =
        #"{"type":"Replace","pattern":{"String":"a"},"content":"\#(String(repeating: "a", count: 600))"}"#

    @Test(arguments: [
        ("normalizers", [replace], 3, "normalizer Replace"),
        ("normalizers", [#"{"type":"Replace","pattern":{"Regex":""},"content":"aa"}"#], 40, "normalizer Replace"),
        (
            "normalizers", [#"{"type":"Prepend","prepend":"\#(String(repeating: "a", count: 20_000))"}"#], 100,
            "normalizer Prepend"
        ),
        ("normalizers", [#"{"type":"ByteLevel"}"#], 40, "normalizer ByteLevel"),
        (
            "pretokenizers",
            [
                #"{"type":"ByteLevel","add_prefix_space":true,"use_regex":false}"#
            ], 40, "pre_tokenizer ByteLevel"
        ),
        (
            "pretokenizers",
            [
                #"{"type":"Metaspace","replacement":"▁"}"#, #"{"type":"FixedLength","length":1}"#,
                #"{"type":"Metaspace","replacement":"_"}"#, #"{"type":"FixedLength","length":1}"#,
            ], 40, "pre_tokenizer Metaspace"
        ),
    ])
    func noPartMakesGigabytesOfALetter(key: String, parts: [String], times: Int, name: String) async throws {
        let place = key == "normalizers" ? "normalizer" : "pre_tokenizer"
        let tokenizer = try tokenizer("\"\(place)\":" + sequence(key, parts, times: times))
        let error = try await thrown { try tokenizer.encode("aé") }
        #expect(error.code == .generationFailed && error.message.contains(name), "\(error.message)")
        let tracked = try await thrown { try tokenizer.encoding("aé") }
        #expect(tracked.message.contains(name), "\(tracked.message)")
    }

    /// Each segment between added tokens alone makes little.
    @Test func manySegmentsShareOneLimit() async throws {
        let content = String(repeating: "b", count: 4096)
        let added = #"[{"id":2,"content":"<x>","special":true}]"#
        let tokenizer = try tokenizer(
            #""added_tokens":\#(added),"normalizer":{"type":"Prepend","prepend":"\#(content)"}"#)
        #expect(try tokenizer.encode(String(repeating: "a<x>", count: 100)).count == 200)
        let error = try await thrown { try tokenizer.encode(String(repeating: "a<x>", count: 1000)) }
        #expect(error.message.contains("normalizer Prepend"))
    }

    @Test func rulesThatMakeMuchAreAnErrorToo() async throws {
        // One rule, for "a", in a double array of 1 KiB: the node of "a" with a leaf, and the leaf.
        var units = [UInt32](repeating: 0, count: 256)
        units[0x61] = 0x61 | 1 << 8 | 1 << 10
        units[0x60] = 1 << 31
        var blob: [UInt8] = [0, 4, 0, 0]
        for unit in units { for shift in [0, 8, 16, 24] as [UInt32] { blob.append(UInt8(unit >> shift & 0xFF)) } }
        blob += [UInt8](repeating: UInt8(ascii: "b"), count: 4096) + [0]
        let map = try Charsmap(blob, path: "t")
        func normalizer(_ step: Normalizer.Step, _ count: Int) throws -> Int {
            var text = TrackedText(untracked: [UInt8](repeating: UInt8(ascii: "a"), count: count))
            text.allow(TrackedText.limit(bytes: count))
            try Normalizer([step]).normalize(&text)
            return text.bytes.count
        }
        for step in [.charsmap(map), .sentencePiece(SentencePieceNormalizer(charsmap: map, addsPrefix: false))]
            as [Normalizer.Step]
        {
            #expect(try normalizer(step, 10) == 40960)
            #expect(try await thrown { try normalizer(step, 1000) }.code == .generationFailed)
        }
    }

    @Test(arguments: [
        ("normalizer", "normalizers", #"{"type":"NFC"}"#, "more than 256 steps"),
        ("pre_tokenizer", "pretokenizers", #"{"type":"WhitespaceSplit"}"#, "more than 256 steps"),
        ("decoder", "decoders", #"{"type":"Strip","content":"a","start":1,"stop":1}"#, "more than 256 steps"),
    ])
    func aChainWithoutEndIsRefused(place: String, key: String, part: String, fault: String) async throws {
        _ = try tokenizer("\"\(place)\":" + sequence(key, [part], times: 200))
        let error = try await thrown { try tokenizer("\"\(place)\":" + sequence(key, [part], times: 300)) }
        #expect(error.code == .unsupportedModel && error.message.contains(fault), "\(error.message)")
    }

    /// Decoding has no error, so what would make too much is not read.
    @Test func aDecoderThatMakesMuchIsRefused() async throws {
        let twice = #"{"type":"Replace","pattern":{"String":"a"},"content":"aa"}"#
        let decoded = try tokenizer(#""decoder":"# + sequence("decoders", [twice], times: 6)).decode([0])
        #expect(decoded == String(repeating: "a", count: 64))
        for parts in [
            sequence("decoders", [twice], times: 7), sequence("decoders", [Self.replace], times: 1),
            sequence("decoders", [#"{"type":"BPEDecoder","suffix":""}"#], times: 7),
        ] {
            let error = try await thrown { try tokenizer(#""decoder":"# + parts) }
            #expect(error.code == .unsupportedModel && error.message.contains("64 times"), "\(error.message)")
        }
    }

    /// 2^31 turns for each token would take minutes.
    @Test func aStripOfManyCharactersLooksOnlyAtThoseThatAreThere() throws {
        let strip = #"{"type":"Strip","content":"a","start":2147483647,"stop":2147483647}"#
        #expect(try tokenizer(#""decoder":\#(strip)"#).decode([0, 1, 0, 1]) == "bb")
        let fused = #"{"type":"Sequence","decoders":[{"type":"Fuse"},\#(strip)]}"#
        let ids = [0, 1] + Array(repeating: 0, count: 20_000)
        #expect(try tokenizer(#""decoder":\#(fused)"#).decode(ids) == "b")
        #expect(try tokenizer(#""decoder":\#(fused)"#).decode(ids + [1]).utf8.count == 20_002)
    }

    @Test(arguments: [
        (#"[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"A","type_id":0}}]"#, "sequence A twice"),
        (
            "[" + Array(repeating: #"{"SpecialToken":{"id":"x","type_id":0}}"#, count: 41).joined(separator: ",")
                + "]",
            "more than 4096 tokens"
        ),
    ])
    func aTemplateOfAnyLengthIsRefused(pieces: String, fault: String) async throws {
        let ids = Array(repeating: "0", count: 100).joined(separator: ",")
        let error = try await thrown {
            try tokenizer(
                #""post_processor":{"type":"TemplateProcessing","single":\#(pieces),"pair":[],"special_tokens":{"x":{"id":"x","ids":[\#(ids)],"tokens":[]}}}"#
            )
        }
        #expect(error.code == .unsupportedModel && error.message.contains(fault), "\(error.message)")
    }

    /// Each token of two spaces would be as long as all the whitespace after it.
    @Test func whitespaceThatIsTakenTooOftenIsAnError() async throws {
        let tokenizer = try tokenizer(#""added_tokens":[{"id":2,"content":"  ","special":true,"rstrip":true}]"#)
        #expect(try tokenizer.encoding(String(repeating: " ", count: 1000)).ids.count == 500)
        let error = try await thrown { try tokenizer.encode(String(repeating: " ", count: 20_000)) }
        #expect(error.code == .generationFailed && error.message.contains("whitespace"))
    }

    @Test(arguments: ["9223372036854775807", "9223372036854775808", "18446744073709551615", "4294967296"])
    func aLimitBeyondAllTextsIsNone(most: String) throws {
        let tokenizer = try tokenizer(
            #""truncation":{"max_length":\#(most),"strategy":"LongestFirst","stride":\#(most),"direction":"Right"}"#
        )
        #expect(try tokenizer.encoding("a", appliesLimits: true).ids == [0])
    }

    @Test(arguments: ["-1", "1.5", "1e30", "\"9\""]) func whatIsNoLimitIsMalformed(most: String) async throws {
        let error = try await thrown {
            try tokenizer(#""truncation":{"max_length":\#(most),"strategy":"LongestFirst"}"#)
        }
        #expect(error.code == .malformedModel && error.message.contains("max_length"))
    }

    @Test func whatAFileSaysIsQuotedShort() async throws {
        let long = String(repeating: "x", count: 10_000)
        for pattern in [long + "\\\\G", "(" + long, "\\\\p{" + long + "}"] {
            let error = try await thrown {
                try tokenizer(
                    #""pre_tokenizer":{"type":"Split","pattern":{"Regex":"\#(pattern)"},"behavior":"Removed"}"#)
            }
            #expect(error.message.utf8.count < 700 && error.message.contains("xxx"), "\(error.message)")
        }
        let error = try await thrown { try tokenizer(#""decoder":{"type":"\#(long)"}"#) }
        #expect(error.message.utf8.count < 700)
    }

    /// A rule for the first byte of a character, which SentencePiece would not load.
    @Test func aRuleForHalfACharacterMatchesNothing() throws {
        var units = [UInt32](repeating: 0, count: 256)
        units[0xC3] = 0xC3 | 1 << 8 | 1 << 10
        units[0xC2] = 1 << 31
        var blob: [UInt8] = [0, 4, 0, 0]
        for unit in units { for shift in [0, 8, 16, 24] as [UInt32] { blob.append(UInt8(unit >> shift & 0xFF)) } }
        let map = try Charsmap(blob + Array("x\0".utf8), path: "t")
        var text = TrackedText(untracked: Array("éaé".utf8))
        try SentencePieceNormalizer(charsmap: map, addsPrefix: false).normalize(&text)
        #expect(text.bytes == Array("éaé".utf8))
    }
}
