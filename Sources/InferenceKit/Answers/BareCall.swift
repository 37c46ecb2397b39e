/// A call without a marker, as Llama writes it: the answer is JSON with the tool's name.
enum BareCall {
    private static let beginnings = ["name", "type", "function", "parameters", "arguments", "id"].map {
        "{\"\($0)\":"
    }

    /// Whether an answer that begins so may be one.
    static func isPossible(_ text: String) -> Bool {
        var compact = ""
        for character in text where !character.isWhitespace {
            compact.append(character)
            // Longer than any of them.
            if compact.utf8.count > 16 { break }
        }
        return beginnings.contains { $0.hasPrefix(compact) || compact.hasPrefix($0) }
    }
}
