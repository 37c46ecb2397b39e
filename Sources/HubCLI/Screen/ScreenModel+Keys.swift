import Fetcher
import HubCore

/// What the keys do.
extension ScreenModel {
    mutating func press(_ key: ScreenKey) -> ScreenEffect {
        message = nil
        if key == .redraw { return .redraw }
        if let page { return press(key, on: page) }
        return isFiltering ? pressInFilter(key) : pressInList(key)
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
        case .character("/"): isFiltering = true
        case .character("i"): page = filesText
        case .character("?"): page = .help(columns: columns)
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
            message = "only revisions can be pinned"
            return .none
        }
        return .pin(item: current, !inventory.items[current].isPinned)
    }

    private mutating func startReview() -> ScreenEffect {
        if markedCount > 0 { return .review }
        message = "nothing is marked: space marks the row under the cursor"
        return .none
    }

    private mutating func pressInFilter(_ key: ScreenKey) -> ScreenEffect {
        if moves(key) { return .none }
        switch key {
        case .character(let character): setFilter(filter + String(character))
        case .backspace where filter.isEmpty: isFiltering = false
        case .backspace: setFilter(String(filter.dropLast()))
        case .enter: isFiltering = false
        case .escape:
            setFilter("")
            isFiltering = false
        default: return .beep
        }
        return .none
    }

    /// Keys that scroll scroll, any other key goes back to the list.
    private mutating func press(_ key: ScreenKey, on page: ScreenText) -> ScreenEffect {
        let step = max(layout.bodyHeight - 1, 1)
        switch key {
        case .character("y"), .character("Y"):
            if page.plan != nil { return .delete(isTrash: isTrash) }
            self.page = nil
        case .character("t"), .character("T"):
            if page.plan != nil { return .delete(isTrash: true) }
            self.page = nil
        case .up, .character("k"): scrollPage(to: page.top - 1)
        case .down, .character("j"): scrollPage(to: page.top + 1)
        case .pageUp: scrollPage(to: page.top - step)
        case .pageDown, .character(" "): scrollPage(to: page.top + step)
        case .home: scrollPage(to: 0)
        case .end: scrollPage(to: page.lines.count)
        default: self.page = nil
        }
        return .none
    }
}
