import HubCore

/// The text of a page.
struct WebPage: Sendable, Hashable {
    /// Where it was in the end.
    var address: String
    /// Its title, cut, because all of it goes into a prompt.
    var title: String?
    var text: String
    /// Whether the page goes on beyond what was read.
    var isCut: Bool
}

/// The media type of an answer, and its character set.
struct MediaType: Sendable, Hashable {
    var name: String
    var charset: String?

    /// - Parameter field: the value of `Content-Type`; nil without one.
    init(_ field: String?) {
        let parts = (field ?? "").lowercased().split(separator: ";").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        name = parts.first ?? ""
        charset = parts.dropFirst().lazy.compactMap { $0.dropping(prefix: "charset=") }.first?.filter { $0 != "\"" }
    }

    var isHTML: Bool { name == "text/html" || name == "application/xhtml+xml" }
    /// Whether it is text that a person could read.
    var isText: Bool {
        isHTML || name.hasPrefix("text/") || name.hasSuffix("+json") || name.hasSuffix("+xml")
            || ["application/json", "application/xml", "application/javascript"].contains(name)
    }

    /// The text of a body: UTF-8 where it is that, else by the character set, or with what is wrong replaced.
    func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) {
            return text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
        }
        // What the web calls Latin-1 is Windows' page. https://encoding.spec.whatwg.org/#names-and-labels
        if let charset, ["iso-8859-1", "latin1", "windows-1252", "cp1252", "us-ascii", "ascii"].contains(charset) {
            var text = String.UnicodeScalarView()
            for byte in bytes {
                let scalar = (0x80..<0xA0).contains(byte) ? Self.windows1252[Int(byte) - 0x80] : UInt32(byte)
                text.append(Unicode.Scalar(scalar) ?? "\u{FFFD}")
            }
            return String(text)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// https://encoding.spec.whatwg.org/index-windows-1252.txt
    private static let windows1252: [UInt32] = [
        0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152,
        0xFFFD,
        0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161,
        0x203A,
        0x0153, 0xFFFD, 0x017E, 0x0178,
    ]
}
