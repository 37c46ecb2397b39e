/// The tokens that end a text, as in llama.cpp
/// (https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp, `special_eog_ids`). Many files name only one
/// of them, and not the one that ends a turn.
extension GGUFVocabulary {
    /// Tokens that end a text.
    struct Ends {
        var all: Set<Int>
        /// Those of them that are control tokens although the file gives them another type.
        var retyped: Set<Int>
    }

    /// Texts that always end a text. A file that gives such a token another type than control is wrong.
    private static let plain: Set<String> = [
        "<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|calls|>", "<|flush|>",
        "<|endoftext|>", "<|end_of_text|>", "<end_of_turn>", "<end_of_utterance>", "<turn|>", "<|tool_response>",
        "<｜end▁of▁sentence｜>",
    ]

    /// Texts that end a text only if their token's type is control: some vocabularies have them as words.
    private static let controlling: Set<String> = [
        "</s>", "<eos>", "[EOS]", "[EOT]", "<EOT>", "_<EOT>", "▁<EOT>", "<|fim_pad|>", "<fim-pad>", "<fim_pad>",
        "<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<reponame>", "<|file_sep|>",
    ]

    /// The tokens that the file names, and those that are known by their texts.
    var ends: Ends {
        var named: [String: Int] = [:]
        var retyped: Set<Int> = []
        for (id, token) in tokens.enumerated()
        where token.last == UInt8(ascii: ">") || token.last == UInt8(ascii: "]") {
            let text = String(decoding: token, as: UTF8.self)
            let isControl = types.isEmpty || types[id] == ScoredPieces.PieceType.control.rawValue
            let isPlain = Self.plain.contains(text)
            guard isPlain || isControl && Self.controlling.contains(text), named[text] == nil else { continue }
            named[text] = id
            if !isControl { retyped.insert(id) }
        }
        // These models end each message with <|end|>, and an answer of several messages with another token.
        let endsMessages = [["<|return|>", "<|call|>"], ["<|flush|>", "<|calls|>"]]
        if endsMessages.contains(where: { $0.allSatisfy { named[$0] != nil } }) { named["<|end|>"] = nil }
        // In Gemma 4's vocabulary </s> is an HTML tag.
        if named["<|tool_response>"] != nil { named["</s>"] = nil }
        let told = ([endID].compactMap { $0 } + otherEndIDs).filter(tokens.indices.contains)
        return Ends(all: Set(named.values).union(told), retyped: retyped.intersection(named.values))
    }

    /// The vocabulary with the corrected types of its ends.
    func controlling(_ ends: Ends) -> GGUFVocabulary {
        var result = self
        for id in ends.retyped { result.types[id] = ScoredPieces.PieceType.control.rawValue }
        return result
    }
}
