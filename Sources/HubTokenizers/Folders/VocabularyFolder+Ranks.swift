import HubCore
import ModelFormats

/// tiktoken.model: a token of bytes in base64 and its rank in each line (https://github.com/openai/tiktoken). Of all pairs of
/// neighbours, the one whose result has the lowest rank becomes one token.
extension VocabularyFolder {
    /// Tokens behind those of the file that have a place whether they are named or not.
    private static let reserved = 256

    /// Kimi K2.
    func ranked() throws(AIError) -> TokenizerParts {
        let tokens = try rankedTokens()
        var vocabulary = Vocabulary(count: tokens.count)
        for (rank, token) in tokens.enumerated() {
            ByteLevelAlphabet.spelling(of: token).withUnsafeBufferPointer {
                _ = vocabulary.add($0, id: Int32(rank))
            }
        }
        var rules = BytePairModel.Settings()
        rules.ignoresMerges = true
        let model = BytePairModel(vocabulary, Self.merges(tokens, vocabulary), rules, wantsBytes: true)
        let cutting = try GGUFPreTokenizer("kimi-k2", path: path)
        var preTokenizer = cutting.preTokenizer
        preTokenizer.leavesBytes = model.takesBytes
        return TokenizerParts(
            kind: "byte-level BPE", model: .bytePair(model), added: try behind(tokens.count),
            showsAddedAsTheyAre: true, preTokenizer: preTokenizer, decoder: cutting.decoder)
    }

    /// The tokens of the file by rank.
    private func rankedTokens() throws(AIError) -> [[UInt8]] {
        let lines = try contents(path).split(separator: UInt8(ascii: "\n"))
        var tokens = [[UInt8]](repeating: [], count: lines.count)
        for (number, line) in lines.enumerated() {
            let parts = line.split(separator: UInt8(ascii: " "))
            guard parts.count == 2, let rank = Int(String(decoding: parts[1], as: UTF8.self)),
                let bytes = Base64.bytes(String(decoding: parts[0], as: UTF8.self)), !bytes.isEmpty,
                tokens.indices.contains(rank), tokens[rank].isEmpty
            else { throw .malformed(path, "line \(number + 1) is not a token and its rank") }
            tokens[rank] = bytes
        }
        return tokens
    }

    /// Every way to make a token of two.
    private static func merges(_ tokens: [[UInt8]], _ vocabulary: Vocabulary) -> MergeTable {
        var pairs: [(left: Int32, right: Int32, merge: MergeTable.Merge)] = []
        for (rank, token) in tokens.enumerated() where token.count > 1 {
            let merge = MergeTable.Merge(rank: Int32(rank), result: Int32(rank))
            ByteLevelAlphabet.spelling(of: token).withUnsafeBufferPointer { spelling in
                // Some bytes are spelled as two.
                for middle in 1..<spelling.count where spelling[middle] & 0xC0 != 0x80 {
                    guard let left = vocabulary.id(of: UnsafeBufferPointer(rebasing: spelling[..<middle])),
                        let right = vocabulary.id(of: UnsafeBufferPointer(rebasing: spelling[middle...]))
                    else { continue }
                    pairs.append((left, right, merge))
                }
            }
        }
        var table = MergeTable(count: pairs.count)
        table.set(pairs)
        return table
    }

    /// The special tokens, whose ids follow those of the file: by `added_tokens_decoder`, or under a name that says the id.
    private func behind(_ count: Int) throws(AIError) -> AddedTokens {
        var contents: [Int: String] = [:]
        for id in count..<count + Self.reserved { contents[id] = "<|reserved_token_\(id)|>" }
        for (key, token) in settings.config?["added_tokens_decoder"]?.object?.members ?? [] {
            guard let id = Int(key), (count...Int(Int32.max)).contains(id), let content = token["content"]?.string,
                !content.isEmpty
            else {
                throw .malformed(settings.configPath, "added_tokens_decoder has no valid token \(key.excerpt)")
            }
            contents[id] = content
        }
        return AddedTokens(
            contents.sorted { $0.key < $1.key }.map { AddedTokens.Token(id: $0.key, content: Array($0.value.utf8)) }
        )
    }
}
