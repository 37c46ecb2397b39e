/// Cuts a text where JSON values in it end.
enum JSONPieces {
    /// The values that stand one after the other: objects and lists. What is between them is left out; the last may be
    /// broken.
    static func split(_ text: String) -> [String] {
        var pieces: [String] = []
        var start: String.Index?
        walk(text) { index, character, depth in
            if start == nil, character == "{" || character == "[" { start = index }
            if let begin = start, depth == 0, character == "}" || character == "]" {
                pieces.append(String(text[begin...index]))
                start = nil
            }
        }
        if let start { pieces.append(String(text[start...])) }
        return pieces
    }

    /// The parts between separators that stand in no value.
    static func split(_ text: String, at separator: Character) -> [String] {
        var parts: [String] = []
        var start = text.startIndex
        walk(text) { index, character, depth in
            guard depth == 0, character == separator else { return }
            parts.append(String(text[start..<index]))
            start = text.index(after: index)
        }
        let last = String(text[start...])
        return last.allSatisfy(\.isWhitespace) ? parts : parts + [last]
    }

    /// Calls with each character outside of strings, and the depth behind it.
    private static func walk(_ text: String, _ each: (String.Index, Character, Int) -> Void) {
        var (depth, isString, isEscaped) = (0, false, false)
        for index in text.indices {
            let character = text[index]
            if isString {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    isString = false
                }
                continue
            }
            switch character {
            case "\"": isString = true
            case "{", "[": depth += 1
            case "}", "]": depth = max(0, depth - 1)
            default: break
            }
            each(index, character, depth)
        }
    }
}
