import HubCore
import HubGrammar
import Support
import Testing

/// Lists whose elements must differ: no two are equal, as values are compared, and none comes to where it cannot go on.
@Suite struct UniqueTests {
    private func schema(_ text: String) throws -> OutputGrammar {
        try OutputGrammar(jsonSchema: try JSON.parse(text))
    }

    /// The texts of a list with one or no space behind each comma.
    private static func spaced(_ lists: [[String]]) -> Set<String> {
        var found: Set<String> = []
        for list in lists {
            var texts = ["[" + (list.first ?? "")]
            for element in list.dropFirst() {
                texts = texts.map { $0 + "," + element } + texts.map { $0 + ", " + element }
            }
            for text in texts { found.insert(text + "]") }
        }
        return found
    }

    private static let long = String(repeating: "x", count: 257)

    static let languages: [(String, [[String]])] = [
        (
            #"{"type":"array","items":{"enum":[1,2,"a"]},"uniqueItems":true,"maxItems":2}"#,
            [
                [], ["1"], ["2"], ["\"a\""], ["1", "2"], ["2", "1"], ["1", "\"a\""], ["\"a\"", "1"],
                ["2", "\"a\""], ["\"a\"", "2"],
            ]
        ),
        // It ends where no element is left, though more were allowed.
        (
            #"{"type":"array","items":{"type":"boolean"},"uniqueItems":true,"minItems":2}"#,
            [["true", "false"], ["false", "true"]]
        ),
        // One is the beginning of another.
        (
            #"{"type":"array","items":{"enum":[1,11,111]},"uniqueItems":true,"minItems":3}"#,
            [
                ["1", "11", "111"], ["1", "111", "11"], ["11", "1", "111"], ["11", "111", "1"], ["111", "1", "11"],
                ["111", "11", "1"],
            ]
        ),
        // So it is with long ones.
        (
            #"{"type":"array","items":{"enum":["\#(long)","\#(long)y"]},"uniqueItems":true,"minItems":2}"#,
            [["\"\(long)\"", "\"\(long)y\""], ["\"\(long)y\"", "\"\(long)\""]]
        ),
        // 1 and 1.0 are equal.
        (
            #"{"type":"array","items":{"anyOf":[{"const":1.0},{"type":"integer","minimum":1,"maximum":1}]},"uniqueItems":true}"#,
            [[], ["1"]]
        ),
        // Lists and objects as elements.
        (
            #"{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"array","items":{"const":1},"maxItems":2}}"#,
            [
                ["[]", "[1]", "[1,1]"], ["[]", "[1,1]", "[1]"], ["[1]", "[]", "[1,1]"], ["[1]", "[1,1]", "[]"],
                ["[1,1]", "[]", "[1]"], ["[1,1]", "[1]", "[]"],
            ]
        ),
        (
            #"{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"array","items":{"enum":[1,2]},"uniqueItems":true,"minItems":2}}"#,
            [["[1,2]", "[2,1]"], ["[2,1]", "[1,2]"]]
        ),
        (
            #"{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"object","properties":{"b":{"const":1},"a":{"enum":[1,2]}},"required":["a","b"]}}"#,
            [[#"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#], [#"{"a":2,"b":1}"#, #"{"a":1,"b":1}"#]]
        ),
        (#"{"type":"array","items":{"const":{"b":1,"a":2}},"uniqueItems":true}"#, [[], [#"{"a":2,"b":1}"#]]),
        (#"{"type":"array","items":{"enum":[1]},"uniqueItems":false,"maxItems":2}"#, [[], ["1"], ["1", "1"]]),
    ]

    @Test(arguments: languages) func smallLanguagesAreWhole(source: String, lists: [[String]]) throws {
        let language = try Words.language(.answer(schema(source)))
        #expect(language == Self.spaced(lists))
        let validator = PlainValidator(try JSON.parse(source))
        for text in language { #expect(validator.isValid(try JSON.parse(text)), "\(text)") }
    }

    /// However they are drawn, they end or go on; the shortest have exactly as many values as they need.
    @Test(arguments: [
        #"{"type":"array","items":{"type":"string","pattern":"^[ab]{1,2}$"},"uniqueItems":true,"minItems":6}"#,
        #"{"type":"array","items":{"type":"string","maxLength":1,"pattern":"^[a-c]*$"},"uniqueItems":true,"minItems":4}"#,
        #"{"type":"array","items":{"type":"integer","minimum":-3,"maximum":12},"uniqueItems":true,"minItems":16}"#,
        #"{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"uniqueItems":true,"minItems":3,"maxItems":9}"#,
        #"{"type":"array","items":{"type":"object","properties":{"a":{"type":"boolean"},"b":{"enum":["x","xy"]}},"additionalProperties":true},"uniqueItems":true,"minItems":9}"#,
        #"{"type":"array","items":{"type":"array","items":{"type":"boolean"},"uniqueItems":true},"uniqueItems":true,"minItems":5}"#,
        #"{"type":"object","properties":{"a":{"type":"array","items":{"enum":["q\"","q\\"]},"uniqueItems":true},"b":{"type":"array","items":{},"uniqueItems":true}},"required":["a","b"]}"#,
        #"{"anyOf":[{"type":"array","items":{"type":"boolean"},"uniqueItems":true,"minItems":2},{"type":"array","items":{"type":["boolean","null"]},"maxItems":3}]}"#,
    ])
    func noneComesToADeadEnd(source: String) throws {
        let schema = try JSON.parse(source)
        let grammar = try OutputGrammar(jsonSchema: schema)
        let engine = try Words.engine(.answer(grammar))
        var whole = 0
        for number in 0..<15 {
            var random = SeededRandom(number: number)
            let (bytes, isWhole) = try Words.draw(engine, &random, atMost: 200)
            guard isWhole else { continue }
            whole += 1
            let text = String(decoding: bytes, as: UTF8.self)
            let value = try JSON.parse(text)
            #expect(PlainValidator(schema).isValid(value) && grammar.allows(text) && grammar.fits(value), "\(text)")
        }
        #expect(whole > 5)
    }

    @Test func equalElementsAreNotAllowed() throws {
        let texts = try schema(#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#)
        for text in ["[]", #"["a","b"]"#, #"["a", "ab", "b", ""]"#, #"["a,","a]","a"]"#] {
            #expect(texts.allows(text), "\(text)")
        }
        for text in [#"["a","a"]"#, #"["a", "b", "a"]"#, #"["",""]"#, #"["\n","\n"]"#] {
            #expect(!texts.allows(text), "\(text)")
        }
        let numbers = try schema(#"{"type":"array","items":{"type":"number"},"uniqueItems":true}"#)
        #expect(numbers.allows("[1,10,1.5,-1,0.15]"))
        for text in ["[1,1]", "[1,1.0]", "[10,1e1]", "[0,-0]", "[0.5,0.5]"] {
            #expect(!numbers.allows(text), "\(text)")
        }
        // Which list it is shows later.
        let either = try schema(
            #"{"anyOf":[{"type":"array","items":{"type":"integer"},"uniqueItems":true},{"type":"array","items":{"type":["string","integer"]},"minItems":3}]}"#
        )
        #expect(
            either.allows("[1,2]") && !either.allows("[1,1]") && either.allows(#"[1,1,"a"]"#)
                && either.allows("[1,1,1]"))
        let maps = try schema(
            #"{"type":"array","items":{"type":"object","additionalProperties":{"type":"integer"}},"uniqueItems":true}"#
        )
        #expect(maps.allows(#"[{"a":1},{"b":1},{}]"#) && !maps.allows(#"[{"a":1},{"a":1}]"#))
        #expect(!maps.allows(#"[{"a":1,"b":2},{"b":2,"a":1}]"#))
        #expect(!texts.fits(.array(["a", "a"])) && !numbers.fits(.array([1, .double(1)])))
        #expect(try schema(#"{"enum":[[1,1],[1,2]],"uniqueItems":true}"#).allows("[1,2]"))
        #expect(try !schema(#"{"enum":[[1,1],[1,2]],"uniqueItems":true}"#).allows("[1,1]"))
    }

    @Test(arguments: [
        (#"{"type":"array","items":{"type":"boolean"},"uniqueItems":true,"minItems":3}"#, "no text fits"),
        (
            #"{"type":"array","items":{"type":"array","maxItems":0},"uniqueItems":true,"minItems":2}"#,
            "no text fits"
        ),
        (#"{"uniqueItems":true,"prefixItems":[{}]}"#, "not supported beside schemas of single elements"),
        (##"{"type":"array","items":{"$ref":"#"},"uniqueItems":true,"minItems":2}"##, "that leads back to itself"),
        (#"{"uniqueItems":true,"minItems":100000}"#, "more than 10000"), (#"{"uniqueItems":1}"#, "true or false"),
    ])
    func whatCannotBeIsRefused(source: String, message: String) throws {
        let error = #expect(throws: AIError.self) { try schema(source) }
        #expect(error?.code == .invalidInput && error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
