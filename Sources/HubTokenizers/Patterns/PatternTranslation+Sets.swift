extension PatternTranslation {
    /// A set, nested sets flattened: PCRE2's sets cannot be nested.
    struct CharacterSet {
        /// The text between the brackets.
        var members = ""
        /// Alternatives for one character that cannot be written between brackets.
        var others: [String] = []
        var isNegated = false

        /// Matches one character.
        var expression: String {
            if others.isEmpty { return "[\(isNegated ? "^" : "")\(members)]" }
            let all = (members.isEmpty ? [] : ["[\(members)]"]) + others
            let joined = "(?:" + all.joined(separator: "|") + ")"
            return isNegated ? "(?:(?!\(joined))[\\x{0}-\\x{10FFFF}])" : joined
        }

        /// Adds another set.
        mutating func add(_ other: CharacterSet) {
            if other.isNegated || !other.others.isEmpty {
                others.append(other.expression)
            } else {
                members += other.members
            }
        }
    }

    /// Reads a set after its opening bracket.
    mutating func set() throws(Refusal) -> CharacterSet {
        let isNegated = take("^")
        if isNegated, ignoresCase { throw Refusal(what: "[^ where case is ignored") }
        if next == "]" { throw Refusal(what: "a set that begins with ]") }
        var operands = [CharacterSet()]
        var isFirst = true
        while !take("]") {
            guard next != nil else { throw Refusal(what: "a set that does not end") }
            if take("&&") {
                operands.append(CharacterSet())
                isFirst = true
                continue
            }
            // A hyphen that is not literal belongs to the element before it.
            if next == "-", !isFirst, !source[at...].starts(with: "-]".unicodeScalars) {
                throw Refusal(what: "a hyphen in a set that makes no range")
            }
            isFirst = false
            if next == "[" {
                at += 1
                if next == ":" { throw Refusal(what: "[: in a set") }
                if ignoresCase { throw Refusal(what: "a set in a set where case is ignored") }
                operands[operands.count - 1].add(try set())
            } else {
                operands[operands.count - 1].members += try member()
            }
        }
        guard operands.count > 1 else {
            operands[0].isNegated = isNegated
            return operands[0]
        }
        if operands.contains(where: { $0.members.isEmpty && $0.others.isEmpty }) {
            throw Refusal(what: "&& with nothing beside it")
        }
        let conditions = operands.dropLast().map { "(?=\($0.expression))" }.joined()
        let common = "(?:" + conditions + operands[operands.count - 1].expression + ")"
        return CharacterSet(others: [common], isNegated: isNegated)
    }

    /// One element of a set, or a range.
    private mutating func member() throws(Refusal) -> String {
        switch try setElement() {
        case .kind(let kind): return kind
        case .scalar(let low):
            guard next == "-", !source[at...].starts(with: "-]".unicodeScalars) else { return Self.spelled(low) }
            at += 1
            guard next != "[", case .scalar(let high) = try setElement() else {
                throw Refusal(what: "a range in a set that ends in no character")
            }
            return Self.spelled(low) + "-" + Self.spelled(high)
        }
    }

    private mutating func setElement() throws(Refusal) -> Element {
        guard let scalar = take() else { throw Refusal(what: "a set that does not end") }
        if scalar == "\\" {
            let element = try element(inSet: true)
            if case .scalar(let scalar) = element, ignoresCase { try checkFolding(scalar) }
            return element
        }
        if ignoresCase { try checkFolding(scalar) }
        return .scalar(scalar)
    }
}
