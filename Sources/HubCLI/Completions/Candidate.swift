extension String {
    /// Whether it begins with a text, without regard to case: `Qwen/Qwen3` with `qwen/`.
    func begins(like text: String) -> Bool { lowercased().hasPrefix(text.lowercased()) }
}

/// Something that a shell may put in place of the word under the cursor.
enum Candidate: Sendable, Hashable {
    /// A whole word, and what it is.
    case word(String, String = "")
    /// The shell completes names of files, or of folders, itself.
    case files, folders

    /// The line that the completion scripts read. No word begins with a colon.
    var line: String {
        switch self {
        case .word(let text, let doc): doc.isEmpty ? text : "\(text)\t\(SafeText.line(doc))"
        case .files: ":files"
        case .folders: ":folders"
        }
    }

    /// Whether a shell accepts the word on one line without quotes.
    var isPlain: Bool {
        guard case .word(let text, _) = self else { return true }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "._/@:=+,%-".utf8.contains(byte)
            }
        }
    }
}
