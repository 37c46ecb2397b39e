/// Text of a file between a prompt's tags: what stands in it must not end its own element.
public enum QuotedText {
    /// The text with a backslash in tags of the element's name, in any case and with blanks.
    public static func content(_ text: String, of name: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "<")) else { return text }
        var out = ""
        var rest = Substring(text)
        while let mark = rest.firstIndex(of: "<") {
            out += rest[...mark]
            rest = rest[rest.index(after: mark)...]
            let tag = rest.prefix(32).drop { $0 == "/" || $0.isWhitespace }
            if tag.prefix(name.count).lowercased() == name { out += "\\" }
        }
        return out + rest
    }

    /// The text as an attribute's value between double quotes.
    public static func attribute(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
    }
}
