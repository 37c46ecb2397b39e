import HubCore

/// The part of Jinja 3.1 that chat templates use, configured as in transformers
/// (https://github.com/huggingface/transformers/blob/main/src/transformers/utils/chat_template_utils.py): immutable,
/// sandboxed, `trim_blocks`, `lstrip_blocks`, loop controls, generation blocks.
///
/// A template is untrusted text. It cannot access anything outside, and ``Limits`` bounds its work.
package enum Jinja {
    /// The limits of one rendering.
    package struct Limits: Sendable {
        /// The limits of a rendering in a chat.
        package static let chat = Limits()

        /// Evaluated nodes; other work counts in proportion: one per visited element or sixteen characters.
        package var steps = 20_000_000
        /// Characters of all created strings, output included, four bytes each; plus sixteen for each character of the
        /// conversation.
        var characters = 16 << 20
        /// Elements of all created lists, sixteen bytes each; other kept values in proportion.
        var cells = 8 << 20
        /// Nesting of expressions, statements and macros. A level takes at most a few hundred bytes of stack.
        var depth = 400
        /// Seconds until it is stopped.
        package var seconds = 5
        /// Checked about every thousand steps; true ends the rendering.
        package var isCancelled: @Sendable () -> Bool = { Task.isCancelled }
        /// Monotonic clock in seconds: the thread's CPU time, so that a busy machine does not count.
        var now: @Sendable () -> Double = { Clock.threadSeconds }
    }

    /// Maximum nesting of parentheses and blocks in a template.
    static let nesting = 100
    /// Maximum nesting of lists and dictionaries.
    static let valueDepth = 128
    /// Maximum length of a range, as in Jinja's own sandbox.
    static let longestRange = 100_000
    /// Maximum length of a name in characters: names are copied and looked up often.
    static let longestName = 1000
    /// Maximum field width and number of digits in formatting.
    static let widestField = 10_000

    /// Why a template cannot be parsed or a rendering stopped.
    package struct Fault: Error {
        package enum Kind {
            /// The template is not valid Jinja.
            case syntax
            /// An operation failed with these values.
            case runtime
            /// The template called `raise_exception`.
            case raised
            /// It exceeded a limit.
            case limit
            /// Valid Jinja that is not implemented here.
            case unsupported
            /// The task was cancelled.
            case cancelled
        }

        package var kind: Kind
        let message: String
        /// The template's line, from 1.
        var line: Int

        /// A template chooses the text of its errors, so a long one is cut.
        init(kind: Kind, message: String, line: Int) {
            self.kind = kind
            // By scalars, since one character can have a million of them.
            self.message =
                message.utf8.count <= Self.longestMessage
                ? message : String(message.unicodeScalars.prefix(Self.longestMessage)) + "..."
            self.line = line
        }

        private static let longestMessage = 1000
    }
}
