import HubCore
import HubGrammar
import Testing

/// Values with schemas, and values that are still being written.
@Suite struct ValueTests {
    struct Book: Generable, Equatable {
        var title: String
        var year: Int?
        var tags: [String]
        var price: Double
        var isNew: Bool

        static let schema = JSONSchema.object(
            .init("title", String.schema), .init("year", Int?.schema, isRequired: false),
            .init("tags", [String].schema),
            .init("price", Double.schema), .init("isNew", Bool.schema))

        init(json: JSON) throws(AIError) {
            title = try json.value("title")
            year = try json.value("year")
            tags = try json.value("tags")
            price = try json.value("price")
            isNew = try json.value("isNew")
        }
    }

    @Test func valuesAreReadFromAnswers() throws {
        let text = #"{"title":"Hamlet","tags":["play"],"price":3,"isNew":false}"#
        #expect(try OutputGrammar(jsonSchema: Book.schema.json).allows(text))
        let book = try Book(answer: text)
        #expect(
            book.title == "Hamlet" && book.year == nil && book.tags == ["play"] && book.price == 3 && !book.isNew)
        #expect(throws: AIError.self) { try Book(answer: text.replacing("3", with: "\"3\"")) }
        #expect(throws: AIError.self) { try Book(answer: String(text.dropLast())) }
    }

    @Test func schemasAreMadeInSwift() throws {
        let schema = JSONSchema.object(
            .init("level", .choice("low", "high").described("How much.")),
            .init("ids", .array(of: .integer(in: 1...9), count: 1...2)),
            .init("when", .string(format: "date"), isRequired: false),
            .init("code", .string(length: 2...2, pattern: "^[A-Z]+$")))
        let grammar = try OutputGrammar(jsonSchema: schema.json)
        #expect(grammar.allows(#"{"level":"low", "ids":[3], "code":"AB"}"#))
        #expect(!grammar.allows(#"{"level":"low", "ids":[10], "code":"AB"}"#))
        #expect(!grammar.allows(#"{"level":"low", "ids":[1], "code":"ABC"}"#))
    }

    @Test func valuesGrow() {
        let text = #"{"a":"x\u00e9y","b":[1,-2.5,true],"c":{"d":null}}"#
        let expected: [Int: String] = [
            1: "{}", 5: "{}", 6: #"{"a":""}"#, 7: #"{"a":"x"}"#, 10: #"{"a":"x"}"#, 13: #"{"a":"xé"}"#,
            21: #"{"a":"xéy","b":[]}"#, 22: #"{"a":"xéy","b":[1]}"#, 25: #"{"a":"xéy","b":[1,-2]}"#,
            26: #"{"a":"xéy","b":[1,-2]}"#, 27: #"{"a":"xéy","b":[1,-2.5]}"#,
            text.count: #"{"a":"xéy","b":[1,-2.5,true],"c":{"d":null}}"#,
        ]
        for (length, value) in expected {
            #expect(PartialJSON.value(of: String(text.prefix(length)))?.text() == value, "\(text.prefix(length))")
        }
        var partial = PartialJSON()
        #expect(partial.add("") == nil && partial.add("[") == .array([]) && partial.add(" ") == nil)
        #expect(partial.add("tru") == nil && partial.add("e") == .array([true]))
    }
}
