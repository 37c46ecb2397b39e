/// What of a text from the web goes into a prompt: contexts are small, and whoever writes a page may make any part of it long.
enum WebText {
    /// Characters of a title.
    static let titleLength = 300
    /// Characters of what a search shows of a page.
    static let extractLength = 2000
    /// Bytes of an address; browsers and servers take hardly more.
    static let addressBytes = 2000

    /// The beginning of a text, with a mark where it was cut.
    static func cut(_ text: String, to length: Int) -> String {
        let part = text.prefix(length)
        return part.endIndex == text.endIndex ? text : part + "…"
    }
}
