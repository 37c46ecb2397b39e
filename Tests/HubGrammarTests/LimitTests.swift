import HubCore
import HubGrammar
import Testing

/// Sources that are small, or have the size that files may have, and would need endless time, memory or stack.
@Suite struct LimitTests {
    private func error(_ make: () throws(AIError) -> OutputGrammar) -> String {
        do throws(AIError) {
            _ = try make()
            return "no error"
        } catch {
            return error.code == .invalidInput ? error.message : "another error: \(error)"
        }
    }

    /// 2^30 letters, and 2^20 objects that are required.
    @Test func rulesThatDoubleStaySmall() throws {
        let rules = (1...30).map { "r\($0) ::= r\($0 - 1) r\($0 - 1)\n" }.joined()
        let doubled = try OutputGrammar(gbnf: "root ::= r30\nr0 ::= \"ab\"\n" + rules)
        #expect(!doubled.allows("abab") && !doubled.allows("aa"))
        let definitions = (1...20).map { level in
            ##""d\##(level)":{"type":"object","required":["a","b"],"properties":{"a":{"$ref":"#/$defs/d\##(level - 1)"},"##
                + ##""b":{"$ref":"#/$defs/d\##(level - 1)"}}}"##
        }
        let schema = ##"{"$ref":"#/$defs/d20","$defs":{"d0":{"const":1},\##(definitions.joined(separator: ","))}}"##
        let nested = try OutputGrammar(jsonSchema: try JSON.parse(schema))
        #expect(!nested.allows(#"{"a":1}"#))
    }

    @Test func longTextsNeedNoStack() throws {
        let long = String(repeating: "x", count: 100_000)
        #expect(try OutputGrammar(gbnf: "root ::= a \"!\"\na ::= \"\(long)\" | \"y\"").allows(long + "!"))
        let names = (0..<5000).map { "name number \($0)" }
        let inner = JSON.object(["type": "object", "required": .array(names.map { .string($0) })])
        let schema = JSON.object(["type": "object", "properties": .object(["a": inner]), "required": .array(["a"])])
        #expect(try !OutputGrammar(jsonSchema: schema).allows(#"{"a":{}}"#))
        let values = JSON.object(["enum": .array([.string(long + "a"), .string(long + "b")])])
        #expect(try OutputGrammar(jsonSchema: values).allows("\"\(long)b\""))
        let optional = try OutputGrammar(gbnf: "root ::= " + String(repeating: "\"a\"? ", count: 20_000))
        #expect(!optional.allows("b"))
    }

    @Test(arguments: [
        #"{"type":"string","pattern":"a","minLength":1000000000}"#,
        #"{"type":"string","pattern":"^(a|b)*a(a|b){25}$","maxLength":25}"#,
    ])
    func patternsWithManyStatesAreRefused(schema: String) async throws {
        let json = try JSON.parse(schema)
        // It takes seconds: Swift's pool of threads is for the other tests.
        let message = await Blocking.run { error { () throws(AIError) in try OutputGrammar(jsonSchema: json) } }
        #expect(message.hasPrefix("the schema is too large: its patterns"), "\(message)")
    }

    /// It begins as it should; when it gets too large, the masks end.
    @Test func repetitionsOfRepetitionsEnd() async throws {
        try await Blocking.run { try repetitionsOfRepetitions() }
    }

    private func repetitionsOfRepetitions() throws {
        let grammar = try OutputGrammar(regularExpression: "(((a{0,99}){0,99}){0,99}){0,99}b")
        let engine = try Words.engine(.answer(grammar))
        var state: MaskEngine.State? = engine.start
        for step in 0..<100 where engine.failure == nil {
            let here = try #require(state)
            #expect(step > 10 || engine.next(here, Int(UInt8(ascii: "b"))) != nil)
            _ = engine.mask(here)
            state = engine.next(here, Int(UInt8(ascii: "a")))
        }
        #expect(engine.failure?.code == .invalidInput)
        #expect(engine.failure?.message.hasPrefix("the regular expression is too large") == true)
        #expect(try engine.isLarge && engine.renewed().failure == nil)
    }

    @Test func deepGrammarsAreRefused() {
        let chain = (1..<30_000).map { "r\($0) ::= \"a\" r\($0 + 1)\n" }.joined()
        let rules = error { () throws(AIError) in
            try OutputGrammar(gbnf: "root ::= r1\n" + chain + "r30000 ::= \"b\"")
        }
        #expect(rules.contains("is more than 400 levels below root"), "\(rules)")
        let stars = error { () throws(AIError) in
            try OutputGrammar(gbnf: "root ::= \"a\"" + String(repeating: "*", count: 100_000))
        }
        #expect(stars.contains("line 1: a part has more than 10 repetitions"), "\(stars)")
    }

    @Test func schemasThatLeadOnAndOnAreRefused() throws {
        let chain = (0..<20_000).map { ##""d\##($0)":{"$ref":"#/$defs/d\##($0 + 1)"}"## }.joined(separator: ",")
        let references = try JSON.parse(##"{"$ref":"#/$defs/d0","$defs":{\##(chain),"d20000":{"type":"null"}}}"##)
        let longest = error { () throws(AIError) in try OutputGrammar(jsonSchema: references) }
        #expect(longest.contains("more than 100 levels of $ref, anyOf, oneOf and allOf"), "\(longest)")
        let pairs = (0..<30).map {
            ##""e\##($0)":{"$ref":"#/$defs/e\##($0 + 1)","anyOf":[{"title":"x"},{"title":"y"}]}"##
        }.joined(separator: ",")
        let branches = try JSON.parse(##"{"$ref":"#/$defs/e0","$defs":{\##(pairs),"e30":{"type":"null"}}}"##)
        let product = error { () throws(AIError) in try OutputGrammar(jsonSchema: branches) }
        #expect(product.contains("allOf and $ref combine to more than"), "\(product)")
    }

    /// What holds at once is looked through for each property and element.
    @Test func manySchemasAtOnceAreRefused() throws {
        func all(_ count: Int, _ part: (Int) -> JSON) -> JSON { .object(["allOf": .array((0..<count).map(part))]) }
        func named(_ range: Range<Int>) -> JSON {
            .object(["properties": .object(JSONObject(range.map { (key: "p\($0)", value: .object(["const": 1])) }))]
            )
        }
        let many = error { () throws(AIError) in try OutputGrammar(jsonSchema: all(20_000) { named($0..<$0 + 1) }) }
        #expect(many.contains("more than 1000 schemas are to hold at once"), "\(many)")
        let wide = error { () throws(AIError) in
            try OutputGrammar(jsonSchema: all(500) { named($0 * 10..<$0 * 10 + 10) })
        }
        #expect(wide.contains("allOf and $ref combine to more than"), "\(wide)")
        let some = try OutputGrammar(jsonSchema: all(50) { named($0 * 10..<$0 * 10 + 10) })
        #expect(some.allows(#"{"p0":1,"p499":1}"#))
    }

    /// Each value is held against all of them: by a table.
    @Test func manyValuesAreCompared() throws {
        let values = JSON.array((0..<20_000).map { .object(["number": .int($0)]) })
        let grammar = try OutputGrammar(jsonSchema: .object(["enum": values]))
        #expect(grammar.allows(#"{"number":19999}"#) && !grammar.allows(#"{"number":20000}"#))
    }
}
