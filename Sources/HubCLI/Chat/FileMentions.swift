import HubCore

/// The files that a message names with an @ before a path: `@notes.md`, `@"my notes.md"`.
enum FileMentions {
    /// The paths that are files, in their order, each once; and words that look like a path but name no file.
    static func read(_ text: String, _ environment: HubEnvironment) -> (files: [String], unknown: [String]) {
        var files: [String] = []
        var unknown: [String] = []
        for word in words(text) {
            let plain = String(word.reversed().drop { ".,;:!?)".contains($0) }.reversed())
            let path = [word, plain].first { !$0.isEmpty && isFile($0, environment) }
            if let path {
                if !files.contains(path) { files.append(path) }
            } else if plain.contains("/") || plain.dropFirst().contains(".") {
                unknown.append(plain)
            }
        }
        return (files, unknown)
    }

    private static func isFile(_ name: String, _ environment: HubEnvironment) -> Bool {
        (try? FileSystem.status(environment.expand(name)))??.kind == .file
    }

    /// What stands behind each @ at the beginning of a word.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var before: Character = " "
        var rest = Substring(text)
        while let character = rest.popFirst() {
            defer { before = character }
            guard character == "@", before.isWhitespace || "([\"'".contains(before) else { continue }
            let word: Substring
            if rest.first == "\"" {
                word = rest.dropFirst().prefix { $0 != "\"" && !$0.isNewline }
                rest = rest.dropFirst(word.count + 2)
            } else {
                word = rest.prefix { !$0.isWhitespace && $0 != "\"" }
                rest = rest.dropFirst(word.count)
            }
            words.append(String(word))
        }
        return words
    }
}
