package import HubCore
package import ModelFormats

extension ChatTemplates {
    /// The templates of a GGUF file; nil if it has none.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    package static func read(gguf file: GGUFFile) throws(AIError) -> ChatTemplates? {
        let texts = file.header.metadata.compactMap { key, value in value.string.map { (key: key, value: $0) } }
        guard texts.contains(where: { $0.key.hasPrefix("tokenizer.chat_template") }) else { return nil }
        var special = JSONObject()
        let tokens = try GGUFTokenizerValues(file).texts("tokens")
        for (key, name) in [
            ("bos", "bos_token"), ("eos", "eos_token"), ("unknown", "unk_token"), ("seperator", "sep_token"),
            ("padding", "pad_token"), ("cls", "cls_token"), ("mask", "mask_token"),
        ] {
            guard let id = try GGUFTokenizerValues(file).id(key), tokens.indices.contains(id) else { continue }
            special[name] = .string(String(decoding: tokens[id], as: UTF8.self))
        }
        return gguf(texts, specialTokens: special, path: file.file.path)
    }
}
