import HubCore

/// One command of the table: what help, the man page, completions and the parser know of it, and what it does.
struct Command: Sendable {
    /// What happens to the work when the reader of stdout goes away (`hub ls | head -1`).
    enum Purpose: Sendable {
        /// The output is the purpose: without a reader the work ends, quietly and with status 0.
        case answers
        /// Something on this machine is to change: the work is finished and its own status counts.
        case changes
    }

    /// A line to type and what it does.
    struct Example: Sendable {
        var line: String
        var doc: String
        init(_ line: String, _ doc: String) {
            self.line = line
            self.doc = doc
        }
    }

    var name: String
    /// Whether the overview only names it, for want of room.
    var isMinor = false
    /// It works, but neither help nor completions mention it: other programs call it.
    var isHidden = false
    var purpose = Purpose.answers
    /// One line, starting with a verb, lower case, without a full stop.
    var doc: String
    /// Paragraphs for the long form, separated by empty lines.
    var detail: String
    var operands: [Operand] = []
    var flags: [Flag] = []
    /// Sets of flag names of which at most one may be given.
    var exclusive: [[String]] = []
    /// What is said to a word too many where it may be a secret: others name the word.
    var refusalOfMore: AIError?
    /// The list in the document of `--json` whose entries `--json=lines` prints; nil without one.
    var listKey: String?
    var examples: [Example]
    /// What the command does. Throwing decides the exit status.
    var run: @Sendable (Context, ParsedArguments) async throws -> Void

    /// `hub search [FLAGS] [QUERY]`.
    var usage: String {
        (["hub", name] + (visibleFlags.isEmpty ? [] : ["[FLAGS]"]) + operands.map(\.usage)).joined(separator: " ")
    }

    /// The flags that help and completions show.
    var visibleFlags: [Flag] { flags.filter { !$0.isHidden } }

    /// The flag of this name among its own and those that every command takes.
    func flag(named name: String) -> Flag? { (flags + GlobalFlags.all).first { $0.name == name } }
    /// The flag of this letter.
    func flag(short: Character) -> Flag? { (flags + GlobalFlags.all).first { $0.short == short } }
}

extension Command {
    /// The words that name models, among the operands and the values of flags: every command that takes a reference
    /// takes an alias.
    func references(in arguments: ParsedArguments) -> [String] {
        let words = arguments.operands.enumerated().filter { index, _ in
            // What comes after the last operand belongs to it: it takes many.
            guard let operand = index < operands.count ? operands[index] : operands.last else { return false }
            return operand.kind.isModel
        }
        let values = flags.filter { $0.value == .model }.flatMap { arguments.texts(of: $0.name) }
        return words.map(\.element) + values
    }
}
