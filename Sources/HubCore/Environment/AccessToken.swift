/// A Hub token. Printing it, or anything that holds it, never shows it.
public struct AccessToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The token itself, for the one place that sends it.
    package let secret: String

    /// A token with surrounding white space and all line ends taken out, as Python cleans it; nil if nothing is left.
    public init?(_ text: String) {
        var cleaned = Substring(text.filter { $0 != "\r" && $0 != "\n" && $0 != "\r\n" })
        while let first = cleaned.first, first.isWhitespace { cleaned.removeFirst() }
        while let last = cleaned.last, last.isWhitespace { cleaned.removeLast() }
        // Other characters would allow header injection.
        guard !cleaned.isEmpty, cleaned.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        secret = String(cleaned)
    }

    /// The text with the token masked, because servers and proxies quote requests. Very short secrets, which may occur
    /// by chance, are not masked.
    package func masked(in text: String) -> String {
        guard secret.utf8.count >= 8, text.utf8.count >= secret.utf8.count else { return text }
        return text.replacing(secret, with: Secrets.tokenMark)
    }

    /// Says only that there is one.
    public var description: String { "(token)" }
    /// Says only that there is one.
    public var debugDescription: String { "(token)" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension AccessToken {
    /// The value without the token, in the names of members too.
    package func masked(in json: JSON) -> JSON { holdsToken(json) ? replaced(json) : json }

    /// Whether a text contains secrets.
    package func isIn(_ text: some StringProtocol) -> Bool {
        text.utf8.count >= secret.utf8.count && masked(in: String(text)) != text
    }

    private func holdsToken(_ json: JSON) -> Bool {
        switch json {
        case .string(let text), .longNumber(let text): isIn(text)
        case .array(let elements): elements.contains(where: holdsToken)
        case .object(let object): object.members.contains { isIn($0.key) || holdsToken($0.value) }
        default: false
        }
    }

    private func replaced(_ json: JSON) -> JSON {
        switch json {
        case .string(let text): .string(masked(in: text))
        case .longNumber(let digits): .longNumber(masked(in: digits))
        case .array(let elements): .array(elements.map(replaced))
        case .object(let object):
            .object(JSONObject(object.members.map { (masked(in: $0.key), replaced($0.value)) }))
        default: json
        }
    }
}
