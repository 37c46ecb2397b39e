import HubCore
import HubGrammar
import Support
import Testing

/// What grammars allow, by hand and by drawing.
@Suite struct GrammarTests {
    private func schema(_ text: String) throws -> OutputGrammar {
        try OutputGrammar(jsonSchema: try JSON.parse(text))
    }

    @Test(arguments: 0..<4) func drawnTextsAreValid(part: Int) throws {
        var whole = 0
        for number in (part * 75)..<(part * 75 + 75) {
            var source = RandomSchema(number: number)
            let schema = source.next()
            let grammar: OutputGrammar
            do throws(AIError) { grammar = try OutputGrammar(jsonSchema: schema) } catch {
                #expect(Self.isRefusal(error), "\(error.message) \(schema.text())")
                continue
            }
            let engine = try Words.engine(.answer(grammar))
            var random = SeededRandom(number: number)
            for _ in 0..<4 {
                let (bytes, isWhole) = try Words.draw(engine, &random)
                guard isWhole else { continue }
                whole += 1
                let text = String(decoding: bytes, as: UTF8.self)
                let value = try JSON.parse(text)
                #expect(PlainValidator(schema).isValid(value), "\(text) under \(schema.text())")
                #expect(grammar.allows(text) && grammar.fits(value))
            }
        }
        #expect(whole > 60)
    }

    /// Whether a drawn schema may be refused so: nothing fits it, or the same value may fit two branches of a `oneOf`.
    private static func isRefusal(_ error: AIError) -> Bool {
        ["no text fits", "may both fit the same"].contains { error.message.contains($0) }
    }

    /// Values one step away from valid ones: the grammar takes them exactly if the other validator does.
    @Test func whatIsForbiddenIsNotValid() throws {
        var (valid, invalid) = (0, 0)
        for number in 0..<150 {
            var source = RandomSchema(number: number)
            let schema = source.next()
            guard let grammar = try? OutputGrammar(jsonSchema: schema) else { continue }
            let engine = try Words.engine(.answer(grammar))
            var random = SeededRandom(number: number)
            let (bytes, isWhole) = try Words.draw(engine, &random)
            guard isWhole else { continue }
            var value = try JSON.parse(bytes)
            for _ in 0..<20 {
                let other = Words.neighbour(of: value, &random)
                let text = Words.written(other)
                let isValid = PlainValidator(schema).isValid(other)
                // A branch of oneOf may give up values so that no other fits.
                // Elements that must differ have one spelling alone.
                let isExact = !["oneOf", "uniqueItems"].contains { schema.text().contains($0) }
                #expect(
                    grammar.allows(text) == isValid || isValid && !isExact, "\(text) under \(schema.text())")
                if isValid { (valid, value) = (valid + 1, other) } else { invalid += 1 }
            }
        }
        #expect(valid > 200 && invalid > 200, "\(valid) \(invalid)")
    }

    /// Every text of a small language is found by following the masks, and no other.
    @Test(arguments: [
        (#"{"enum":["a",1,null,[true,"b"]]}"#, [#""a""#, "1", "null", #"[true,"b"]"#]),
        (
            #"{"type":"object","properties":{"a":{"const":1},"b":{"const":2}},"required":["b"]}"#,
            ["a1,b2", "a1, b2", "b2"].flatMap(Words.spaced)
        ),
        (#"{"type":"integer","minimum":-2,"maximum":11}"#, (-2...11).map(String.init)),
        (#"{"type":"array","items":{"type":"boolean"},"maxItems":1}"#, ["[]", "[true]", "[false]"]),
        (
            #"{"type":"string","pattern":"^(a|bc){1,2}$"}"#,
            ["a", "bc", "aa", "abc", "bca", "bcbc"].map { "\"\($0)\"" }
        ),
        (#"{"type":["null","integer"],"exclusiveMinimum":98.5,"maximum":100}"#, ["null", "99", "100"]),
    ])
    func smallLanguagesAreWhole(source: String, texts: [String]) throws {
        #expect(try Words.language(.answer(schema(source))) == Set(texts))
    }

    @Test func smallExpressionsAndGrammarsAreWhole() throws {
        #expect(
            try Words.language(.answer(OutputGrammar(regularExpression: "a[b-d]?|(?:xy){2}")))
                == ["a", "ab", "ac", "ad", "xyxy"])
        let grammar = """
            # sums
            root ::= term ("+" term){0,1}
            term ::= [12] | "(" root ")" | "x"?
            """
        let parsed = try OutputGrammar(gbnf: grammar)
        for text in ["1", "1+2", "(1+x)+2", "", "((1))", "+", "x+"] { #expect(parsed.allows(text), "\(text)") }
        for text in ["3", "1+2+1", "(1", "1)", "12"] { #expect(!parsed.allows(text), "\(text)") }
        #expect(
            try Words.language(.answer(OutputGrammar(gbnf: "root ::= \"a\" (\"b\" | [c-d]){2} \"\\n\"?")))
                == Set(["bb", "bc", "bd", "cb", "cc", "cd", "db", "dc", "dd"].flatMap { ["a\($0)", "a\($0)\n"] }))
    }

    /// Ambiguity and nesting: as many ways as there are, one state.
    @Test func ambiguousGrammarsStaySmall() throws {
        let grammar = try OutputGrammar(gbnf: "root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"d\"")
        let deep = String(repeating: "a", count: 200) + "d" + String(repeating: "b", count: 200)
        #expect(grammar.allows(deep) && !grammar.allows(deep + "b") && grammar.allows("aadcb"))
    }

    @Test(arguments: [
        ("root ::= root \"a\" | \"b\"", "left recursion"), ("root ::= x", "there is no rule x"),
        ("a ::= \"b\"", "no rule \"root\""), ("root ::= \"a", "closing \" is missing"),
        ("root ::= <[1]>", "not supported"), ("root ::= \"a\"\nroot ::= \"b\"", "there twice"),
        ("root ::= \"a\" root", "no text fits"),
    ])
    func brokenGrammarsAreNamed(source: String, message: String) throws {
        let error = #expect(throws: AIError.self) { try OutputGrammar(gbnf: source) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.code == .invalidInput)
    }

    @Test(arguments: [
        ("a(?=b)", "lookaround"), ("(a)\\1", "back-references"), ("\\bx", "word boundaries"), ("(a", "has no )"),
        ("[z-a]", "out of order"), ("a{3,2}", "out of order"), ("*a", "nothing to repeat"),
        ("(^a)*", "cannot be repeated"),
        ("\\p{L}", "Unicode properties"), ("a)", "has no ("),
    ])
    func expressionsThatAreNotSupportedAreNamed(source: String, message: String) throws {
        let error = #expect(throws: AIError.self) { try OutputGrammar(regularExpression: source) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        "not", "if", "multipleOf", "patternProperties", "contains",
        "minProperties", "propertyNames", "dependentRequired", "unevaluatedProperties", "$dynamicRef", "minLenght",
    ])
    func otherKeywordsAreRefusedByName(keyword: String) throws {
        var keywords = JSONObject()
        keywords[keyword] = 1
        let whole = JSON.object(["type": "object", "properties": .object(["a/b": .object(keywords)])])
        let error = #expect(throws: AIError.self) { try OutputGrammar(jsonSchema: whole) }
        #expect(error?.message.contains("\"\(keyword)\" is not supported") == true)
        #expect(error?.message.contains("/properties/a~1b/\(keyword)") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        (##"{"$ref":"#"}"##, "back to itself"), (##"{"$ref":"other.json"}"##, "within the document"),
        (##"{"$ref":"#/$defs/x"}"##, "nothing at"), (##"{"format":4}"##, "the name of a format"),
        (#"{"type":"integer","minimum":3,"maximum":2}"#, "no text fits"), (#"{"enum":[]}"#, "a list with a value"),
        (#"{"type":"objekt"}"#, "one of null"), (#"{"pattern":"(?!a)"}"#, "lookaround"), ("false", "no text fits"),
        (##"{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}"##, "no text fits"),
        (##"{"anyOf":[{"$ref":"#"},{"type":"null"}]}"##, "itself"), ("3", "a schema is an object"),
        (
            ##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}"##,
            "itself"
        ),
    ])
    func schemasThatMakeNoSenseAreRefused(source: String, message: String) throws {
        let error = #expect(throws: AIError.self) { try schema(source) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    /// A branch of anyOf that others refer to leads back to nothing.
    @Test func branchesMayBeReferredTo() throws {
        let grammar = try schema(
            ##"""
            {"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},
             "b":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"]}}}
            """##)
        #expect(grammar.allows("null") && grammar.allows(#"{"a":{"a":null}}"#))
        #expect(!grammar.allows("1") && !grammar.allows("{}"))
    }

    @Test func whatControlsLookLikeIsNoOtherName() throws {
        let grammar = try schema(
            #"{"properties":{"\u001f":{"type":"integer"}},"additionalProperties":{"type":"string"},"type":"object"}"#
        )
        #expect(grammar.allows(#"{"\u001f":1}"#) && !grammar.allows(#"{"\u001F":"x"}"#))
    }

    /// Beyond what a double holds exactly.
    @Test func longWholeNumbersAreCompared() throws {
        let grammar = try schema(
            #"{"type":"integer","exclusiveMinimum":9007199254740992,"maximum":9007199254740993}"#)
        #expect(grammar.allows("9007199254740993") && grammar.fits(.int(9_007_199_254_740_993)))
        #expect(!grammar.fits(.int(9_007_199_254_740_992)) && !grammar.fits(.int(9_007_199_254_740_994)))
    }

    @Test func formatsAreWhatTheySay() throws {
        let examples: [(String, right: [String], wrong: [String])] = [
            (
                "date", ["2024-02-29", "1999-12-31", "2000-02-29"],
                ["2023-02-29", "2024-13-01", "1900-02-29", "0000-01-01"]
            ),
            ("time", ["23:59:59Z", "01:02:03.5+01:00"], ["24:00:00Z", "10:00:00", "10:00Z"]),
            ("date-time", ["2024-02-29T00:00:00Z"], ["2024-02-29 00:00:00Z", "2024-02-30T00:00:00Z"]),
            ("email", ["a.b+c@example.org"], ["a@b", "a b@example.org", "@example.org", "a@-x.org"]),
            ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000"]),
            (
                "uri", ["https://example.org/a?b=c#d", "urn:isbn:1", "http://h:80"],
                ["//example.org", "a b:c", "https://"]
            ),
        ]
        for (format, right, wrong) in examples {
            let grammar = try OutputGrammar(jsonSchema: .object(["type": "string", "format": .string(format)]))
            for text in right { #expect(grammar.allows("\"\(text)\""), "\(format) \(text)") }
            for text in wrong { #expect(!grammar.allows("\"\(text)\""), "\(format) \(text)") }
        }
    }

    /// Lengths count characters, however they are written.
    @Test func lengthsCountCharacters() throws {
        let grammar = try schema(#"{"type":"string","minLength":2,"maxLength":2}"#)
        for text in ["ab", "é🙂", #"\n\""#, #"\u0001\\"#] { #expect(grammar.allows("\"\(text)\""), "\(text)") }
        for text in ["a", "abc", #"\n"#, "🙂", "a\u{1}"] { #expect(!grammar.allows("\"\(text)\""), "\(text)") }
    }

    @Test func anythingIsJSON() throws {
        for text in [#"{"a":[1, -2.5e+3, {"b": null}], "c":"x"}"#, "[]", "{}", "true", "\"\""] {
            #expect(OutputGrammar.json.allows(text), "\(text)")
        }
        #expect(!OutputGrammar.jsonObject.allows("[]") && OutputGrammar.jsonObject.allows(#"{"a":[[]]}"#))
    }
}
