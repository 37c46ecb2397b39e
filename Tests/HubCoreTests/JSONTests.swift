import HubCore
import Support
import Testing

@Suite(.largeStack) struct JSONTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "1.5", "\"\"", "[]",
        "{}",
        "\"é\\\"\\\\\\n\"", "[1,[2,[3]],{}]", "{\"b\":1,\"a\":{\"c\":[null,true]},\"\":\"x\"}", "\"😀\"",
    ])
    func whatIsPrintedCompactlyIsWhatWasParsed(_ text: String) throws {
        #expect(try JSON.parse(text).text() == text)
    }

    @Test func everyStyleParsesBackToTheSameValue() throws {
        let value = JSON.object([
            "z": 1, "a": .array([.null, true, .double(0.1), .double(-1e-7), .double(1e300), .int(.min)]),
            "text": "é e\u{301} 😀 \u{0}\u{1F}\u{7F}\u{85}\u{2028}\"\\/", "empty": .object([:]), "none": .array([]),
        ])
        for style in [JSON.Style.compact, .pretty] { #expect(try JSON.parse(value.text(style)) == value) }
        let tree = try JSON.parse(value.text(.pythonTree))
        #expect(tree.object?.keys == ["a", "empty", "none", "text", "z"])
        for key in tree.object?.keys ?? [] { #expect(tree[key] == value[key]) }
    }

    @Test func membersKeepTheOrderOfTheDocument() throws {
        let object = try #require(try JSON.parse("{\"z\":1,\"a\":2,\"m\":3}").object)
        #expect(object.keys == ["z", "a", "m"])
        #expect(object != JSONObject([("a", 2), ("m", 3), ("z", 1)]))
    }

    @Test func theLastOfRepeatedKeysCountsAndAllAreKept() throws {
        let object = try #require(try JSON.parse("{\"a\":1,\"b\":2,\"a\":3}").object)
        #expect(object["a"] == 3)
        #expect(object.keys == ["a", "b", "a"])
        #expect(object.hasDuplicateKeys)
        #expect(try JSON.parse("{\"a\":1,\"b\":2}").object?.hasDuplicateKeys == false)
    }

    @Test func keysThatDifferOnlyByNormalisationAreTwoKeys() throws {
        let object = try #require(try JSON.parse("{\"\u{E9}\":1,\"e\u{301}\":2}").object)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
        #expect(!object.hasDuplicateKeys)
        #expect(JSONObject([("\u{E9}", 1)]) != JSONObject([("e\u{301}", 1)]))
    }

    @Test func membersCanBeSetReplacedAndTakenOut() {
        var object: JSONObject = ["a": 1, "b": nil, "c": 3]
        #expect(object.keys == ["a", "c"])
        object["b"] = 2
        object["a"] = "new"
        #expect(object == ["a": "new", "c": 3, "b": 2])
        object["c"] = nil
        object["absent"] = nil
        #expect(object == ["a": "new", "b": 2])
        #expect(object["c"] == nil && object["b"] == 2 && object.count == 2)
    }

    @Test func aMemberThatIsNullCountsAsAbsent() throws {
        let value = try JSON.parse("{\"a\":null}")
        #expect(value["a"] == nil)
        #expect(value.object?["a"] == .null)
        #expect(JSON.null["a"] == nil)
    }

    @Test func accessorsAnswerOnlyForTheirOwnKind() throws {
        let value = try JSON.parse("{\"i\":1,\"d\":1.0,\"s\":\"1\",\"b\":true,\"l\":[1]}")
        #expect(value["i"]?.int == 1 && value["i"]?.double == 1.0 && value["i"]?.bool == nil)
        #expect(value["d"]?.int == nil && value["d"]?.double == 1.0)
        #expect(value["s"]?.string == "1" && value["s"]?.int == nil)
        #expect(value["b"]?.bool == true && value["b"]?.int == nil)
        #expect(value["l"]?.array == [1] && value["l"]?.object == nil && value.array == nil)
    }

    /// Many tokenizer_config.json say `"model_max_length": 1000000000000000019884624838656`.
    @Test(
        arguments: [
            ("9223372036854775808", 0x1p63),
            ("18446744073709551615", 0x1p64),
            ("18446744073709551616", 0x1p64),
            ("-9223372036854775809", -0x1p63),
            ("1000000000000000019884624838656", 1e30),
        ] as [(String, Double)])
    func aWholeNumberBeyond64BitsIsRead(_ text: String, _ value: Double) throws {
        #expect(try JSON.parse(text) == .longNumber(text))
        #expect(try JSON.parse(text).double == value)
        let among = try JSON.parse("[1e5, true, \(text), -2.5, [false, \(text)]]")
        #expect(among.text() == "[100000.0,true,\(text),-2.5,[false,\(text)]]")
        #expect(
            try JSON.parse("{\"a\\\"1\":[\(text),1], \"\(text)\": \"\(text)\"}")
                == .object([
                    "a\"1": .array([.longNumber(text), 1]), text: .string(text),
                ]))
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "nul", "NaN", "Infinity", "-", "01", "1.", ".5", "'a'",
        "\"\u{1}\"",
        "\"\\x\"", "\"\\ud800\"", "[1] 2", "1e400", "99999999999999999999x",
    ])
    func whatIsNoJSONIsRefusedWithAReason(_ text: String) {
        let error = #expect(throws: JSONError.self) { try JSON.parse(text) }
        #expect(error?.reason.isEmpty == false)
    }

    @Test(arguments: [
        [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22],
    ])
    func textThatIsNotUTF8IsRefused(_ bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSON.parse(bytes) }
    }

    @Test func aByteOrderMarkDoesNotHideTheDocument() throws {
        // Python's json.load refuses one; what matters is that nothing else is read out of it.
        #expect(
            (try? JSON.parse([0xEF, 0xBB, 0xBF] + Array("{\"a\":1}".utf8))).map { $0 == .object(["a": 1]) } ?? true)
    }

    @Test func nestingEndsAtTheParsersLimitAndNotAtTheStacks() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try JSON.parse(nested(1000)).text() == nested(1000))
        for depth in [1025, 100_000] { #expect(throws: JSONError.self) { try JSON.parse(nested(depth)) } }
    }

    /// Its values would need many times the memory of its text.
    @Test func aDocumentOfMillionsOfValuesIsRefused() throws {
        func list(_ count: Int) -> [UInt8] { Array("[\(String(repeating: "{},", count: count - 1)){}]".utf8) }
        #expect(try JSON.parse(list(2_000_000)).array?.count == 2_000_000)
        for bytes in [list(2_200_000), Array("[\(String(repeating: "0,", count: 2_200_000))0]".utf8)] {
            #expect(throws: JSONError.tooManyValues) { try JSON.parse(bytes) }
            #expect(throws: JSONError.tooManyValues) { try bytes.withUnsafeBytes { try JSON.parse($0) } }
            #expect(throws: JSONError.tooManyValues) { try JSON.parsePython(bytes) }
        }
    }

    @Test func pythonsWordsForNumbersAreRead() throws {
        let text = #"{"a": [0.0, Infinity, -Infinity], "NaN": NaN, "b": "Infinity \" NaN", "c": 9007199254740993}"#
        let json = try JSON.parsePython(Array(text.utf8))
        #expect(json["a"]?.array?.map(\.double) == [0, .infinity, -.infinity])
        #expect(
            json["NaN"]?.double?.isNaN == true && json["b"]?.string == #"Infinity \" NaN"#.replacing("\\", with: "")
        )
        #expect(json["c"]?.int == 9_007_199_254_740_993)
        for wrong in ["{\"a\": Infinit}", "[+Infinity]", "[NaN", "[InfinityNaN]"] {
            #expect(throws: JSONError.self) { try JSON.parsePython(Array(wrong.utf8)) }
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func aNumberThatJSONCannotHoldIsWrittenAsNull(_ value: Double) {
        #expect(JSON.array([.double(value)]).text() == "[null]")
    }

    @Test func terminalControlsNeverLeaveUnescaped() {
        let text = JSON.string("\u{1B}[31m\u{7F}\u{9B}\u{85}").text()
        #expect(text == "\"\\u001b[31m\\u007f\\u009b\\u0085\"")
    }

    @Test func aTreeIsWrittenAsPythonWritesIt() throws {
        let document = """
            {"format_version": 1, "files": {"a/b.txt": {"size": 0, "blob_id": "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
             "model.safetensors": {"size": 548105171, "blob_id": "b45ef6fec89518d314f546fd6c3025367b721684", "lfs_size": 548105171},
             "Z": {}, "é": [], "e\\u0301": [1, -2, []], "😀": null, "Ａ": true,
             "\\\\\\"\\b\\f\\n\\r\\t\\u0001\\u007f\\u0080\\u2028/": false, "": "x<>&'"}}
            """
        // json.dumps(value, indent=1, sort_keys=True) of Python 3.11
        let expected = #"""
            {
             "files": {
              "": "x<>&'",
              "Z": {},
              "\\\"\b\f\n\r\t\u0001\u007f\u0080\u2028/": false,
              "a/b.txt": {
               "blob_id": "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
               "size": 0
              },
              "e\u0301": [
               1,
               -2,
               []
              ],
              "model.safetensors": {
               "blob_id": "b45ef6fec89518d314f546fd6c3025367b721684",
               "lfs_size": 548105171,
               "size": 548105171
              },
              "\u00e9": [],
              "\uff21": true,
              "\ud83d\ude00": null
             },
             "format_version": 1
            }
            """#
        #expect(try JSON.parse(document).text(.pythonTree) == expected)
    }

    @Test func prettyTextHasTwoSpacesALevel() {
        let value = JSON.object(["a": .array([1, 2]), "b": .object([:])])
        #expect(value.text(.pretty) == "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}")
    }
}
