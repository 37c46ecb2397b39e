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
        otherEndIDs = try values.ends()
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
