import CNCurses
import CPlatform
import HubCore
import Libc

/// The terminal on stdin and stdout, taken as a whole by ncurses. Used by one thread alone.
struct ScreenTerminal {
    /// Takes the terminal; ``leave()`` restores it, and so does the end of the process.
    ///
    /// - Parameter wake: the writing end of a pipe that gets "w" when the size changes.
    /// - Throws: ``ErrorCode/invalidInput`` for a terminal that cannot show a full screen.
    init(wake: Int32, colors: Bool, isUnicode: Bool) throws(AIError) {
        Terminal.chooseLocale(isUnicode)
        guard hub_terminal_guard_begin(0, wake) == 0 else {
            throw AIError.system("cannot use", path: "the terminal", errno: errno)
        }
        // ncurses would catch them otherwise; a thread handles ^C and ^Z.
        let caught = Self.actions(of: [SIGINT, SIGTERM, SIGTSTP])
        let opened = hub_curses_open(colors ? 1 : 0)
        Self.restore(caught)
        guard opened == 0 else {
            hub_terminal_guard_end()
            throw AIError(
                .invalidInput, "this terminal cannot show a full screen: TERM names none that can",
                advice: "hub gc --plain shows numbered rows")
        }
        var leaving = [CChar](repeating: 0, count: 256)
        let length = hub_curses_leaving(&leaving, leaving.count)
        hub_terminal_guard_leaving(leaving, Int(length))
    }

    /// Gives the terminal back as it was.
    func leave() {
        hub_curses_close()
        hub_terminal_guard_end()
    }

    /// Gives the terminal back for a while, until ``takeAgain()``.
    func pause() { hub_curses_close() }

    /// The same from any thread, where the one that uses it does not answer.
    static func giveBack() { hub_terminal_guard_give_back() }

    /// The next ``draw(_:columns:)`` takes the terminal, and sends everything.
    func takeAgain() {
        hub_terminal_guard_take_again()
        hub_curses_forget()
    }

    /// The size in cells; nil if the terminal does not say.
    func size() -> (columns: Int, rows: Int)? { Terminal.size(0) }

    func resize(columns: Int, rows: Int) { hub_curses_resize(Int32(rows), Int32(columns)) }

    func draw(_ page: ScreenPage, columns: Int) {
        hub_curses_clear()
        for (row, line) in page.lines.enumerated() {
            let reverse = line.isSelected ? Int32(HUB_LOOK_REVERSE) : 0
            // The bar goes from edge to edge.
            if line.isSelected {
                hub_curses_put(Int32(row), 0, String(repeating: " ", count: columns), reverse, -1)
            }
            for span in line.spans {
                let (looks, color) = Self.look(span.style)
                hub_curses_put(Int32(row), Int32(span.column), span.text, looks | reverse, color)
            }
        }
        hub_curses_draw(Int32(page.cursor.line), Int32(page.cursor.column))
    }

    /// The next draw sends everything anew, for something else may have written on the screen.
    func forget() { hub_curses_forget() }
    func beep() { hub_curses_beep() }
    /// Drops what was typed before a question was to be seen.
    func dropInput() { hub_curses_drop_input() }

    /// The next key that was typed; nil if none was.
    func key() -> ScreenKey? {
        var character: UInt32 = 0
        let key = hub_curses_key(&character)
        switch Int(key) {
        case HUB_KEY_NONE: return nil
        case HUB_KEY_TEXT: return Unicode.Scalar(character).map { ScreenKey($0) } ?? .other
        case HUB_KEY_UP: return .up
        case HUB_KEY_DOWN: return .down
        case HUB_KEY_PAGE_UP: return .pageUp
        case HUB_KEY_PAGE_DOWN: return .pageDown
        case HUB_KEY_HOME: return .home
        case HUB_KEY_END: return .end
        case HUB_KEY_ENTER: return .enter
        case HUB_KEY_BACKSPACE: return .backspace
        default: return .other
        }
    }

    /// The colours of ``Styled``, by their numbers in ECMA-48.
    private static func look(_ style: Styled.Style) -> (looks: Int32, color: Int32) {
        switch style {
        case .plain: (0, -1)
        case .strong, .emphasis: (Int32(HUB_LOOK_BOLD), -1)
        case .faint: (Int32(HUB_LOOK_DIM), -1)
        case .good: (0, 2)
        case .caution: (0, 3)
        case .bad: (0, 1)
        case .name: (0, 6)
        }
    }

    private static func actions(of numbers: [Int32]) -> [(Int32, sigaction)] {
        numbers.map { number in
            var action = sigaction()
            sigaction(number, nil, &action)
            return (number, action)
        }
    }

    private static func restore(_ actions: [(Int32, sigaction)]) {
        for (number, action) in actions {
            var action = action
            sigaction(number, &action, nil)
        }
    }
}
