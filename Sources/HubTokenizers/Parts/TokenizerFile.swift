import HubCore
import ModelFormats

/// A tokenizer.json.
struct TokenizerFile {
    /// Maximum file size in bytes.
    static let largest = 256 << 20

    let parts: TokenizerParts

    /// The content of a vocabulary file; nil if there is none.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a Git LFS pointer, or the error of the failed system call.
    static func contents(_ path: String) throws(AIError) -> [UInt8]? {
        guard let bytes = try FileSystem.contents(path, limit: largest) else { return nil }
        try LFSPointer.refuse(bytes, fileSize: Int64(bytes.count), path: path)
        return bytes
    }

    /// - Parameter bytes: Written to while parsing and restored at the end.
    /// - Throws: ``ErrorCode/unsupportedModel`` for what is not implemented, ``ErrorCode/malformedModel``.
    init(_ bytes: inout [UInt8], path: String) throws(AIError) {
        let result: Result<TokenizerParts, AIError>
        do {
            // The longest list is nearly always in `model`.
            result = try JSONCursor.read(&bytes, dividing: "model", ModelPart.lists) { root, rest in
                Result { () throws(AIError) in try Self.parts(root, rest, path) }
            }
        } catch {
            throw .malformed(path, "\(error)", cause: error)
        }
        parts = try result.get()
    }

    private static func parts(
        _ cursor: JSONCursor, _ rest: JSONCursor.Rest?, _ path: String
    ) throws(AIError) -> TokenizerParts {
        var members: [(key: String, value: JSON)] = []
        var modelCursor: JSONCursor?
        let isObject = cursor.members { key, value in
            if key.equals("model") {
                modelCursor = value
            } else {
                members.append((String(decoding: key, as: UTF8.self), value.json))
            }
            return true
        }
        guard isObject else { throw .malformed(path, "tokenizer.json is not an object") }
        for (key, value) in rest?.rootMembers ?? [] {
            members.append((String(decoding: key, as: UTF8.self), value.json))
        }
        let root = try TokenizerComponent(.object(JSONObject(members)), place: "tokenizer.json", path: path)
        // The reference refuses an unknown part too.
        try root.allowOnly([
            "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
            "decoder",
        ])
        if let version = root["version"], version != "1.0" {
            throw root.refuse("version \(version.string ?? version.text())")
        }
        func part(_ key: String) throws(AIError) -> TokenizerComponent? {
            guard let json = root[key] else { return nil }
            return try TokenizerComponent(json, place: key, path: path)
        }
        guard let modelCursor, !modelCursor.isNull else { throw .malformed(path, "it has no model") }
        let modelPart = try ModelPart(modelCursor, rest, path: path)
        let normalizer = try Normalizer(part("normalizer"))
        var preTokenizer = try PreTokenizer(part("pre_tokenizer"))
        let model = try TokenizerModel(modelPart, wantsBytes: preTokenizer.endsInBytes)
        preTokenizer.leavesBytes = model.takesBytes
        let isByteLevel = modelPart.kind == "BPE" && preTokenizer.endsInBytes
        let list = root["added_tokens"]?.array ?? []
        let added = try AddedTokens(list, normalizer, model.vocabulary, path: path)
        return TokenizerParts(
            kind: isByteLevel ? "byte-level BPE" : modelPart.kind, model: model, added: added,
            normalizer: normalizer, preTokenizer: preTokenizer,
            postProcessor: try PostProcessor(part("post_processor")), decoder: try TokenDecoder(part("decoder")),
            truncation: try part("truncation").map { json throws(AIError) in try Truncation(json) },
            padding: try part("padding").map { json throws(AIError) in try Padding(json) })
    }
}
