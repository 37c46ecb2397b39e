/// A key as the full-screen list knows it.
enum ScreenKey: Sendable, Hashable {
    case up, down, pageUp, pageDown, home, end, enter, backspace, escape
    /// ^L: the screen is to be drawn anew.
    case redraw
    case character(Character)
    /// One without a meaning here.
    case other

    /// A character that a terminal sends, with what stands behind the controls.
    init(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x1B: self = .escape
        case 0x0C: self = .redraw
        case 0x00..<0x20, 0x7F..<0xA0: self = .other
        default: self = .character(Character(scalar))
        }
    }
}

/// What a key asks of the world outside the model.
enum ScreenEffect: Sendable, Hashable {
    case none
    /// The key has no meaning here.
    case beep
    case redraw
    /// Pin or unpin a revision; the model gets the result.
    case pin(item: Int, Bool)
    /// The plan of what is marked is to be made and shown.
    case review
    /// What the review shows is to go, or to be moved into the trash.
    case delete(isTrash: Bool)
    case quit
}
