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
        beginID = try values.id("bos")
        endID = try values.id("eos")
        otherEndIDs = try values.ends()
        unknownID = try values.id("unknown")
        // As llama.cpp spells it, and as it should be.
        let misspelled = try values.id("seperator")
        let separator = try values.id("separator")
        separatorID = misspelled ?? separator
        classID = try values.id("cls")
        addsBegin = try values.flag("add_bos_token")
        addsEnd = try values.flag("add_eos_token")
        addsSpacePrefix = try values.flag("add_space_prefix")
        removesExtraSpaces = try values.flag("remove_extra_whitespaces")
        lowercases = try values.flag("normalizer.lowercase")
        stripsAccents = try values.flag("normalizer.strip_accents")
    }
}
