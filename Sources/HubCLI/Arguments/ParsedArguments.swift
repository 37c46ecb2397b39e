import HubCore

/// What was typed, checked against the table but not yet against the world; see ``Context`` for that.
///
/// Values were read when the command line was parsed, so nothing here can fail.
struct ParsedArguments: Sendable {
    /// The words that are not flags, in their order.
    var operands: [String] = []
    /// The values of each flag that was given, by its name; a switch has one for each time.
    private var values: [String: [any Sendable]] = [:]

    /// Whether a switch was given.
    subscript(_ flag: Switch) -> Bool { values[flag.flag.name] != nil }

    /// The value of a flag, if it was given.
    subscript<Value>(_ option: Option<Value>) -> Value? { all(option).last }

    /// The values of a flag that may be repeated, in their order.
    func all<Value>(_ option: Option<Value>) -> [Value] {
        (values[option.flag.name] ?? []).map { value in
            // Only two flags of one command with one name and two types could fail here; a test forbids them.
            guard let typed = value as? Value else { preconditionFailure("--\(option.flag.name) has two types") }
            return typed
        }
    }

    /// Whether neither a word nor a flag was given.
    var isEmpty: Bool { operands.isEmpty && values.isEmpty }

    /// The first operand, if there is one.
    var operand: String? { operands.first }

    /// Whether a flag of this name was given.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// What was typed for a flag whose values are texts.
    func texts(of name: String) -> [String] { (values[name] ?? []).compactMap { $0 as? String } }

    /// Notes a flag without a value.
    mutating func add(_ flag: Flag) {
        if flag.isValueOptional { values[flag.name] = values[flag.name] ?? [] } else { add(flag, true) }
    }

    /// Notes a flag and its value, already read.
    mutating func add(_ flag: Flag, _ value: any Sendable) { values[flag.name, default: []].append(value) }
}
