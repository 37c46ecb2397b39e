import HubChatTemplates
import HubCore
import HubServer
import HubTokenizers
import InferenceKit

/// llama.cpp's calls about tokens and templates. Without `model` they mean the only one that is open.
struct TokenCalls: Sendable {
    let shelf: Shelf
    let runner: TurnRunner

    func tokenize(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        let text = try fields.required("content", try fields.string("content", "prompt"))
        let addsSpecial = try fields.bool("add_special") ?? false
        let withPieces = try fields.bool("with_pieces") ?? false
        try fields.refuse("parse_special", unless: [true], "special tokens are always read")
        return try answer(request, fields) { model in
            let ids = try model.language.tokenizer.encode(text, addSpecialTokens: addsSpecial)
            let tokens = ids.map { id -> JSON in
                guard withPieces else { return .int(Int64(id)) }
                let bytes = model.bytes(of: id)
                let piece: JSON =
                    String(validating: bytes, as: UTF8.self).map { .string($0) }
                    ?? .array(bytes.map { .int(Int64($0)) })
                return .object(["id": .int(Int64(id)), "piece": piece])
            }
            return ["tokens": .array(tokens)]
        }
    }

    func detokenize(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        var ids: [Int] = []
        for id in try fields.required("tokens", try fields.array("tokens")) {
            guard let id = id.int, id >= 0, id <= Int32.max else {
                throw .invalid("'tokens' must be ids of tokens", param: "tokens")
            }
            ids.append(Int(id))
        }
        return try answer(request, fields) { [ids] model in
            ["content": .string(try model.language.tokenizer.decode(ids))]
        }
    }

    func applyTemplate(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let fields = try Fields(request)
        let messages = try ReadMessages.messages(try fields.required("messages", try fields.array("messages")))
        let tools = try fields.array("tools") ?? []
        return try answer(request, fields) { model in
            ["prompt": .string(try await model.language.prompt(for: messages, ChatOptions(tools: tools)))]
        }
    }

    private func answer(
        _ request: HTTPRequest, _ fields: Fields, _ body: @escaping @Sendable (OpenModel) async throws -> JSONObject
    ) throws(APIFault) -> HTTPResponse {
        let name = try fields.string("model")
        let keepAlive = try fields.keepAlive()
        return try Whole.answer(for: request) {
            let cached = try await runner.model(name, of: shelf)
            return .json(.object(try await runner.pool.with(cached, keepAlive: keepAlive) { try await body($0) }))
        }
    }
}
