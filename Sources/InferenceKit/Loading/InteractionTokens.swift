import HubCore
import HubTokenizers
import ModelFormats

/// What a tokenizer makes of the settings of late interaction.
struct InteractionTokens: Sendable {
    let settings: LateInteraction
    /// The ids of the marks that are tokens.
    private(set) var marks: [LateInteraction.Side: Int] = [:]
    private(set) var skipped: Set<Int> = []
    /// With which queries are filled up; nil where they are not.
    private(set) var filler: Int?

    /// - Parameters:
    ///   - ends: the ids of tokens that end texts.
    ///   - folder: with the tokenizer's files.
    /// - Throws: ``ErrorCode/malformedModel`` without a token to fill queries with.
    init(
        _ settings: LateInteraction, _ tokenizer: Tokenizer, ends: Set<Int>, folder: String
    ) throws(AIError) {
        self.settings = settings
        for (side, mark) in settings.marks {
            // A token may have the space at its end or not.
            let words = mark.split(whereSeparator: \.isWhitespace)
            guard words.count == 1, let word = words.first else { continue }
            marks[side] = tokenizer.id(of: mark) ?? tokenizer.id(of: String(word))
        }
        skipped = Set(settings.skipped.compactMap(tokenizer.id))
        guard let expansion = settings.expansion else { return }
        if let token = expansion.token {
            filler = tokenizer.id(of: token)
        } else {
            filler = try MaskToken(folder: folder, tokenizer)?.id
            filler = filler ?? ends.min()
        }
        guard filler != nil else {
            throw .malformed(folder, "its tokenizer has no token to fill queries with")
        }
    }
}
