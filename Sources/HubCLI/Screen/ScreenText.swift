import Fetcher
import HubCore

/// A page of text that takes the place of the list: help, the files of a row, or the review.
struct ScreenText: Sendable {
    struct Line: Sendable {
        /// Stands before the text, in a column of its own; empty for none.
        var size = ""
        var text: String
        var style = Styled.Style.plain
    }

    var title: String
    /// The line below the title.
    var second = ""
    var lines: [Line]
    var remark = ""
    /// What a yes deletes; nil if nothing is asked.
    var plan: DeletionPlan?
    /// The first line in sight.
    var top = 0
    /// Whether it is ``help(columns:)``, whose lines are those of a width.
    var isHelp = false

    private static let keys = [
        ("up, down, k, j", "previous row, next row"), ("PgUp, PgDn", "previous page, next page"),
        ("Home, End", "first row, last row"), ("space, a, n", "mark or unmark the row, mark all, none"),
        ("u", "undo the last mark"), ("s", "next order: last used, size, name, age"),
        ("/", "show only rows with these words"), ("i", "files of the row, and what shares them"),
        ("p", "pin or unpin the revision"),
        ("Enter", "review what would be deleted; there y deletes, t moves to the trash"),
        ("^L, q", "redraw, quit; nothing is deleted"),
        ("FREES", "what deleting this row alone frees; rows that share files free more together"),
        ("[-]", "pinned or in use: cannot be marked"), ("changed", "another program may still be writing it"),
        ("damaged", "files are wrong: hub verify --repair"), ("incomplete", "files of the revision are missing"),
        ("detached", "no branch or tag points to it"),
    ]

    /// One column, so that a narrow terminal cuts no key; no longer than a terminal of 24 lines shows.
    static func help(columns: Int) -> ScreenText {
        let lines = TextWrap.definitions(
            keys.map { (term: $0.0, text: $0.1) }, width: min(columns, 60), indent: 0, column: 18)
        return ScreenText(title: "hub gc: keys", lines: lines.map { Line(text: $0) }, isHelp: true)
    }
}
