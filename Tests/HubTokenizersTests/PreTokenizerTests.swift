import HubCore
import Support
import Testing

@testable import HubTokenizers

@Suite struct PreTokenizerTests {
    private func pieces(_ json: JSON, _ text: String) throws -> [String] {
        let part = try TokenizerComponent(json, place: "pre_tokenizer", path: "t")
        var preTokenizer = try PreTokenizer(part)
        preTokenizer.leavesBytes = true
        let pieces = try preTokenizer.cut(TrackedText(untracked: Array(text.utf8)), isAtStart: true)
        return pieces.ranges.map { String(decoding: pieces.text.bytes[$0], as: UTF8.self) }
    }

    /// Every behaviour both ways, digits, and the patterns of Llama 3, GPT-4, GPT-4o and DeepSeek.
    @Test func everyGoldenRowAgrees() throws {
        let rows = try #require(try Fixtures.json("goldens/pre-tokenizers.json")["rows"]?.array)
        #expect(rows.count == 76)
        for row in rows {
            let json = try #require(row["pre_tokenizer"])
            for golden in row["cases"]?.array ?? [] {
                let text = try #require(golden["text"]?.string)
                let found = try pieces(json, text)
                let expected = (golden["pieces"]?.array ?? []).compactMap(\.string)
                // By bytes: String's == takes a composed and a decomposed letter for equal.
                #expect(
                    found.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
                    "\(json.text()) \(text.debugDescription) \(found)")
            }
        }
    }
}

@Suite struct PatternTests {
    /// What Oniguruma and PCRE2 read differently, or only one of them reads at all.
    @Test(arguments: [
        (#"\h+"#, #"\h"#), (#"[\W]"#, #"\W in a set"#), (#"(?i:[\w])"#, #"\w in a set"#),
        (#"[\b]"#, #"\b in a set"#), (#"\R"#, #"\R"#), (#"\G"#, #"\G"#),
        (#"(a)\1"#, #"\1"#),
        (#"\p{Lydian}"#, #"\p{Lydian}"#), (#"\p{^Lydian}"#, #"\p{^Lydian}"#), (#"\pL"#, #"\p without"#),
        (#"(?i:[a[b]])"#, "a set in a set"), (#"[[:alpha:]]"#, "[: in a set"), (#"[a&&]"#, "&& with nothing"),
        (#"[]a]"#, "begins with ]"), (#"[\S]"#, #"\S in a set"#), (#"[\s-a]"#, "hyphen"), (#"[a-\s]"#, "range"),
        (#"[a"#, "does not end"), (#"a\"#, "backslash"), (#"\xE9"#, #"\xe9"#), (#"\x{110000}"#, "not a character"),
        (#"\ud800"#, "not a character"), (#"a{2}+"#, "repeated repetition"), (#"a{2}?"#, "repeated repetition"),
        (#"a**"#, "repeated repetition"), (#"(?=a)*"#, "repeated assertion"), (#"|+"#, "repetition of nothing"),
        (#"a{"#, "{"), (#"a{,}"#, "{"), (#"a{999999}"#, "{"), (#"(?i)a"#, "(?i"), (#"(?m:a)"#, "(?m"),
        (#"(?<n>a)"#, "(?<"), (#"(*FAIL)"#, "(*"), (#"(?#a)"#, "(?#"), (#"(?i:ss)"#, "\"ss\""),
        (#"(?i:St)"#, "\"St\""),
        (#"(?i:é)"#, "\"é\""), (#"(?i:[é])"#, "\"é\""), (#"(?i:[^a])"#, "[^"), (#"(?i:\p{Lu})"#, #"\p{Lu}"#),
        (#"(?i:s{2})"#, "{"), (#"a{70000}"#, "too big"), (#"(?<=a*)b"#, "lookbehind"),
    ])
    func whatWouldMeanSomethingElseIsRefusedByName(pattern: String, name: String) async throws {
        let error = try await thrown { try Pattern(pattern, path: "/m/tokenizer.json") }
        #expect(error.code == .unsupportedModel)
        #expect(error.message.contains(name) && error.message.contains(pattern), "\(error.message)")
        #expect(error.message.contains("/m/tokenizer.json"))
    }

    @Test(arguments: ["(a", "a)", "[b-a]", "a{3,2}"]) func whatIsNoPatternIsMalformed(pattern: String) async throws
    {
        let error = try await thrown { try Pattern(pattern, path: "t") }
        #expect(error.code == .malformedModel && error.message.contains(pattern), "\(error.message)")
    }

    @Test func aPatternOfNestedGroupsWithoutEndIsRefused() async throws {
        let deep = String(repeating: "(", count: 5000) + String(repeating: ")", count: 5000)
        #expect(try await thrown { try Pattern(deep, path: "t") }.code == .unsupportedModel)
        #expect(
            try await thrown { try Pattern(String(repeating: "a", count: 20000), path: "t") }.code
                == .unsupportedModel)
        let large = "(?:(?:(?:a{1,1000}){1,1000}){1,1000}){1,1000}"
        #expect(try await thrown { try Pattern(large, path: "t") }.code == .unsupportedModel)
    }

    /// No single match is long enough to reach a fixed limit, but there is one at each of many places.
    @Test func manyCostlyMatchesAreAnErrorToo() async throws {
        let pattern = try Pattern("(?:a?){20}(?:b|c)", path: "t")
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 10_000)
        let error = try await thrown { try text.withUnsafeBufferPointer { try pattern.matches(in: $0) } }
        #expect(error.code == .generationFailed)
    }

    @Test func aLongTextOfOneKindIsNoRunawayPattern() throws {
        let part = try JSON.parse(
            #"{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+|[^\\s]+"},"behavior":"Isolated"},{"type":"ByteLevel","add_prefix_space":false}]}"#
        )
        let preTokenizer = try PreTokenizer(TokenizerComponent(part, place: "pre_tokenizer", path: "t"))
        for text in [String(repeating: " ", count: 1 << 20) + "x", String(repeating: "é", count: 1 << 19)] {
            let pieces = try preTokenizer.cut(TrackedText(untracked: Array(text.utf8)), isAtStart: true)
            #expect(pieces.ranges.count < 4)
        }
    }
}
