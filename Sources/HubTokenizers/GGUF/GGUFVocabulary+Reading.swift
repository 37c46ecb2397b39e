package import HubCore
package import ModelFormats

extension GGUFVocabulary {
    /// Reads the tokenizer from a GGUF file's metadata; nil if it has none.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a value of the wrong type.
    package init?(_ file: GGUFFile) throws(AIError) {
        let header = file.header
        guard let model = header["tokenizer.ggml.model"]?.string, model != "no_vocab" else { return nil }
        let values = GGUFTokenizerValues(file)
        self.init(
            model: model, preTokenizer: header["tokenizer.ggml.pre"]?.string, tokens: try values.texts("tokens"))
        scores = try values.numbers("scores").map { Float($0.double ?? .nan) }
        types = try values.numbers("token_type").map { $0.int.flatMap(Int.init(exactly:)) ?? 0 }
        merges = try values.texts("merges")
        charsmap = try values.bytes("precompiled_charsmap")
        name = header["general.name"]?.string ?? ""
        architecture = header["general.architecture"]?.string ?? ""
        beginID = values.id("bos")
        endID = values.id("eos")
        unknownID = values.id("unknown")
        separatorID = values.id("seperator") ?? values.id("separator")
        classID = values.id("cls")
        addsBegin = values.flag("add_bos_token")
        addsEnd = values.flag("add_eos_token")
        addsSpacePrefix = values.flag("add_space_prefix")
        removesExtraSpaces = values.flag("remove_extra_whitespaces")
        lowercases = values.flag("normalizer.lowercase")
        stripsAccents = values.flag("normalizer.strip_accents")
    }
}

/// The values of a GGUF file below `tokenizer.ggml`.
private struct GGUFTokenizerValues {
    private let file: GGUFFile

    init(_ file: GGUFFile) { self.file = file }

    private func value(_ key: String) -> GGUFValue? { file.header["tokenizer.ggml.\(key)"] }

    private func fault(_ key: String) -> AIError {
        .malformed(file.file.path, "tokenizer.ggml.\(key) has the wrong type")
    }

    func flag(_ key: String) -> Bool? { value(key)?.bool }

    /// An impossible id means none: some converters write the largest number.
    func id(_ key: String) -> Int? {
        guard let id = value("\(key)_token_id")?.int, id >= 0, id < Int64(UInt32.max) else { return nil }
        return Int(id)
    }

    /// Empty if the file has no such array.
    func texts(_ key: String) throws(AIError) -> [[UInt8]] {
        guard let value = value(key) else { return [] }
        guard let array = value.array else { throw fault(key) }
        var texts: [[UInt8]] = []
        texts.reserveCapacity(array.count)
        guard array.eachString(in: file.file.bytes, { texts.append(Array($0)) }) else { throw fault(key) }
        return texts
    }

    func numbers(_ key: String) throws(AIError) -> [GGUFValue] {
        guard let value = value(key) else { return [] }
        guard let numbers = value.array?.values(in: file.file.bytes) else { throw fault(key) }
        return numbers
    }

    func bytes(_ key: String) throws(AIError) -> [UInt8] {
        guard let value = value(key) else { return [] }
        guard let array = value.array, array.element.size == 1 else { throw fault(key) }
        return Array(file.file.bytes[array.byteRange])
    }
}

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
            guard let id = GGUFTokenizerValues(file).id(key), tokens.indices.contains(id) else { continue }
            special[name] = .string(String(decoding: tokens[id], as: UTF8.self))
        }
        return gguf(texts, specialTokens: special, path: file.file.path)
    }
}
