import Fetcher
import HubCore

/// What the full-screen list of `hub gc` is at one moment: which rows, which marks, where the cursor stands. Keys change
/// it; no terminal and no disk is touched.
struct ScreenModel: Sendable {
    private(set) var inventory: CacheInventory
    private(set) var rows: [ScreenRow]
    /// The items marked, and what they free.
    private var marks: Set<Int> = []
    private(set) var ledger: DeletionLedger
    /// What is shown instead of the list.
    var page: ScreenText?
    /// Whether a filter is being typed.
    var isFiltering = false
    private(set) var order = ScreenOrder.used
    private(set) var filter = ""
    /// The items shown, in their order.
    private(set) var shown: [Int] = []
    /// The place of the cursor in ``shown``.
    private(set) var cursor = 0
    /// The first line shown of the list.
    private(set) var top = 0
    private(set) var columns: Int
    private(set) var lines: Int
    /// Bytes that are to be free: `--free`.
    let goal: Int64?
    /// Whether a yes moves into the trash: `--trash`.
    let isTrash: Bool
    /// Whether a yes only shows what would go: `--dry-run`.
    let isDryRun: Bool
    private let now: Double
    /// The number of leading rows that reach ``goal``; nil without a goal, or in another order.
    private(set) var suggestion: Int?
    /// Whether all rows together reach ``goal``.
    private(set) var isGoalWithinReach = true
    /// Shown below the list until the next key.
    var message: String?
    /// For each step that can be undone: the items whose marks it changed.
    private var steps: [[Int]] = []

    init(
        _ inventory: CacheInventory, goal: Int64? = nil, isTrash: Bool = false, isDryRun: Bool = false,
        columns: Int, lines: Int, now: Double
    ) {
        self.inventory = inventory
        self.goal = goal
        self.isTrash = isTrash
        self.isDryRun = isDryRun
        self.now = now
        self.columns = columns
        self.lines = lines
        ledger = inventory.ledger
        rows = inventory.items.map { ScreenRow($0, now: now) }
        arrange()
    }

    var layout: ScreenLayout { ScreenLayout(lines: lines) }
    /// The item under the cursor; nil if nothing is shown.
    var current: Int? { shown.indices.contains(cursor) ? shown[cursor] : nil }
    /// The items marked, in the inventory's order.
    var marked: [Int] { marks.sorted() }
    var markedCount: Int { marks.count }
    func isMarked(_ item: Int) -> Bool { marks.contains(item) }
    /// Bytes free once what is marked has gone.
    var freeAfterwards: Int64 { inventory.diskFree + ledger.freedBytes }
    /// Bytes freed only because rows that share files are marked together.
    var freedTogether: Int64 { marks.reduce(ledger.freedBytes) { $0 - inventory.items[$1].freedAlone } }
    /// What a dry run says first of itself.
    var dryRun: String { isDryRun ? "dry run: " : "" }

    mutating func resize(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = lines
        scroll()
        guard let shown = page else { return }
        if shown.isHelp { page = .help(columns: columns) }
        scrollPage(to: shown.top)
    }

    // MARK: Answers to effects

    /// An item was pinned or unpinned.
    mutating func setPinned(_ item: Int, _ isPinned: Bool) {
        inventory.items[item].isPinned = isPinned
        inventory.items[item].pinNote = nil
        rows[item] = ScreenRow(inventory.items[item], now: now)
        if isPinned, isMarked(item) { mark([item], false) }
        message = isPinned ? "pinned; p unpins it" : "no longer pinned"
        suggest()
        scroll()
    }

    // MARK: Marks

    /// Why a row cannot be marked; nil if it can.
    func refusal(_ item: Int) -> String? {
        if inventory.items[item].isPinned {
            return "pinned" + (inventory.items[item].pinNote.map { " (\($0))" } ?? "") + "; p unpins it"
        }
        return inventory.items[item].obstacle?.text
    }

    /// Marks or unmarks items, as one step.
    mutating func mark(_ items: [Int], _ isMarked: Bool) {
        let changed = items.filter { marks.contains($0) != isMarked }
        guard !changed.isEmpty else { return }
        change(changed)
        steps.append(changed)
    }

    private mutating func change(_ items: [Int]) {
        for item in items {
            let isMarked = marks.insert(item).inserted
            if !isMarked { marks.remove(item) }
            ledger.take(inventory.items[item].choice, back: !isMarked)
        }
    }

    mutating func toggle() {
        guard let item = current else { return }
        let isMarked = isMarked(item)
        if !isMarked, let refusal = refusal(item) {
            message = refusal
        } else {
            mark([item], !isMarked)
        }
    }

    mutating func markAllShown() {
        let free = shown.filter { refusal($0) == nil }
        mark(free, true)
        let left = shown.count - free.count
        if left > 0 { message = "\(Humanize.plural(left, "row")) pinned or in use: not marked" }
    }

    mutating func undo() {
        guard let step = steps.popLast() else {
            message = "nothing to undo"
            return
        }
        // A row that was pinned since is not changed.
        change(step.filter { isMarked($0) || refusal($0) == nil })
    }

    // MARK: Rows

    mutating func setOrder(_ order: ScreenOrder) {
        self.order = order
        message = order.rawValue
        arrange()
    }

    mutating func setFilter(_ text: String) {
        filter = text
        arrange()
    }

    /// Sorts and filters; the cursor stays on its item where that is still shown.
    private mutating func arrange() {
        let former = current
        let sorted = order.sorted(inventory.items, rows: rows)
        let words = filter.lowercased().split(separator: " ")
        shown =
            words.isEmpty
            ? sorted
            : sorted.filter { index in words.allSatisfy { rows[index].searched.contains($0) } }
        cursor = former.flatMap { shown.firstIndex(of: $0) } ?? 0
        suggest()
        scroll()
    }

    /// Finds how many rows from the first on have to be marked to reach the goal.
    private mutating func suggest() {
        suggestion = nil
        isGoalWithinReach = true
        guard let goal, order == .used, filter.isEmpty, inventory.diskFree < goal else { return }
        var trial = inventory.ledger
        for (place, item) in shown.enumerated() where refusal(item) == nil {
            trial.take(inventory.items[item].choice)
            if inventory.diskFree + trial.freedBytes >= goal {
                suggestion = place + 1
                return
            }
        }
        isGoalWithinReach = false
    }

    // MARK: Places

    /// Moves the cursor to a row, the first or the last one where the place is beyond them.
    mutating func move(to place: Int) {
        cursor = min(max(place, 0), max(shown.count - 1, 0))
        scroll()
    }

    /// The line of the list on which a row stands: the suggested line takes one.
    func line(ofRow place: Int) -> Int { place + (suggestion.map { place >= $0 ? 1 : 0 } ?? 0) }
    var lineCount: Int { shown.count + (suggestion == nil ? 0 : 1) }

    private mutating func scroll() {
        let line = line(ofRow: cursor)
        let height = layout.bodyHeight
        top = min(top, line)
        top = max(top, line - height + 1)
        top = min(top, max(lineCount - height, 0))
        top = max(top, 0)
    }

    mutating func scrollPage(to top: Int) {
        let last = max((page?.lines.count ?? 0) - layout.bodyHeight, 0)
        page?.top = min(max(top, 0), last)
    }
}
