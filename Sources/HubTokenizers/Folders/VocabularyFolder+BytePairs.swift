import HubCore
import ModelFormats

/// vocab.json and merges.txt: byte-level pairs.
extension VocabularyFolder {
    /// RoBERTa, DeBERTa and GPT-2.
    func bytePairs() throws(AIError) -> TokenizerParts {
        let vocabulary = try jsonVocabulary()
        let model = BytePairModel(vocabulary, try merges(vocabulary), BytePairModel.Settings(), wantsBytes: true)
        let addsPrefixSpace = settings.bool("add_prefix_space") ?? false
        var preTokenizer = PreTokenizer([
            .byteLevel(addsPrefixSpace: addsPrefixSpace, try Pattern(Pattern.gpt2, path: path))
        ])
        preTokenizer.leavesBytes = model.takesBytes
        let added = try special.added(Normalizer([]), vocabulary)
        return TokenizerParts(
            kind: "byte-level BPE", model: .bytePair(model), added: added, preTokenizer: preTokenizer,
            postProcessor: try template(added, addsPrefixSpace: addsPrefixSpace),
            decoder: TokenDecoder([.byteLevel]))
    }

    /// vocab.json: tokens with their ids.
    func jsonVocabulary() throws(AIError) -> Vocabulary {
        let bytes = try contents(path)
        let result: Result<Vocabulary, AIError>
        do {
            result = try JSONCursor.read(bytes) { cursor in
                Result { () throws(AIError) in try ModelPart.vocabulary(cursor, path: path) }
            }
        } catch {
            throw .malformed(path, "\(error)", cause: error)
        }
        return try result.get()
    }

    private func template(_ added: AddedTokens, addsPrefixSpace: Bool) throws(AIError) -> PostProcessor {
        if tokenizerClass == .gpt2 {
            return PostProcessor(
                before: settings.bool("add_bos_token") == true ? try id("bos_token", added) : nil,
                after: settings.bool("add_eos_token") == true ? try id("eos_token", added) : nil)
        }
        let trims = tokenizerClass == .roberta && settings.bool("trim_offsets") ?? true
        return .roberta(
            cls: try id("cls_token", added), sep: try id("sep_token", added),
            trims ? OffsetTrimming(addsPrefixSpace: addsPrefixSpace) : nil)
    }

    private func merges(_ vocabulary: Vocabulary) throws(AIError) -> MergeTable {
        let path = Path.join(folder, "merges.txt")
        let bytes = try contents(path)
        let result = bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(AIError) in
                let lines = bytes.split(separator: UInt8(ascii: "\n"))
                var pairs = MergePairs(count: lines.count)
                for line in lines where pairs.isWhole {
                    let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
                    guard !line.isEmpty, !line.starts(with: "#version".utf8) else { continue }
                    pairs.append(UnsafeBufferPointer(rebasing: line))
                }
                return try pairs.table(vocabulary, path: path)
            }
        }
        return try result.get()
    }
}
