import HubCore

/// One flag as people read about it: a row of the table behind parsing, help, the man page and completions.
///
/// Commands do not hold rows but a ``Switch`` or an ``Option``, which add the type of the value.
struct Flag: Sendable {
    /// The completion of the value, and its name in the man page.
    enum Value: Sendable, Hashable {
        case text
        case number
        case size
        case age
        case address
        case file
        case folder
        /// A model that the cache holds; any other reference is accepted too.
        case model
        /// A conversation that is kept.
        case conversation
        /// A task of the Hub, as the catalog's models have it.
        case task
        /// A quantization of the model that the command is about.
        case quantization
        /// A GGUF file of it.
        case ggufFile
        /// A branch or tag of that model.
        case revision
        case choice([String])
    }

    /// Without the two dashes.
    var name: String
    /// The letter after one dash.
    var short: Character?
    /// What usage lines call the value; nil if the flag takes none.
    var metavariable: String?
    /// What the value is; nil if the flag takes none.
    var value: Value?
    /// What may follow where a flag works without a value too: `--check=full`.
    var refinements: [String] = []
    /// Whether the value may be left out; then it is given after an equals sign: `--continue=3f0a`.
    var isValueOptional = false
    /// Whether it may be given more than once.
    var repeats = false
    /// One line, lower case, without a full stop.
    var doc: String
    /// Further sentences for the long form.
    var detail: String?
    /// Whether the short page only names it, for want of room.
    var isMinor = false
    /// Parses and works, but no help mentions it.
    var isHidden = false
    /// What is written instead of it today; it is said where the flag is used.
    var successor: String?
    /// Reads a value that was typed; the message of an error need not name the flag.
    var read: @Sendable (String) throws(AIError) -> any Sendable = { text in text }

    /// Whether the next word is its value.
    var takesValue: Bool { value != nil && !isValueOptional }

    /// `--sort` or `-q, --quiet`.
    var spelling: String { short.map { "-\($0), --\(name)" } ?? "--\(name)" }

    /// The spelling and the value: `--sort used|size`, `--tag TAG...`.
    var usage: String {
        guard let metavariable else {
            return refinements.isEmpty ? spelling : "\(spelling)[=\(refinements.joined(separator: "|"))]"
        }
        if isValueOptional { return "\(spelling)[=\(metavariable)]" }
        return "\(spelling) \(metavariable)\(repeats ? "..." : "")"
    }
}

/// A flag that is there or not.
struct Switch: Sendable {
    let flag: Flag

    fileprivate init(flag: Flag) { self.flag = flag }

    init(
        _ name: String, short: Character? = nil, refinements: [String] = [], _ doc: String, detail: String? = nil
    ) {
        flag = Flag(name: name, short: short, refinements: refinements, doc: doc, detail: detail)
    }
}

extension Switch {
    /// The flag, whose short page only names it.
    var minor: Switch {
        var flag = flag
        flag.isMinor = true
        return Switch(flag: flag)
    }
}

extension Flag {
    /// The flag under its long name alone, which no help mentions: another tool calls it so.
    var unlisted: Flag {
        var flag = self
        flag.isHidden = true
        flag.short = nil
        return flag
    }

    /// A former spelling, which still works: no help mentions it, and who uses it is told the new one.
    func now(_ successor: String) -> Flag {
        var flag = self
        flag.isHidden = true
        flag.successor = successor
        return flag
    }
}

extension Option {
    /// The flag, whose short page only names it.
    var minor: Option {
        var flag = flag
        flag.isMinor = true
        return Option(flag: flag)
    }

    /// The flag with a value that may be left out; ``ParsedArguments/has(_:)`` says whether it was given.
    func withOptionalValue() -> Option {
        var flag = flag
        flag.isValueOptional = true
        return Option(flag: flag)
    }
}

/// A flag with a value of a type; see the makers in `OptionKinds.swift`.
struct Option<Value: Sendable>: Sendable {
    let flag: Flag

    fileprivate init(flag: Flag) { self.flag = flag }

    /// - Parameter read: throws ``ErrorCode/invalidInput`` with a sentence about the text alone.
    init(
        _ name: String, short: Character? = nil, _ metavariable: String, _ kind: Flag.Value, repeats: Bool = false,
        _ doc: String, detail: String? = nil, read: @escaping @Sendable (String) throws(AIError) -> Value
    ) {
        flag = Flag(
            name: name, short: short, metavariable: metavariable, value: kind, repeats: repeats, doc: doc,
            detail: detail,
            read: { (text: String) throws(AIError) -> any Sendable in try read(text) })
    }
}
