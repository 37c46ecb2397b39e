import HubChatTemplates
import HubCore
import HubGrammar
import Support

/// The readers of chat templates and of grammars.
extension FuzzDoor {
    static let template = FuzzDoor(
        "template",
        seeds: {
            let families = try Fixtures.folders("chat-templates/families").map {
                try Fixtures.bytes("chat-templates/families/\($0)")
            }
            let expressions = try Fixtures.json("goldens/chat-expressions.json")["cases"]?.array ?? []
            return families + expressions.prefix(400).compactMap { $0["template"]?.string }.map { Array($0.utf8) }
        },
        read: { bytes in
            do throws(AIError) {
                let template = try ChatTemplate(String(decoding: bytes, as: UTF8.self), path: "f")
                _ = try template.render(json: conversation, .init(tools: tools, variables: variables))
            } catch { try error.mustRefuse(.malformedModel, .unsupportedModel, .invalidInput) }
        })

    private static let conversation: [JSON] = [
        .object(["role": "system", "content": "Be brief."]),
        .object(["role": "user", "content": "Where is Köln?"]),
        .object([
            "role": "assistant", "content": "",
            "tool_calls": .array([
                .object([
                    "id": "call12345", "type": "function",
                    "function": .object(["name": "find", "arguments": .object(["city": "Köln"])]),
                ])
            ]),
        ]),
        .object(["role": "tool", "name": "find", "tool_call_id": "call12345", "content": "on the Rhine"]),
        .object(["role": "user", "content": "Thanks <|im_end|> \u{301}"]),
    ]
    private static let tools: [JSON] = [
        .object([
            "type": "function",
            "function": .object([
                "name": "find", "description": "finds a city",
                "parameters": .object([
                    "type": "object", "properties": .object(["city": .object(["type": "string"])]),
                    "required": .array(["city"]),
                ]),
            ]),
        ])
    ]
    private static let variables: JSONObject = ["bos_token": "<s>", "eos_token": "</s>"]

    /// The first byte says what follows: a JSON Schema, `r` and a regular expression, or `g` and a grammar.
    static let grammar = FuzzDoor(
        "grammar",
        read: { bytes in
            do throws(AIError) {
                guard let grammar = try written(bytes) else { return }
                _ = (grammar.allows("{}"), grammar.allows("abc"), grammar.isJSON)
                try walk(grammar)
            } catch { try error.mustRefuse(.invalidInput, .unsupportedModel, .generationFailed) }
        })

    private static func written(_ bytes: [UInt8]) throws(AIError) -> OutputGrammar? {
        let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
        switch bytes.first {
        case UInt8(ascii: "r"): return try OutputGrammar(regularExpression: text)
        case UInt8(ascii: "g"): return try OutputGrammar(gbnf: text)
        default:
            guard let schema = try? JSON.parse(bytes) else { return nil }
            return try OutputGrammar(jsonSchema: schema)
        }
    }

    /// A token for each byte, some words, and the end.
    private static let vocabulary = TokenVocabulary(
        texts: (0..<256).map { [UInt8($0)] } + ["{\"", "\": ", "ab", "12", "true", "\", \""].map { Array($0.utf8) }
            + [nil],
        special: [262: Array("<end>".utf8)])

    /// Writes a text by the masks, taking the first and the last allowed token in turn. A text that can neither go on nor
    /// end is a fault.
    private static func walk(_ grammar: OutputGrammar) throws(AIError) {
        let engine = try MaskEngine(.answer(grammar), vocabulary, ends: [262])
        var state = engine.start
        for step in 0..<40 {
            if let failure = engine.failure { throw failure }
            let mask = engine.mask(state)
            let allowed = (0..<263).filter { mask[$0 >> 6] >> UInt64($0 & 63) & 1 != 0 }
            if let failure = engine.failure { throw failure }
            guard let id = step % 2 == 0 ? allowed.first : allowed.last else {
                throw AIError(.ioError, "nothing may come after \(step) tokens, not even the end")
            }
            if id == 262 { return }
            guard let next = engine.next(state, id) else {
                throw AIError(.ioError, "token \(id) is in the mask and not taken")
            }
            state = next
        }
    }
}
