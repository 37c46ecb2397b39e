/// Decodes pieces as SentencePiece does
/// (https://github.com/google/sentencepiece/blob/master/src/sentencepiece_processor.cc, `Decode`).
struct SentencePieceDecoder: Sendable {
    let types: [ScoredPieces.PieceType]
    /// The text of an unknown piece.
    let unknownSurface: [UInt8]
    /// Whether the first piece loses its added space.
    let dropsFirstSpace: Bool
    /// Whether all pieces lose it until there is some text.
    let dropsAllFirstSpaces: Bool

    struct State {
        fileprivate var bytes: [UInt8] = []
        fileprivate var isPastSpace = false
        fileprivate var hasText = false
    }

    func push(_ id: Int, _ piece: [UInt8], _ state: inout State, _ output: inout [UInt8]) {
        let type = types.indices.contains(id) ? types[id] : .userDefined
        if type == .byte, let byte = DecodingRun.byte(piece) {
            state.bytes.append(byte)
            return passOn(&state, &output, isLast: false)
        }
        passOn(&state, &output, isLast: true)
        let isAtStart = !state.isPastSpace && !state.hasText
        var text = piece
        switch type {
        case .control: break
        case .unknown: text = unknownSurface
        default:
            let space = SentencePieceSpace.bytes
            if isAtStart, dropsFirstSpace, text.starts(with: space) {
                text.removeFirst(space.count)
                state.isPastSpace = !dropsAllFirstSpaces
            }
            text = text.replacing(space, with: [UInt8(ascii: " ")])
        }
        state.hasText = state.hasText || !text.isEmpty
        output += text
    }

    func finish(_ state: inout State, _ output: inout [UInt8]) { passOn(&state, &output, isLast: true) }

    /// Passes on whole characters; each invalid byte becomes U+FFFD.
    private func passOn(_ state: inout State, _ output: inout [UInt8], isLast: Bool) {
        var at = 0
        let bytes = state.bytes
        while at < bytes.count {
            let width = bytes[at] < 0xC2 ? 1 : bytes.width(at: at)
            let character = bytes[at..<min(at + width, bytes.count)]
            if String(validating: character, as: UTF8.self) != nil {
                output += character
                at += width
            } else if !isLast, TextAssembler.isUnfinished(character) {
                break
            } else {
                output += "\u{FFFD}".utf8
                at += 1
            }
        }
        if at > 0 { state.hasText = true }
        state.bytes.removeFirst(at)
    }
}
