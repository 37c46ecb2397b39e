import HubCore

/// The part of Jinja 3.1 that chat templates are written in, with the meaning that transformers gives it
/// (https://github.com/huggingface/transformers/blob/main/src/transformers/utils/chat_template_utils.py): immutable,
/// sandboxed, `trim_blocks`, `lstrip_blocks`, loop controls, generation blocks.
///
/// A template is text from the network. It can neither reach anything outside nor run on: whatever it does is paid for
/// out of ``Limits``.
enum Jinja {
    /// What one rendering may use up.
    struct Limits: Sendable {
        /// Nodes evaluated, and everything else in proportion: elements looked at, sixteen characters looked at.
        var steps = 20_000_000
        /// Characters of all texts made, the output among them, four bytes each; sixteen for each character of the
        /// conversation come on top.
        var characters = 16 << 20
        /// Elements of all lists made, sixteen bytes each, and everything else that is kept in proportion.
        var cells = 8 << 20
        /// Expressions, statements and macros within each other. One level is at most some hundred bytes of stack.
        var depth = 400
        /// Seconds until it ends, whatever else it has used up by then.
        var seconds = 5
        /// Asked every thousand steps or so: the rendering ends where it says yes.
        var isCancelled: @Sendable () -> Bool = { Task.isCancelled }
        /// Seconds by a clock that never goes back: that of the thread, for a busy machine is not the template's fault.
        var now: @Sendable () -> Double = { Clock.threadSeconds }
    }

    /// Levels that parentheses and blocks of a template may lie within each other.
    static let nesting = 100
    /// Levels that lists and dictionaries may lie within each other.
    static let valueDepth = 128
    /// The longest a range may be, as in Jinja's own sandbox.
    static let longestRange = 100_000
    /// The longest a name may be, in characters: names are copied and looked up all the time.
    static let longestName = 1000
    /// The widest field that formatting pads to, and the most digits it writes.
    static let widestField = 10_000

    /// Why a template cannot be read or a rendering ended.
    struct Fault: Error {
        enum Kind {
            /// The template is not Jinja.
            case syntax
            /// What it says cannot be done with these values.
            case runtime
            /// The template itself called `raise_exception`.
            case raised
            /// It used up a limit.
            case limit
            /// Jinja knows it, this does not.
            case unsupported
            /// Whoever asked for it no longer wants it.
            case cancelled
        }

        var kind: Kind
        var message: String
        /// The template's line, from 1.
        var line: Int
    }
}
