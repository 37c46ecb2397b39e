import Fetcher
import HubCore

/// What the full-screen list of `hub gc` is at one moment: which rows, which marks, where the cursor stands. Keys change
/// it; no terminal and no disk is touched.
struct ScreenModel: Sendable {
    /// What the keys mean and what is shown.
    enum Mode: Sendable, Hashable {
        case list
        /// A filter is being typed.
        case filter
        /// The files of the row, from this line on.
        case files(top: Int)
        case help(top: Int)
        /// What would be deleted, from this line on: a line for each row, or each path.
        case review(top: Int, showsPaths: Bool)
    }

    private(set) var inventory: CacheInventory
    private(set) var rows: [ScreenRow]
    /// The items marked, and what they free.
    private var marks: Set<Int> = []
    private(set) var ledger: DeletionLedger
    /// The sum of what the marked rows would free each by itself.
    private(set) var freedApart: Int64 = 0
    private(set) var mode = Mode.list
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
    /// The number of leading rows that reach ``goal``; nil without a goal, or in another order.
    private(set) var suggestion: Int?
    /// Whether all rows together reach ``goal``.
    private(set) var isGoalWithinReach = true
    /// Shown below the list until the next key.
    private(set) var message: String?
    private(set) var review: ScreenReview?
    private(set) var files: [ItemFile] = []
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
        self.columns = columns
        self.lines = lines
        ledger = inventory.ledger
        rows = inventory.items.map { ScreenRow($0, now: now) }
        arrange()
        suggest()
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

    mutating func resize(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = lines
        scroll()
        if case .files(let top) = mode { mode = .files(top: clamped(top, files.count)) }
        if case .help(let top) = mode { mode = .help(top: clamped(top, ScreenHelp.lines.count)) }
        if case .review(let top, let showsPaths) = mode {
            mode = .review(top: clamped(top, reviewLines.count), showsPaths: showsPaths)
        }
    }

    // MARK: Answers to effects

    mutating func say(_ text: String) { message = text }

    /// An item was pinned or unpinned.
    mutating func setPinned(_ item: Int, _ isPinned: Bool) {
        inventory.items[item].isPinned = isPinned
        inventory.items[item].pinNote = nil
        if isPinned, isMarked(item) { mark([item], false) }
        message = isPinned ? "pinned; p unpins it" : "no longer pinned"
        suggest()
        scroll()
    }

    /// Shows what would go.
    mutating func show(_ review: ScreenReview) {
        self.review = review
        mode = .review(top: 0, showsPaths: false)
    }

    /// What the review shows now.
    var reviewLines: [ScreenReview.Line] {
        guard case .review(_, let showsPaths) = mode, let review else { return [] }
        return showsPaths ? review.paths : review.lines
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
            freedApart += (isMarked ? 1 : -1) * inventory.items[item].freedAlone
        }
    }

    mutating func toggle() {
        guard let item = current else { return }
        let isMarked = isMarked(item)
        if !isMarked, let refusal = refusal(item) {
            message = refusal
            return
        }
        let before = ledger.freedBytes
        mark([item], !isMarked)
        let more = (ledger.freedBytes - before) - inventory.items[item].freedAlone
        if !isMarked, more > 0 {
            message = "\(ByteCount(more)) more than alone: files shared with marked rows are freed too"
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
        message = order.description
        arrange()
        suggest()
        scroll()
    }

    mutating func setFilter(_ text: String) {
        filter = text
        arrange()
        suggest()
        scroll()
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

    func clamped(_ top: Int, _ count: Int) -> Int { min(max(top, 0), max(count - layout.bodyHeight, 0)) }

    mutating func setMode(_ mode: Mode) {
        if case .files = mode, let current { files = inventory.files(of: inventory.items[current]) }
        self.mode = mode
    }

    mutating func forgetMessage() { message = nil }
}

/// What would be deleted, for a person who is about to say yes.
struct ScreenReview: Sendable {
    struct Line: Sendable, Hashable {
        var text: String
        /// Bytes freed; nil if no total counts them.
        var size: Int64?
        /// Whether it stays although it was marked.
        var isProtected = false
    }

    var plan: DeletionPlan
    /// What stays although it was marked, then a line for each row of the plan.
    var lines: [Line]
    /// Every path, in the order of the plan.
    var paths: [Line]
    /// Bytes that go, Xet's folder included.
    var freedBytes: Int64
    /// What those take on the disk; nil if that is much the same.
    var allocatedBytes: Int64?
    var includesXet: Bool
    var isEmpty: Bool { plan.isEmpty && !includesXet }

    /// `3 rows`.
    var rowCount: String { Humanize.plural(lines.count { !$0.isProtected }, "row") }
    /// `41 paths`.
    var pathCount: String { Humanize.plural(paths.count, "path") }

    /// Such as `3.0 GB`, or `3.0 GB (1.2 GB on the disk)`.
    var amount: String { DeletionView.amount(freedBytes, allocatedBytes ?? freedBytes) }
    /// Bytes free afterwards, with so many free now.
    func freeAfterwards(_ free: Int64) -> ByteCount { ByteCount(free + (allocatedBytes ?? freedBytes)) }
}
