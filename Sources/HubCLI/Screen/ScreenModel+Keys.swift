import Fetcher
import HubCore

/// What the keys do.
extension ScreenModel {
    mutating func press(_ key: ScreenKey) -> ScreenEffect {
        forgetMessage()
        if key == .redraw { return .redraw }
        switch mode {
        case .list: return pressInList(key)
        case .filter: return pressInFilter(key)
        case .files(let top): return scroll(key, top, files.count) { .files(top: $0) }
        case .help(let top): return scroll(key, top, ScreenHelp.lines.count) { .help(top: $0) }
        case .review(let top, let showsPaths):
            switch key {
            case .character("y"), .character("Y"): return .delete(isTrash: isTrash)
            case .character("t"), .character("T"): return .delete(isTrash: true)
            case .character("v"), .character("V"): setMode(.review(top: 0, showsPaths: !showsPaths))
            default: return scroll(key, top, reviewLines.count) { .review(top: $0, showsPaths: showsPaths) }
            }
            return .none
        }
    }

    /// Moves the cursor; whether the key does that.
    private mutating func moves(_ key: ScreenKey) -> Bool {
        let page = max(layout.bodyHeight - 1, 1)
        switch key {
        case .up: move(to: cursor - 1)
        case .down: move(to: cursor + 1)
        case .pageUp: move(to: cursor - page)
        case .pageDown: move(to: cursor + page)
        case .home: move(to: 0)
        case .end: move(to: shown.count - 1)
        default: return false
        }
        return true
    }

    private mutating func pressInList(_ key: ScreenKey) -> ScreenEffect {
        if moves(key) { return .none }
        switch key {
        case .character("j"): move(to: cursor + 1)
        case .character("k"): move(to: cursor - 1)
        case .character(" "): toggle()
        case .character("a"): markAllShown()
        case .character("n"): mark(marked, false)
        case .character("u"): undo()
        case .character("s"): setOrder(order.next)
        case .character("/"): setMode(.filter)
        case .character("i"): if current != nil { setMode(.files(top: 0)) }
        case .character("?"): setMode(.help(top: 0))
        case .character("p"): return pin()
        case .enter: return startReview()
        case .character("q"): return .quit
        // Esc removes the filter and never leaves the list: people press it more often than they mean to.
        case .escape where !filter.isEmpty: setFilter("")
        case .escape: break
        default: return .beep
        }
        return .none
    }

    private mutating func pin() -> ScreenEffect {
        guard let current else { return .none }
        guard inventory.items[current].commit != nil else {
            say("only revisions can be pinned")
            return .none
        }
        return .pin(item: current, !inventory.items[current].isPinned)
    }

    private mutating func startReview() -> ScreenEffect {
        if markedCount > 0 { return .review }
        say("nothing is marked: space marks the row under the cursor")
        return .none
    }

    private mutating func pressInFilter(_ key: ScreenKey) -> ScreenEffect {
        if moves(key) { return .none }
        switch key {
        case .character(let character): setFilter(filter + String(character))
        case .backspace where filter.isEmpty: setMode(.list)
        case .backspace: setFilter(String(filter.dropLast()))
        case .enter: setMode(.list)
        case .escape:
            setFilter("")
            setMode(.list)
        default: return .beep
        }
        return .none
    }

    /// Pages of text: keys that scroll scroll, any other key goes back to the list.
    private mutating func scroll(_ key: ScreenKey, _ top: Int, _ count: Int, _ mode: (Int) -> Mode)
        -> ScreenEffect
    {
        let page = max(layout.bodyHeight - 1, 1)
        let next: Int
        switch key {
        case .up, .character("k"): next = top - 1
        case .down, .character("j"): next = top + 1
        case .pageUp: next = top - page
        case .pageDown, .character(" "): next = top + page
        case .home: next = 0
        case .end: next = count
        default:
            setMode(.list)
            return .none
        }
        setMode(mode(clamped(next, count)))
        return .none
    }
}

/// The page behind `?`. One column, so that a narrow terminal cuts no key; no longer than a terminal of 24 lines shows.
enum ScreenHelp {
    static let lines = [
        "up, down, k, j    previous row, next row",
        "PgUp, PgDn        previous page, next page",
        "Home, End         first row, last row",
        "space, a, n       mark or unmark the row, mark all, none",
        "u                 undo the last mark",
        "s                 next order: last used, size, name, age",
        "/                 show only rows with these words",
        "i                 files of the row, and what shares them",
        "p                 pin or unpin the revision",
        "Enter             review what would be deleted; there v",
        "                  shows paths, y deletes, t moves to trash",
        "^L, q             redraw, quit; nothing is deleted",
        "FREES             what deleting this row alone frees; rows",
        "                  that share files free more together",
        "[-]               pinned or in use: cannot be marked",
        "changed           another program may still be writing it",
        "damaged           files are wrong: hub verify --repair",
        "incomplete        files of the revision are missing",
        "detached          no branch or tag points to it",
    ]
}
