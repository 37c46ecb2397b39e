package import HubCore

/// The tokens that open a server, kept as SHA-256 only.
package struct TokenList: Sendable {
    private var digests: [[UInt8]] = []

    /// A list that admits nobody.
    package init() {}

    package init(_ token: String) { digests = [Self.digest(token)] }

    /// Reads a file: one token a line, or the SHA-256 of one as 64 hexadecimal digits. Empty lines and lines that begin
    /// with `#` are skipped.
    ///
    /// - Throws: ``ErrorCode/fileNotFound``, and ``ErrorCode/invalidInput`` for a file without a token.
    package init(file: String) throws(AIError) {
        guard let text = try FileSystem.text(file) else {
            throw AIError(.fileNotFound, "there is no file \(file.printable)", context: .init(path: file))
        }
        for line in text.split(whereSeparator: \.isNewline) {
            let word = line.drop { $0 == " " || $0 == "\t" }
            guard let token = AccessToken(String(word)), !word.hasPrefix("#") else { continue }
            let isDigest = token.secret.utf8.count == 64 && token.secret.utf8.allSatisfy(\.isLowercaseHex)
            digests.append(isDigest ? Array(token.secret.utf8) : Self.digest(token.secret))
        }
        guard !digests.isEmpty else {
            throw AIError(
                .invalidInput, "\(file.printable) holds no token",
                advice: "write one token a line, or its SHA-256", context: .init(path: file))
        }
    }

    /// Adds the tokens of another list.
    package mutating func add(_ other: TokenList) { digests += other.digests }

    /// Whether a token is in the list. Takes the same time for every token.
    package func admits(_ token: String) -> Bool {
        let shown = Self.digest(token)
        return digests.reduce(false) { found, known in
            let difference = zip(known, shown).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
            return (difference == 0) || found
        }
    }

    private static func digest(_ token: String) -> [UInt8] {
        Array(ContentHasher.digest(of: Array(token.utf8), like: .sha256("")).hex.utf8)
    }
}
