import HubCore
import HubGrammar
import Support
import Testing

/// `propertyNames`: the names of a map, as pydantic writes `Dict[Literal["a", "b"], T]`.
@Suite struct PropertyNamesTests {
    private func schema(_ text: String) throws -> OutputGrammar {
        try OutputGrammar(jsonSchema: try JSON.parse(text))
    }

    /// Names of a list are optional properties in its order: none is left over, none comes twice.
    @Test(arguments: [
        (
            #"{"type":"object","additionalProperties":{"const":1},"propertyNames":{"enum":["a","b"]}}"#,
            ["", "a1", "b1", "a1,b1", "a1, b1"]
        ),
        (
            #"{"type":"object","additionalProperties":{"const":1},"propertyNames":{"const":"a","type":"string"}}"#,
            ["", "a1"]
        ),
        // Both, as older versions of pydantic write one name.
        (
            #"{"type":"object","additionalProperties":{"const":1},"propertyNames":{"const":"a","enum":["a"]}}"#,
            ["", "a1"]
        ),
        // An Enum stands among the definitions.
        (
            ##"""
            {"type":"object","additionalProperties":{"const":1},"propertyNames":{"$ref":"#/$defs/Key"},
             "$defs":{"Key":{"enum":["a","b"],"title":"Key","type":"string"}}}
            """##, ["", "a1", "b1", "a1,b1", "a1, b1"]
        ),
        // Beside properties: what must be there comes in the schema's order, what may not be there never comes.
        (
            """
            {"type":"object","properties":{"b":{"const":2},"c":{"const":3}},"required":["b"],
             "additionalProperties":{"const":1},"propertyNames":{"enum":["a","b"]}}
            """, ["b2", "b2,a1", "b2, a1"]
        ),
        (
            #"{"type":"object","properties":{"a":{"const":1},"b":{"const":2}},"propertyNames":{"pattern":"^a"}}"#,
            ["", "a1"]
        ),
        (
            #"{"type":"object","additionalProperties":false,"propertyNames":{"enum":["a","b"]}}"#, [""]
        ),
        // Two lists that hold at once.
        (
            """
            {"type":"object","additionalProperties":{"const":1},"propertyNames":{"enum":["a","b"]},
             "allOf":[{"propertyNames":{"enum":["c","b"]}}]}
            """, ["", "b1"]
        ),
        (
            """
            {"type":"object","additionalProperties":{"const":1},"propertyNames":{"enum":["a","b"]},
             "allOf":[{"propertyNames":{"pattern":"b"}}]}
            """, ["", "b1"]
        ),
    ])
    func smallLanguagesAreWhole(source: String, texts: [String]) throws {
        let expected = texts.flatMap { $0.isEmpty ? ["{}"] : Words.spaced($0) }
        #expect(try Words.language(.answer(schema(source))) == Set(expected))
    }

    @Test func namesMatchAPattern() throws {
        let grammar = try schema(
            #"{"type":"object","additionalProperties":{"type":"integer"},"propertyNames":{"pattern":"^[a-c]{2}$"}}"#
        )
        for text in ["{}", #"{"ab":1}"#, #"{"ab":1,"cc":2}"#] {
            #expect(try grammar.allows(text) && grammar.fits(JSON.parse(text)), "\(text)")
        }
        for text in [#"{"a":1}"#, #"{"abc":1}"#, #"{"ab":1,"d":2}"#, #"{"ab":"x"}"#] {
            #expect(try !grammar.allows(text) && !grammar.fits(JSON.parse(text)), "\(text)")
        }
        // A quote of a name is written as JSON has it.
        let quoted = try schema(
            #"{"additionalProperties":true,"propertyNames":{"pattern":"^\"$"},"type":"object"}"#)
        #expect(quoted.allows(#"{"\"":1}"#) && !quoted.allows(#"{"x":1}"#))
    }

    /// A value of an enum, and the branches of oneOf.
    @Test func constantsAndBranchesFollowIt() throws {
        let names = #""additionalProperties":{"type":"integer"},"propertyNames":{"enum":["a"]}"#
        #expect(
            try Words.language(.answer(schema("{\"enum\":[{\"a\":1},{\"b\":1}],\(names)}")))
                == [#"{"a":1}"#])
        // Not every object fits this branch, so another one may be written.
        let other = #"{"type":"object","properties":{"b":{"const":"x"}},"required":["b"]}"#
        let branches = try schema("{\"oneOf\":[\(other),{\"type\":\"object\",\(names)}]}")
        #expect(branches.allows(#"{"b":"x"}"#) && branches.allows(#"{"a":1}"#) && !branches.allows(#"{"c":1}"#))
    }

    @Test(arguments: [
        #"{"minLength":2}"#, #"{"type":"string"}"#, "{}", "true", "false", #"{"enum":["a",1]}"#, #"{"const":1}"#,
        #"{"enum":["a"],"pattern":"a"}"#, #"{"anyOf":[{"const":"a"},{"const":"b"}]}"#, #"{"format":"uuid"}"#,
        #"{"enum":["a"],"type":["string","null"]}"#, ##"{"$ref":"#/$defs/x","pattern":"a"}"##,
        ##"{"$ref":"#/$defs/long"}"##, ##"{"$ref":"#/$defs/form","not":{"const":"ab"}}"##,
    ])
    func otherFormsAreRefusedByName(rule: String) throws {
        let definitions = #"{"x":{"enum":["a"]},"form":{"pattern":"^ab?$"},"long":{"type":"string","minLength":2}}"#
        let error = #expect(throws: AIError.self) {
            try schema(
                "{\"type\":\"object\",\"additionalProperties\":true,\"propertyNames\":\(rule),\"$defs\":\(definitions)}"
            )
        }
        #expect(
            error?.message.contains("\"propertyNames\" is not supported but as") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("/propertyNames") == true && error?.code == .invalidInput)
    }

    @Test(arguments: [
        (#"{"enum":[]}"#, "a list with a value"), (#"{"pattern":"(?!a)"}"#, "lookaround"),
        (##"{"$ref":"#/$defs/none"}"##, "nothing at"), (##"{"$ref":"#/propertyNames"}"##, "back to itself"),
    ])
    func whatMakesNoSenseIsSaid(rule: String, message: String) throws {
        let error = #expect(throws: AIError.self) { try schema("{\"type\":\"object\",\"propertyNames\":\(rule)}") }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    /// What must be there and may not have its name.
    @Test func aNameThatIsRequiredAndForbiddenFitsNothing() throws {
        let error = #expect(throws: AIError.self) {
            try schema(#"{"type":"object","required":["x"],"propertyNames":{"enum":["a"]}}"#)
        }
        #expect(error?.message.contains("no text fits") == true)
    }
}
