import HubCore
import HubGrammar
import Support
import Testing

/// `oneOf`, `allOf`, tuples and `nullable`: what is written always fits, and what cannot be made sure of is refused.
@Suite struct BranchTests {
    private func schema(_ text: String) throws -> OutputGrammar {
        try OutputGrammar(jsonSchema: try JSON.parse(text))
    }

    /// Exactly one branch, whatever tells them apart.
    @Test(arguments: [
        // Constants, of which each may be in one branch alone.
        (
            #"{"oneOf":[{"const":"a","title":"A"},{"const":1},{"enum":["b",1.0,null]}]}"#,
            [#""a""#, #""b""#, "null"]
        ),
        // Types, and a constant within another branch.
        (#"{"oneOf":[{"type":"boolean"},{"type":"null"},{"const":true}]}"#, ["false", "null"]),
        (
            #"{"oneOf":[{"type":"string","pattern":"^[ab]$"},{"type":"string","pattern":"^[bc]$"}]}"#,
            [#""a""#, #""c""#]
        ),
        (#"{"oneOf":[{"type":"string","pattern":"^[ab]$"},{"const":"b"}]}"#, [#""a""#]),
        (
            #"{"oneOf":[{"type":"integer","minimum":1,"maximum":2},{"type":"integer","exclusiveMinimum":2,"maximum":3}]}"#,
            ["1", "2", "3"]
        ),
        // Properties of which each branch requires another.
        (
            """
            {"type":"object","properties":{"a":{"const":1},"b":{"const":2}},"additionalProperties":false,
             "oneOf":[{"required":["a"]},{"required":["b"]}]}
            """, ["a1", "b2"].flatMap(Words.spaced)
        ),
        // A constant that tells them apart is written, even where it could be left out.
        (
            """
            {"oneOf":[{"type":"object","properties":{"k":{"const":"x"},"v":{"const":1}}},
             {"type":"object","properties":{"k":{"const":"y"}}}],"discriminator":{"propertyName":"k"}}
            """,
            [#"k"x",v1"#, #"k"x", v1"#, #"k"x""#, #"k"y""#].flatMap(Words.spaced)
        ),
        // Lists by their elements and by their length.
        (
            #"{"oneOf":[{"type":"array","items":{"const":1},"maxItems":1},{"type":"array","items":{"const":2},"maxItems":1}]}"#,
            ["[1]", "[2]"]
        ),
        (
            #"{"type":"array","items":{"const":1},"oneOf":[{"minItems":1,"maxItems":2},{"maxItems":1}]}"#,
            ["[1,1]", "[1, 1]", "[]"]
        ),
        // A branch of which every value fits another has none for itself.
        (#"{"oneOf":[{"type":["integer","null"]},{"type":"integer"},{"const":"s"}]}"#, ["null", #""s""#]),
        // References and branches within branches.
        (
            ##"{"oneOf":[{"$ref":"#/$defs/a"},{"anyOf":[{"const":2},{"const":3}]}],"$defs":{"a":{"enum":[1,2]}}}"##,
            ["1", "3"]
        ),
    ])
    func oneBranchAloneFits(source: String, texts: [String]) throws {
        let grammar = try schema(source)
        let validator = PlainValidator(try JSON.parse(source))
        let language = try Words.language(.answer(grammar))
        #expect(language == Set(texts))
        for text in language {
            let value = try JSON.parse(text)
            #expect(validator.isValid(value) && grammar.fits(value), "\(text)")
        }
    }

    @Test(arguments: [
        (#"{"oneOf":[{"type":"integer"},{"type":"number"}]}"#, "the branches 1 and 0 may both fit the same number"),
        (
            #"{"oneOf":[{"type":"string","format":"date"},{"type":"string","format":"uuid"}]}"#,
            "fit the same string; formats do not count"
        ),
        (
            #"{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{}}}]}"#,
            "fit the same object; require a property"
        ),
        (
            #"{"oneOf":[{"type":"array","items":{"type":"string"}},{"type":"array","items":{"type":"string","minLength":1}}]}"#,
            "fit the same list; give them elements"
        ),
        (#"{"oneOf":[{"type":"integer"},{"const":5}]}"#, "the constant 5 fits both"),
    ])
    func branchesThatCannotBeToldApartAreRefused(source: String, message: String) throws {
        let error = #expect(throws: AIError.self) { try schema(source) }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("the schema at /oneOf") == true)
    }

    /// As pydantic writes a union with a tag, a field with a default, and a tuple.
    @Test func whatPydanticWritesIsUnderstood() throws {
        let union = try schema(
            ##"""
            {"$defs":{"Cat":{"properties":{"kind":{"const":"cat","title":"Kind","type":"string"},
              "meows":{"type":"integer"}},"required":["kind","meows"],"title":"Cat","type":"object"},
             "Dog":{"properties":{"kind":{"const":"dog","type":"string"},"barks":{"type":"number"}},
              "required":["kind","barks"],"type":"object"}},
             "properties":{"pet":{"discriminator":{"mapping":{"cat":"#/$defs/Cat","dog":"#/$defs/Dog"},
              "propertyName":"kind"},"oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}],"title":"Pet"},
              "color":{"allOf":[{"$ref":"#/definitions/Color"}],"default":"red","description":"x"},
              "at":{"maxItems":2,"minItems":2,"prefixItems":[{"type":"integer"},{"type":"string"}],"type":"array"},
              "old":{"type":"array","minItems":2,"maxItems":2,"items":[{"type":"integer"},{"type":"string"}]}},
             "definitions":{"Color":{"enum":["red","blue"],"type":"string"}},
             "required":["pet","color","at","old"],"type":"object"}
            """##)
        #expect(
            union.allows(#"{"pet":{"kind":"cat","meows":3},"color":"blue","at":[1,"x"],"old":[2, "y"]}"#))
        for wrong in [
            #"{"pet":{"kind":"dog","meows":3},"color":"red","at":[1,"x"],"old":[2,"y"]}"#,
            #"{"pet":{"kind":"cat","meows":3},"color":"green","at":[1,"x"],"old":[2,"y"]}"#,
            #"{"pet":{"kind":"cat","meows":3},"color":"red","at":["x",1],"old":[2,"y"]}"#,
            #"{"pet":{"kind":"cat","meows":3},"color":"red","at":[1,"x",2],"old":[2,"y"]}"#,
            #"{"pet":{"kind":"cat","meows":3},"color":"red","at":[1,"x"],"old":[2]}"#,
        ] { #expect(!union.allows(wrong), "\(wrong)") }
    }

    @Test(arguments: [
        (#"{"allOf":[{"type":["integer","string"],"minimum":1},{"type":"integer","maximum":2}]}"#, ["1", "2"]),
        (
            #"{"allOf":[{"properties":{"a":{"const":1}}},{"properties":{"b":{"const":2}},"required":["b","a"]}],"type":"object"}"#,
            ["a1,b2", "a1, b2"].flatMap(Words.spaced)
        ),
        (
            #"{"allOf":[{"properties":{"a":{"const":1}},"additionalProperties":false},{"properties":{"b":{"const":2}}}],"type":"object"}"#,
            ["{}", #"{"a":1}"#, #"{"a": 1}"#]
        ),
        (#"{"type":"array","prefixItems":[{"const":1},{"const":2}],"minItems":1}"#, ["[1]", "[1,2]", "[1, 2]"]),
        (
            #"{"type":"array","prefixItems":[{"const":1}],"items":{"const":2},"maxItems":2}"#,
            ["[]", "[1]", "[1,2]", "[1, 2]"]
        ),
        (#"{"type":"array","items":[{"const":1}],"additionalItems":false}"#, ["[]", "[1]"]),
        (
            #"{"type":"array","items":[{"const":1}],"minItems":2,"additionalItems":{"const":2}, "maxItems":2}"#,
            ["[1,2]", "[1, 2]"]
        ),
        (#"{"type":"array","items":{"const":1},"additionalItems":false,"maxItems":1}"#, ["[]", "[1]"]),
        (
            #"{"type":"array","prefixItems":[{"enum":[1,2]},false],"allOf":[{"prefixItems":[{"enum":[2,3]}]}]}"#,
            ["[]", "[2]"]
        ),
        (#"{"type":"array","prefixItems":[{"const":1}],"maxItems":0}"#, ["[]"]),
        (#"{"type":"boolean","nullable":true}"#, ["true", "false", "null"]),
        (#"{"type":"boolean","nullable":false}"#, ["true", "false"]),
        (#"{"enum":[true,null],"type":"boolean","nullable":true}"#, ["true", "null"]),
    ])
    func smallLanguagesAreWhole(source: String, texts: [String]) throws {
        let grammar = try schema(source)
        #expect(try Words.language(.answer(grammar)) == Set(texts))
        for text in texts {
            let value = try JSON.parse(text)
            #expect(grammar.fits(value), "\(text)")
        }
    }

    @Test(arguments: [
        (#"{"prefixItems":[{}],"items":[{}]}"#, "different drafts"),
        (##"{"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":[{}]}"##, "not in the draft"),
        (#"{"oneOf":[]}"#, "a list with a schema"), (#"{"nullable":"yes"}"#, "true or false"),
        (##"{"allOf":[{"$ref":"#"}]}"##, "leads back to itself"),
        (#"{"allOf":[{"type":"string"},{"type":"null"}]}"#, "no text fits"),
    ])
    func whatMakesNoSenseIsRefused(source: String, message: String) throws {
        let error = #expect(throws: AIError.self) { try schema(source) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func otherFormatsArePassedOver() throws {
        #expect(try schema(#"{"type":"string","format":"ipv4"}"#).allows(#""x""#))
    }

    /// Constants in branches are one table, however many there are.
    @Test(arguments: ["anyOf", "oneOf"]) func manyConstantsAreFewSteps(keyword: String) throws {
        let constants = JSON.array((0..<5000).map { .object(["const": .string("c\($0)")]) })
        let grammar = try OutputGrammar(jsonSchema: .object([keyword: constants]))
        #expect(grammar.allows(#""c4999""#) && !grammar.allows(#""c5000""#))
        let inner = try OutputGrammar(
            jsonSchema: .object(["type": "object", "properties": .object(["a": .object([keyword: constants])])]))
        #expect(inner.fits(.object(["a": "c7"])) && !inner.fits(.object(["a": "c"])))
    }
}
