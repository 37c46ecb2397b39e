package import HubCore

extension Tokenizer {
    /// What each token adds to a text, by id; nil for special and added tokens and others that are no text.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a tokenizer whose tokens' texts depend on their neighbours.
    package func texts() throws(AIError) -> [[UInt8]?] {
        var texts = [[UInt8]?](repeating: nil, count: idCount)
        let isByteLevel = decoder.isByteLevel
        guard isByteLevel || decoder.stages.allSatisfy(Self.isLocal) else {
            throw AIError(
                .unsupportedModel,
                "the tokenizer (\(kind)) writes a token differently beside others, so its model cannot be held to a grammar"
            )
        }
        model.vocabulary.forEach { id, spelling in
            let id = Int(id)
            guard addedSpellings[id] == nil, !specialIDs.contains(id) else { return }
            texts[id] = isByteLevel ? ByteLevelAlphabet.bytes(of: spelling) : decoder.text(of: Array(spelling), id)
        }
        return texts
    }

    /// The spellings of special and added tokens, by id.
    package var markers: [Int: [UInt8]] {
        var markers = addedSpellings
        for id in specialIDs { markers[id] = markers[id] ?? spelling(of: id) }
        return markers
    }

    /// Whether a text loses the space that its first token begins with.
    package var dropsFirstSpace: Bool {
        decoder.stages.contains { stage in
            switch stage {
            case .metaspace(_, let dropsFirst): dropsFirst
            case .strip(let content, let start, _): content == 0x20 && start > 0
            case .sentencePiece(let decoder): decoder.dropsFirstSpace || decoder.dropsAllFirstSpaces
            default: false
            }
        }
    }

    /// Whether a stage writes a token the same wherever it stands, a space at the beginning of the text apart.
    private static func isLocal(_ stage: TokenDecoder.Stage) -> Bool {
        switch stage {
        case .metaspace, .byteFallback, .fuse, .replace, .sentencePiece: true
        case .strip(_, _, let stop): stop == 0
        case .byteLevel, .wordPiece, .bytePair, .ctc, .spaced: false
        }
    }
}

extension TokenDecoder {
    /// The text of a token that does not stand at the beginning; nil for one that is no text.
    fileprivate func text(of token: [UInt8], _ id: Int) -> [UInt8]? {
        var text = token
        for stage in stages {
            switch stage {
            case .sentencePiece(let decoder):
                switch decoder.types.indices.contains(id) ? decoder.types[id] : .userDefined {
                case .byte: return DecodingRun.byte(token).map { [$0] }
                case .control, .unknown: return nil
                default: text = text.replacing(SentencePieceSpace.bytes, with: [UInt8(ascii: " ")])
                }
            case .byteFallback:
                if let byte = DecodingRun.byte(text) { return [byte] }
            case .metaspace, .replace: text = stage.text(of: text, isFirst: false) ?? text
            default: break
            }
        }
        return text
    }
}
