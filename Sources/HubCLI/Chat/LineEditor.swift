import CEdit
import CPlatform
import HubCore
import Libc

/// Lines that a person types, edited by libedit, with those of this session as history. One is read at a time.
final class LineEditor: Sendable {
    // One thread at a time uses it: that of a read, or before and after.
    nonisolated(unsafe) private let editor: UnsafeMutablePointer<hub_editor>
    nonisolated(unsafe) private let prompt: UnsafeMutablePointer<CChar>
    private let suspension: Suspension

    private static let historyLines: Int32 = 1000

    /// - Throws: if stdin is not a terminal, or there is no memory.
    init(prompt: String, suspension: Suspension) throws(AIError) {
        // Without a locale that says so, libedit drops every character beyond ASCII; terminals send UTF-8.
        Terminal.chooseLocale(true)
        self.suspension = suspension
        guard hub_terminal_guard_begin(0, -1) == 0 else {
            throw AIError.system("cannot edit lines on", path: "the terminal", errno: errno)
        }
        defer { hub_terminal_guard_end() }
        guard let copy = strdup(prompt), let editor = hub_editor_open(copy, Self.historyLines) else {
            throw AIError(.ioError, "cannot edit lines on this terminal")
        }
        (self.prompt, self.editor) = (copy, editor)
    }

    deinit {
        hub_editor_close(editor)
        free(prompt)
    }

    /// The next line without its end; nil at the end of the input (^D).
    func line() async throws -> String? {
        guard hub_terminal_guard_begin(0, -1) == 0 else {
            throw AIError.system("cannot edit lines on", path: "the terminal", errno: errno)
        }
        let key = suspension.onSuspend { done in
            hub_terminal_guard_give_back()
            done()
        } resume: { [self] in
            hub_terminal_guard_take_again()
            hub_editor_resume(editor)
        }
        defer {
            suspension.remove(key)
            hub_terminal_guard_end()
        }
        return try await StandardInput.apart { [self] in
            hub_editor_read(editor).map { String(cString: $0) }.map {
                $0.hasSuffix("\n") ? String($0.dropLast()) : $0
            }
        }
    }

    /// Puts a line into the history.
    func remember(_ line: String) { hub_editor_remember(editor, line) }
}
