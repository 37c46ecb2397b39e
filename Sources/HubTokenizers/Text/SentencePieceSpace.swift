/// How SentencePiece writes a space.
enum SentencePieceSpace {
    /// `▁`
    static let bytes: [UInt8] = [0xE2, 0x96, 0x81]
}
