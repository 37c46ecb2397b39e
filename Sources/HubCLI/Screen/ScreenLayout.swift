/// Which lines of the screen there is room for. On a low screen the help lines go first, then the totals.
struct ScreenLayout: Sendable, Hashable {
    let showsPlace: Bool
    let showsTotals: Bool
    let showsHeader: Bool
    let showsMessage: Bool
    let showsKeys: Bool
    /// The first line of the list.
    let bodyTop: Int
    let bodyHeight: Int

    init(lines: Int) {
        (showsPlace, showsTotals, showsHeader) = (lines >= 8, lines >= 3, lines >= 6)
        (showsMessage, showsKeys) = (lines >= 4, lines >= 7)
        bodyTop = [showsPlace, showsTotals, showsHeader].count { $0 }
        bodyHeight = max(lines - bodyTop - [showsMessage, showsKeys].count { $0 }, 1)
    }
}

/// The columns of the list on a screen of some width. On a narrow screen the least useful ones go first.
struct ScreenColumns: Sendable {
    enum Kind: Int, CaseIterable, Sendable {
        case name, refs, size, frees, used, downloaded, flags

        var header: String { ["NAME", "REFS", "SIZE", "FREES", "USED", "ADDED", ""][rawValue] }
        var isRight: Bool { self == .size || self == .frees }
    }

    struct Column: Sendable {
        var kind: Kind
        var start: Int
        var width: Int
    }

    /// From left to right.
    private(set) var columns: [Column] = []

    /// Cells before the name: the cursor and the mark.
    private static let markWidth = 6
    private static let gap = 2
    private static let leastName = 16
    /// The columns to drop if there is no room, in this order.
    private static let dispensable: [Kind] = [.downloaded, .refs, .frees, .flags, .used, .size]

    /// - Parameter natural: the widest text of each column.
    init(natural: [Int], width: Int) {
        var widths = zip(natural, Kind.allCases).map { max($0, $1.header.utf8.count) }
        widths[Kind.refs.rawValue] = min(widths[Kind.refs.rawValue], 12)
        widths[Kind.flags.rawValue] = min(widths[Kind.flags.rawValue], 19)
        var kinds = Kind.allCases
        func room() -> Int {
            kinds.reduce(width - Self.markWidth) { $0 - ($1 == .name ? 0 : widths[$1.rawValue] + Self.gap) }
        }
        let wanted = min(Self.leastName, widths[0])
        for kind in Self.dispensable where room() < wanted { kinds.removeAll { $0 == kind } }
        widths[0] = max(min(widths[0], room()), 0)
        var start = Self.markWidth
        for kind in kinds {
            columns.append(Column(kind: kind, start: start, width: widths[kind.rawValue]))
            start += widths[kind.rawValue] + Self.gap
        }
    }
}
