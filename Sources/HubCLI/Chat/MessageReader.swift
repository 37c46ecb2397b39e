import HubCore

/// The messages that a person types: lines, and texts of several lines. A pasted text is one message. A backslash at the end of a line continues it;
/// """ begins and ends a block.
struct MessageReader {
    private let editor: LineEditor

    private static let prompt = "> "
    private static let furtherPrompt = ". "
    private static let quotes = "\"\"\""

    init(_ suspension: Suspension) throws(AIError) {
        editor = try LineEditor(prompts: [Self.prompt, Self.furtherPrompt], suspension: suspension)
    }

    /// The next message; nil at the end of the input (^D).
    ///
    /// - Parameter prefilled: stands in the line to be edited.
    func message(prefilled: String? = nil) async throws -> String? {
        if let prefilled { editor.prefill(prefilled) }
        guard let first = try await line(0) else { return nil }
        // What was pasted is the message, whatever it ends with.
        if first.contains(where: \.isNewline) { return first }
        if let begin = first.range(of: Self.quotes), Self.beginsBlock(first[..<begin.lowerBound]) {
            return try await block(first, from: begin)
        }
        var text = first
        while Self.continues(text) {
            text.removeLast()
            guard let next = try await line(1) else { break }
            text += "\n" + next
        }
        return text
    }

    private func line(_ prompt: Int) async throws -> String? {
        let line = try await editor.line(prompt: prompt)
        if let line, line.contains(where: { !$0.isWhitespace }) { editor.remember(line) }
        return line
    }

    /// Messages of before, the latest last, for the key Up.
    func remember(_ messages: [String]) { for message in messages { editor.remember(message) } }

    /// A block begins a message, or the text of a command.
    private static func beginsBlock(_ before: Substring) -> Bool {
        let words = before.split(separator: " ")
        return words.isEmpty || words.count == 1 && words[0].hasPrefix("/")
    }

    /// Whether a line ends with a backslash that no other one escapes.
    private static func continues(_ text: String) -> Bool {
        text.reversed().prefix { $0 == "\\" }.count % 2 == 1
    }

    private func block(_ first: String, from begin: Range<String.Index>) async throws -> String? {
        let command = String(first[..<begin.lowerBound])
        var lines: [String] = []
        var current = String(first[begin.upperBound...])
        while true {
            if let end = current.range(of: Self.quotes) {
                lines.append(String(current[..<end.lowerBound]))
                break
            }
            lines.append(current)
            // ^D takes the block back.
            guard let next = try await line(1) else { return "" }
            current = next
        }
        if lines.first?.allSatisfy(\.isWhitespace) == true { lines.removeFirst() }
        if lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        return command + lines.joined(separator: "\n")
    }
}
