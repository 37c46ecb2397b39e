import HubCore

/// How a split treats the matches of its pattern (`SplitDelimiterBehavior`,
/// https://huggingface.co/docs/tokenizers/api/pre-tokenizers).
enum SplitBehavior: String, Sendable {
    /// Each is a piece.
    case isolated = "Isolated"
    /// They are left out.
    case removed = "Removed"
    /// Each is merged with the text before it.
    case mergedWithPrevious = "MergedWithPrevious"
    /// Each is merged with the text after it.
    case mergedWithNext = "MergedWithNext"
    /// Adjacent matches are one piece.
    case contiguous = "Contiguous"

    private struct Mark {
        var range: Range<Int>
        var isMatch: Bool
    }

    /// Reads `behavior`.
    init(_ part: TokenizerComponent) throws(AIError) {
        let name = try part.string("behavior")
        guard let behavior = Self(rawValue: name) else { throw part.refuse("behavior \(name)") }
        self = behavior
    }

    /// Calls `body` with the pieces of a text of `count` bytes in order; none is empty.
    ///
    /// - Parameter inverted: Whether matches and gaps are swapped.
    func forEachPiece(count: Int, matches: [Range<Int>], inverted: Bool, _ body: (Range<Int>) -> Void) {
        switch self {
        case .isolated, .removed:
            let keepsMatches = self == .isolated || inverted
            let keepsOthers = self == .isolated || !inverted
            var done = 0
            for match in matches {
                if keepsOthers, done < match.lowerBound { body(done..<match.lowerBound) }
                if keepsMatches, !match.isEmpty { body(match) }
                done = match.upperBound
            }
            if keepsOthers, done < count { body(done..<count) }
        case .contiguous:
            let marks = Self.marks(count, matches, inverted)
            Self.join(marks) { before, isMatch in before == isMatch }.forEach(body)
        // Of two adjacent matches only the first is merged.
        case .mergedWithPrevious:
            let marks = Self.marks(count, matches, inverted)
            Self.join(marks) { before, isMatch in isMatch && !before }.forEach(body)
        case .mergedWithNext:
            let marks = Self.marks(count, matches, inverted).reversed()
            Self.join(marks) { before, isMatch in isMatch && !before }.reversed().forEach(body)
        }
    }

    private static func marks(_ count: Int, _ matches: [Range<Int>], _ inverted: Bool) -> [Mark] {
        var marks: [Mark] = []
        marks.reserveCapacity(2 * matches.count + 1)
        var done = 0
        for match in matches {
            if done < match.lowerBound { marks.append(Mark(range: done..<match.lowerBound, isMatch: inverted)) }
            marks.append(Mark(range: match, isMatch: !inverted))
            done = match.upperBound
        }
        if done < count { marks.append(Mark(range: done..<count, isMatch: inverted)) }
        return marks
    }

    /// Joins a mark with the previous one if `joins` returns true.
    private static func join(_ marks: some Sequence<Mark>, _ joins: (Bool, Bool) -> Bool) -> [Range<Int>] {
        var result: [Range<Int>] = []
        var before = false
        for mark in marks {
            if let last = result.last, joins(before, mark.isMatch) {
                let low = min(last.lowerBound, mark.range.lowerBound)
                result[result.count - 1] = low..<max(last.upperBound, mark.range.upperBound)
            } else {
                result.append(mark.range)
            }
            before = mark.isMatch
        }
        return result.filter { !$0.isEmpty }
    }
}
