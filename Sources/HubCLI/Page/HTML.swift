import HubCore

/// A piece of a page. Texts are escaped when they are written, so nothing that a Hub or a person wrote becomes markup.
indirect enum HTML: Sendable, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral {
    case text(String)
    case element(String, [(String, String)], [HTML])
    case group([HTML])

    init(stringLiteral value: String) { self = .text(value) }
    init(arrayLiteral elements: HTML...) { self = .group(elements) }

    /// An element.
    ///
    /// - Parameter attributes: those that are nil are left out; an empty one stands alone, as `checked` does.
    static func tag(_ name: String, _ attributes: KeyValuePairs<String, String?> = [:], _ children: [HTML] = [])
        -> HTML
    {
        .element(name, attributes.compactMap { key, value in value.map { (key, $0) } }, children)
    }

    /// An element of one text.
    static func tag(_ name: String, _ attributes: KeyValuePairs<String, String?> = [:], _ text: String) -> HTML {
        tag(name, attributes, [.text(text)])
    }

    /// An element of a class.
    static func box(_ name: String, _ className: String, _ children: [HTML]) -> HTML {
        tag(name, ["class": className], children)
    }

    static func link(_ address: String, _ text: String, className: String? = nil) -> HTML {
        tag("a", ["href": address, "class": className], text)
    }

    static let nothing = HTML.group([])

    private static let empty: Set<String> = ["meta", "link", "input", "br", "hr", "img"]

    /// The text of the piece.
    var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to out: inout String) {
        switch self {
        case .text(let text): out += Self.escaped(text)
        case .group(let children): for child in children { child.write(to: &out) }
        case .element(let name, let attributes, let children):
            out += "<\(name)"
            for (key, value) in attributes {
                out += " \(key)"
                if !value.isEmpty { out += "=\"\(Self.escaped(value))\"" }
            }
            out += ">"
            if Self.empty.contains(name) { return }
            for child in children { child.write(to: &out) }
            out += "</\(name)>"
        }
    }

    private static func escaped(_ text: String) -> String {
        var out = ""
        out.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "\n", "\t": out.unicodeScalars.append(scalar)
            case "\0"..." ", "\u{7F}": out += scalar == " " ? " " : "\u{FFFD}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
