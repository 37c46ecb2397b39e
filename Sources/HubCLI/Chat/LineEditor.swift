import CEdit
import CPlatform
import HubCore
import Libc

/// Lines that a person types, edited by libedit, with those of this session as history. One is read at a time.
final class LineEditor: Sendable {
    // One thread at a time uses it: that of a read, or before and after.
    nonisolated(unsafe) private let editor: UnsafeMutablePointer<hub_editor>
    nonisolated(unsafe) private let prompts: [UnsafeMutablePointer<CChar>]
    private let suspension: Suspension

    private static let historyLines: Int32 = 1000

    /// - Parameter prompts: what may stand before a line, in ASCII; one at least.
    /// - Throws: if stdin is not a terminal, or there is no memory.
    init(prompts: [String], suspension: Suspension) throws(AIError) {
        // Without a locale that says so, libedit drops every character beyond ASCII; terminals send UTF-8.
        Terminal.chooseLocale(true)
        self.suspension = suspension
        guard hub_terminal_guard_begin(0, -1) == 0 else {
            throw AIError.system("cannot edit lines on", path: "the terminal", errno: errno)
        }
        defer { hub_terminal_guard_end() }
        let copies = prompts.compactMap { strdup($0) }
        guard copies.count == prompts.count, let editor = hub_editor_open(copies[0], Self.historyLines) else {
            for copy in copies { free(copy) }
            throw AIError(.ioError, "cannot edit lines on this terminal")
        }
        (self.prompts, self.editor) = (copies, editor)
    }

    deinit {
        hub_editor_close(editor)
        for prompt in prompts { free(prompt) }
    }

    /// The next line without its end; nil at the end of the input (^D).
    ///
    /// - Parameter prompt: which one stands before it.
    func line(prompt: Int = 0) async throws -> String? {
        editor.pointee.prompt = UnsafePointer(prompts[prompt])
        guard hub_terminal_guard_begin(0, -1) == 0 else {
            throw AIError.system("cannot edit lines on", path: "the terminal", errno: errno)
        }
        let key = suspension.onSuspend { done in
            hub_terminal_guard_give_back()
            done()
        } resume: { [self] in
            hub_terminal_guard_take_again()
            // The shell has switched it off.
            _ = Sink.standardOutput.write(Array("\u{1B}[?2004h".utf8))
            hub_editor_resume(editor)
        }
        defer {
            suspension.remove(key)
            hub_terminal_guard_end()
        }
        // The terminal marks what is pasted while a line is read: bracketed paste.
        _ = Sink.standardOutput.write(Array("\u{1B}[?2004h".utf8))
        defer { _ = Sink.standardOutput.write(Array("\u{1B}[?2004l".utf8)) }
        let line = try await StandardInput.apart { [self] in
            hub_editor_read(editor).map { String(cString: $0) }
        }
        return line.map { $0.hasSuffix("\n") ? String($0.dropLast()) : $0 }
            .map { $0.replacing(Self.lineEnd, with: "\n") }
    }

    /// What stands in the line for the end of a line that was pasted.
    private static let lineEnd = "\u{240A}"

    /// Puts a text into the next line, as if it had been typed.
    func prefill(_ text: String) { hub_editor_prefill(editor, Self.oneLine(text)) }

    /// Puts a line into the history.
    func remember(_ line: String) { hub_editor_remember(editor, Self.oneLine(line)) }

    /// The text as it can stand in a line: line ends have their sign, and no character is a key.
    private static func oneLine(_ text: String) -> String {
        var line = ""
        for scalar in text.replacing("\r\n", with: "\n").unicodeScalars {
            switch scalar {
            case "\n", "\r": line += lineEnd
            case "\t": line += " "
            default: if scalar.value >= 0x20, scalar.value != 0x7F { line.unicodeScalars.append(scalar) }
            }
        }
        return line
    }
}
