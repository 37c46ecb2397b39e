/// Masks secrets in texts: tokens, and names, passwords and signatures in addresses.
///
/// Server text is masked with ``AccessToken/masked(in:)-(String)`` on input, text for people with ``masked(in:)`` on
/// output. Code in between need not care.
package enum Secrets {
    /// The replacement of a token.
    package static let tokenMark = "(token)"

    /// An address without user information, query and fragment: a signed query is a credential. It may lack its scheme.
    package static func address(_ text: String) -> String {
        let rest = text.unicodeScalars[end(ofSchemeIn: text)...]
        let scheme = String(text[..<rest.startIndex])
        // A backslash ends it for browsers, but not for curl.
        let authority = rest.prefix { !"/?#".unicodeScalars.contains($0) }
        var shown = rest
        if let at = authority.lastIndex(of: "@") {
            shown = rest[rest.index(after: at)...]
        } else if !hasPort(authority) {
            // A password with a slash or a question mark.
            guard let at = rest.lastIndex(of: "@") else { return scheme + "..." }
            shown = rest[rest.index(after: at)...]
        }
        return scheme + String(Substring(shown.prefix { $0 != "?" && $0 != "#" }))
    }

    /// The offset after `https://` or `//`, with any number of slashes; the start if there is neither.
    private static func end(ofSchemeIn text: String) -> String.Index {
        let scalars = text.unicodeScalars
        if text.hasPrefix("//") { return scalars.firstIndex { $0 != "/" } ?? scalars.endIndex }
        guard let colon = scalars.firstIndex(of: ":"), scalars[..<colon].allSatisfy({ isOfScheme(Character($0)) })
        else { return text.startIndex }
        let behind = scalars[scalars.index(after: colon)...]
        let end = behind.firstIndex { $0 != "/" && $0 != "\\" } ?? behind.endIndex
        return end > behind.startIndex ? end : text.startIndex
    }

    /// Whether the text after a colon in this host, if any, is a port.
    private static func hasPort(_ authority: Substring.UnicodeScalarView) -> Bool {
        guard authority.first != "[", let colon = authority.lastIndex(of: ":") else { return true }
        return authority[authority.index(after: colon)...].allSatisfy { ("0"..."9").contains($0) }
    }

    /// A text for people, with credentials in addresses and apparent tokens masked.
    package static func masked(in text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: ":")) || text.utf8.contains(UInt8(ascii: "_")) else { return text }
        return withoutTokens(withoutCredentials(text))
    }

    private static func withoutCredentials(_ text: String) -> String {
        var out = ""
        var rest = Substring(text)
        while let colon = place(of: "://", in: rest) {
            let start =
                rest[..<colon].lastIndex { !isOfScheme($0) }.map { rest.index(after: $0) } ?? rest.startIndex
            // Typed text is quoted and may contain spaces.
            let isQuoted = start > rest.startIndex && rest[rest.index(before: start)] == "\""
            var end = rest[colon...].firstIndex { isQuoted ? $0 == "\"" : $0.isWhitespace } ?? rest.endIndex
            while end > colon, ".,:;!?)]}'\"".contains(rest[rest.index(before: end)]) {
                end = rest.index(before: end)
            }
            guard end > colon else {
                out += rest[...colon]
                rest = rest[rest.index(after: colon)...]
                continue
            }
            out += rest[..<start] + address(String(rest[start..<end]))
            rest = rest[end...]
        }
        // `user:secret@host` without a scheme; a reference has a slash before its colon.
        return (out + rest).replacing(/(^|[\s"(]|\/\/)[^\s\/":@]+:[^\s\/"]*@/) { String($0.output.1) }
    }

    private static func isOfScheme(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "+-.".contains(character))
    }

    private static func place(of needle: String, in text: Substring) -> String.Index? {
        text.utf8.indices.first { text.utf8[$0...].starts(with: needle.utf8) }
    }

    /// The Hub's tokens are `hf_` and 34 letters and digits; those of sign-ins and of other programs have a kind and
    /// may be longer, with further characters.
    private static func withoutTokens(_ text: String) -> String {
        var out = ""
        var rest = Substring(text)
        while let at = place(of: "hf_", in: rest) {
            var body = rest[at...].dropFirst(3)
            let kind = ["oauth_", "jwt_"].first { body.hasPrefix($0) }
            if let kind { body = body.dropFirst(kind.count) }
            let letters = body.prefix {
                $0.isASCII && ($0.isLetter || $0.isNumber || (kind != nil && "-_.~+/=".contains($0)))
            }
            out += rest[..<at] + (letters.count < 30 ? rest[at..<letters.endIndex] : Substring(tokenMark))
            rest = rest[letters.endIndex...]
        }
        return out + rest
    }
}
