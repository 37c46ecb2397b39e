/// A text of sections with options, read and written as Python's `configparser` does without interpolation.
/// https://docs.python.org/3/library/configparser.html#supported-ini-file-structure
///
/// Comments are not kept, as there.
struct IniFile: Sendable, Hashable {
    /// The options below one header, in their order. Names of options are lower case.
    struct Section: Sendable, Hashable {
        var name: String
        private(set) var options: [Option] = []

        struct Option: Sendable, Hashable {
            var name: String
            var value: String
        }

        init(_ name: String) { self.name = name }

        subscript(option: String) -> String? {
            get { options.first { $0.name == option }?.value }
            set {
                if let newValue, let at = options.firstIndex(where: { $0.name == option }) {
                    options[at].value = newValue
                } else {
                    options.removeAll { $0.name == option }
                    if let newValue { options.append(Option(name: option, value: newValue)) }
                }
            }
        }

        fileprivate mutating func extend(_ option: String, by line: String) {
            if let value = self[option] { self[option] = value + "\n" + line }
        }
    }

    /// Why a text cannot be read, and where.
    struct Fault: Error, Sendable, Hashable {
        var line: Int
        var reason: String
    }

    /// The section whose options all others inherit.
    static let defaults = "DEFAULT"

    var sections: [Section] = []

    init() {}

    /// Reads a text.
    init(_ text: String) throws(Fault) {
        var reader = Reader()
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: IniFile.endsLine) {
            try reader.take(line)
        }
        sections = reader.finished
    }

    subscript(name: String) -> Section? {
        get { sections.first { ExactText($0.name) == ExactText(name) } }
        set {
            let at = sections.firstIndex { ExactText($0.name) == ExactText(name) }
            if let newValue, let at {
                sections[at] = newValue
            } else if let newValue {
                sections.append(newValue)
            } else if let at {
                sections.remove(at: at)
            }
        }
    }

    /// The text: inherited options first, then the sections in the order of their characters.
    var text: String {
        let rest = sections.filter { $0.name != Self.defaults }
        let sorted = rest.sorted { $0.name.unicodeScalars.lexicographicallyPrecedes($1.name.unicodeScalars) }
        return (sections.filter { $0.name == Self.defaults && !$0.options.isEmpty } + sorted).map(Self.text)
            .joined()
    }

    private static func text(_ section: Section) -> String {
        let options = section.options.map { "\($0.name) = \($0.value.replacing("\n", with: "\n\t"))\n" }
        return "[\(section.name)]\n" + options.joined() + "\n"
    }

    /// The line ends of Python's text files. Others, such as U+2028, may stand in a name.
    static func endsLine(_ character: Character) -> Bool { ["\n", "\r", "\r\n"].contains(character) }

    /// Whether a section of this name can be written and read again.
    static func canName(_ name: String) -> Bool {
        !name.isEmpty && name != defaults && !name.contains(where: endsLine)
    }
}

extension IniFile {
    /// Reads line by line. A line that is indented more than the option above it belongs to its value.
    private struct Reader {
        private var sections: [Section] = []
        private var option: String?
        private var indent = 0
        private var number = 0

        /// The sections, their values without white space at the end.
        var finished: [Section] {
            sections.map { section in
                var section = section
                for option in section.options {
                    var value = Substring(option.value)
                    while let last = value.last, last.isWhitespace { value.removeLast() }
                    section[option.name] = String(value)
                }
                return section
            }
        }

        mutating func take(_ line: Substring) throws(Fault) {
            number += 1
            let value = IniFile.trimmed(line)
            if value.hasPrefix("#") || value.hasPrefix(";") { return }
            if value.isEmpty {
                extend(by: "")
                return
            }
            let depth = line.prefix(while: \.isWhitespace).count
            if option != nil, depth > indent { return extend(by: String(value)) }
            indent = depth
            if value.hasPrefix("["), let end = value.lastIndex(of: "]"), end > value.index(after: value.startIndex)
            {
                return try begin(String(value[value.index(after: value.startIndex)..<end]))
            }
            try takeOption(value)
        }

        private mutating func begin(_ name: String) throws(Fault) {
            guard !sections.contains(where: { ExactText($0.name) == ExactText(name) }) else {
                throw Fault(line: number, reason: "a section that is there twice")
            }
            sections.append(Section(name))
            option = nil
        }

        private mutating func takeOption(_ value: Substring) throws(Fault) {
            guard !sections.isEmpty else { throw Fault(line: number, reason: "text before the first section") }
            let end = value.firstIndex { $0 == "=" || $0 == ":" }
            guard let end, end > value.startIndex else {
                throw Fault(line: number, reason: "neither a section nor an option")
            }
            let name = IniFile.trimmed(value[..<end]).lowercased()
            guard sections[sections.count - 1][name] == nil else {
                throw Fault(line: number, reason: "an option that is there twice")
            }
            sections[sections.count - 1][name] = String(IniFile.trimmed(value[value.index(after: end)...]))
            option = name
        }

        private mutating func extend(by line: String) {
            if let option { sections[sections.count - 1].extend(option, by: line) }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text
    }
}
