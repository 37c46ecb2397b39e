public import HubCore

/// What a text must look like: JSON of a schema, any JSON, a regular expression, or a grammar in llama.cpp's GBNF.
///
/// Making one checks it; nothing else is needed to know that a model can be held to it.
public struct OutputGrammar: Sendable, Hashable {
    /// Where a grammar comes from.
    enum Source: Sendable, Hashable {
        case json
        case jsonObject
        case schema(JSON)
        case regularExpression(String)
        case gbnf(String)
    }

    let source: Source
    /// The rules, to make variants of, and the same prepared.
    private let builder: GrammarBuilder
    private let symbol: GrammarSymbol
    let compiled: CompiledGrammar

    private init(_ source: Source, _ builder: GrammarBuilder, _ symbol: GrammarSymbol) throws(AIError) {
        self.source = source
        self.builder = builder
        self.symbol = symbol
        compiled = try CompiledGrammar(builder, start: symbol)
    }

    private init(_ source: Source, schema: JSON, inner: [String] = []) throws(AIError) {
        var compiler = SchemaCompiler(SchemaDocument(schema, inner: inner))
        let symbol = try compiler.compile()
        try self.init(source, compiler.builder, symbol)
    }

    /// JSON that fits a schema, in one line: properties in the schema's order, at most one space after `:` and `,`.
    ///
    /// Understood are `type`, `properties`, `required`, `additionalProperties`, `items`, `minItems`, `maxItems`, `enum`,
    /// `const`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `minLength`, `maxLength`, `pattern`,
    /// `format` (date, time, date-time, email, uuid, uri), `anyOf`, `oneOf`, `allOf`, `$ref` within the document,
    /// `uniqueItems`, `prefixItems`, `propertyNames` as a list of names or a pattern, draft 7's `items` with a list and `additionalItems`, and OpenAPI's `nullable`
    /// (https://json-schema.org/draft/2020-12).
    ///
    /// - Throws: ``ErrorCode/invalidInput`` that names a keyword that is not supported, with its JSON pointer.
    public init(jsonSchema schema: JSON) throws(AIError) { try self.init(.schema(schema), schema: schema) }

    /// Calls of tools as JSON: `{"name": "f", "arguments": {...}}`.
    ///
    /// - Parameters:
    ///   - tools: their names and the schemas of their arguments.
    ///   - nameKey: the key of the name.
    ///   - key: the key of the arguments.
    ///   - idKey: the key of a number of up to three digits that may come before the name; nil for none.
    ///   - isList: whether the text is a list of calls rather than one.
    /// - Throws: As ``init(jsonSchema:)``.
    public init(
        calls tools: [(name: String, parameters: JSON)], nameKey: String = "name", argumentsKey key: String,
        idKey: String? = nil, isList: Bool = false
    ) throws(AIError) {
        let id = idKey.map { (key: $0, value: JSON.object(["type": "string", "pattern": "^[0-9]{1,3}$"])) }
        let calls = tools.map { tool in
            JSON.object([
                "type": "object", "required": .array([.string(nameKey), .string(key)]),
                "properties": .object(
                    JSONObject(
                        [id].compactMap { $0 } + [
                            (key: nameKey, value: .object(["const": .string(tool.name)])),
                            (key: key, value: tool.parameters),
                        ])),
            ])
        }
        try self.init(calls, tools.map { _ in key }, isList: isList)
    }

    /// A list of calls by name: `[{"f": {...}}]`.
    ///
    /// - Throws: As ``init(jsonSchema:)``.
    public init(keyedCalls tools: [(name: String, parameters: JSON)]) throws(AIError) {
        let calls = tools.map { tool in
            JSON.object([
                "type": "object", "required": .array([.string(tool.name)]),
                "properties": .object(JSONObject([(key: tool.name, value: tool.parameters)])),
            ])
        }
        try self.init(calls, tools.map(\.name), isList: true)
    }

    /// - Parameter keys: the property of each call whose schema is a document of its own.
    private init(_ calls: [JSON], _ keys: [String], isList: Bool) throws(AIError) {
        let call = JSON.object(["anyOf": .array(calls)])
        let schema = isList ? JSON.object(["type": "array", "minItems": 1, "items": call]) : call
        let inner = keys.enumerated().map { index, key in
            SchemaDocument.pointer(isList ? "/items" : "", "anyOf", String(index), "properties", key)
        }
        try self.init(.schema(schema), schema: schema, inner: inner)
    }

    /// A text that is a regular expression as a whole: ECMA-262 without lookaround and back-references.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` that names what is wrong or not supported.
    public init(regularExpression: String) throws(AIError) {
        var builder = GrammarBuilder("the regular expression")
        let pattern = try PatternParser.parse(regularExpression)
        let symbol = GrammarSymbol.terminal(builder.store.whole(pattern, .plain))
        try self.init(.regularExpression(regularExpression), builder, symbol)
    }

    /// A text of a grammar in GBNF (https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md), from its rule
    /// `root`.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` that names the line and what is wrong.
    public init(gbnf: String) throws(AIError) {
        var parser = try GBNFParser(gbnf)
        let symbol = try parser.compile()
        try self.init(.gbnf(gbnf), parser.builder, symbol)
    }

    /// Any JSON value.
    public static let json = known(.json, true)
    /// Any JSON object.
    public static let jsonObject = known(.jsonObject, .object(["type": "object"]))

    private static func known(_ source: Source, _ schema: JSON) -> OutputGrammar {
        do throws(AIError) { return try OutputGrammar(source, schema: schema) } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Whether a JSON value fits the schema, in whatever form it is written; true for a grammar that is no schema.
    public func fits(_ value: JSON) -> Bool {
        switch source {
        case .jsonObject: value.object != nil
        case .schema(let schema): (try? SchemaCheck(SchemaDocument(schema)).fits(value, "")) ?? false
        case .json, .regularExpression, .gbnf: true
        }
    }

    /// Whether its texts are JSON.
    public var isJSON: Bool {
        switch source {
        case .json, .jsonObject, .schema: true
        case .regularExpression, .gbnf: false
        }
    }

    /// Whether a text is what the grammar describes, and could have been written under it.
    public func allows(_ text: String) -> Bool {
        let automaton = PushdownAutomaton(compiled)
        var state = GrammarState(place: automaton.start)
        for byte in text.utf8 {
            guard let next = automaton.next(state, byte) else { return false }
            state = next
        }
        return automaton.isComplete(state)
    }

    /// The same with some white space before it.
    func afterSpace() throws(AIError) -> CompiledGrammar {
        var builder = builder
        var space = ByteSet()
        for byte in " \t\r\n".utf8 { space.insert(byte) }
        let gap = builder.store.repeated(builder.store.bytes(space), 0, Self.widestGap)
        let start = try builder.choice([[.terminal(gap), symbol]])
        return try CompiledGrammar(builder, start: start)
    }

    /// Characters of white space between a marker and what follows it.
    private static let widestGap = 4

    /// Equal sources.
    public static func == (left: OutputGrammar, right: OutputGrammar) -> Bool { left.source == right.source }

    /// Feeds the source to the hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(source) }
}
