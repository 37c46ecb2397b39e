extension ScoredPieces {
    /// The tokens of some types, to be matched before anything else.
    func addedTokens(_ wanted: Set<PieceType>) -> [AddedTokens.Token] {
        var tokens: [AddedTokens.Token] = []
        var seen: Set<[UInt8]> = []
        for (id, type) in types.enumerated() where wanted.contains(type) {
            guard let spelling = vocabulary.spelling(of: id).map({ Array($0) }), !spelling.isEmpty,
                seen.insert(spelling).inserted
            else { continue }
            tokens.append(
                AddedTokens.Token(id: id, content: spelling, isSpecial: type == .control || type == .unknown))
        }
        return tokens
    }
}
