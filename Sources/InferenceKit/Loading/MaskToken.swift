import HubCore
import HubTokenizers
import ModelFormats

/// The token in whose place a masked model finds words.
struct MaskToken: Sendable, Hashable {
    /// As it is written in a text.
    let spelling: String
    let id: Int

    /// As models usually write it; people may write either, whichever the model has.
    static let usual = ["[MASK]", "<mask>"]

    /// What the tokenizer's files name, or else one of the usual ones; nil if the tokenizer has none.
    ///
    /// - Parameter folder: nil for a model in one file.
    /// - Throws: ``ErrorCode/malformedModel`` for files that are not JSON.
    init?(folder: String?, _ tokenizer: Tokenizer) throws(AIError) {
        var named: [String] = []
        for file in ["tokenizer_config.json", "special_tokens_map.json"] {
            guard let folder else { break }
            let entry = try JSONFile.read(Path.join(folder, file))?["mask_token"]
            if let spelling = entry?.string ?? entry?["content"]?.string { named.append(spelling) }
        }
        for spelling in named + Self.usual {
            guard let id = tokenizer.id(of: spelling) else { continue }
            (self.spelling, self.id) = (spelling, id)
            return
        }
        return nil
    }

    /// A text with the model's own mask in place of the usual ones.
    func written(in text: String) -> String {
        Self.usual.filter { $0 != spelling }.reduce(text) { $0.replacing($1, with: spelling) }
    }
}
