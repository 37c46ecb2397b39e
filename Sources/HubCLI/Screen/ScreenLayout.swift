/// Which lines of the screen there is room for. On a low screen the help lines go first, then the totals.
struct ScreenLayout: Sendable, Hashable {
    var showsPlace: Bool
    var showsTotals: Bool
    var showsHeader: Bool
    var showsMessage: Bool
    var showsKeys: Bool
    var bodyHeight: Int

    init(lines: Int) {
        showsPlace = lines >= 8
        showsTotals = lines >= 3
        showsHeader = lines >= 6
        showsMessage = lines >= 4
        showsKeys = lines >= 7
        let others = [showsPlace, showsTotals, showsHeader, showsMessage, showsKeys].count { $0 }
        bodyHeight = max(lines - others, 1)
    }

    /// The first line of the list.
    var bodyTop: Int { [showsPlace, showsTotals, showsHeader].count { $0 } }
}

/// The columns of the list on a screen of some width. On a narrow screen the least useful ones go first.
struct ScreenColumns: Sendable, Hashable {
    enum Kind: CaseIterable, Sendable, Hashable {
        case name, refs, size, frees, used, downloaded, flags

        var header: String {
            switch self {
            case .name: "NAME"
            case .refs: "REFS"
            case .size: "SIZE"
            case .frees: "FREES"
            case .used: "USED"
            case .downloaded: "ADDED"
            case .flags: ""
            }
        }
        var isRight: Bool { self == .size || self == .frees || self == .used || self == .downloaded }
    }

    struct Column: Sendable, Hashable {
        var kind: Kind
        var start: Int
        var width: Int
    }

    /// From left to right.
    private(set) var columns: [Column] = []

    /// Cells before the name: the cursor and the mark.
    static let markWidth = 6
    private static let gap = 2
    private static let leastName = 18
    /// The columns to drop if there is no room, in this order.
    private static let dispensable: [Kind] = [.downloaded, .refs, .frees, .flags, .used, .size]

    /// - Parameter natural: the widest text of each column.
    init(natural: [Kind: Int], width: Int) {
        var widths = natural
        for kind in Kind.allCases { widths[kind] = max(widths[kind] ?? 0, kind.header.utf8.count) }
        widths[.refs] = min(widths[.refs]!, 12)
        widths[.flags] = min(widths[.flags]!, 19)
        var kinds = Kind.allCases.filter { $0 != .flags || widths[.flags]! > 0 }
        func room() -> Int {
            kinds.reduce(width - Self.markWidth) { $0 - ($1 == .name ? 0 : widths[$1]! + Self.gap) }
        }
        let wanted = min(Self.leastName, widths[.name]!)
        for kind in Self.dispensable where room() < wanted { kinds.removeAll { $0 == kind } }
        widths[.name] = max(min(widths[.name]!, room()), 0)
        var start = Self.markWidth
        for kind in kinds {
            columns.append(Column(kind: kind, start: start, width: widths[kind]!))
            start += widths[kind]! + Self.gap
        }
    }
}
