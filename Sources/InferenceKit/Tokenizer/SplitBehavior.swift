import HubCore

/// What becomes of the matches of a pattern that cuts a text (`SplitDelimiterBehavior`,
/// https://huggingface.co/docs/tokenizers/api/pre-tokenizers).
enum SplitBehavior: String, Sendable {
    /// Each is a piece.
    case isolated = "Isolated"
    /// They are left out.
    case removed = "Removed"
    /// Each belongs to what is before it.
    case mergedWithPrevious = "MergedWithPrevious"
    /// Each belongs to what is after it.
    case mergedWithNext = "MergedWithNext"
    /// Those without anything between them are one piece.
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

    /// Hands over the pieces of a text of `count` bytes in order; none is empty.
    ///
    /// - Parameter inverted: Whether what lies between the matches counts as the matches, and they as what is between.
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
        // Of two matches in a row only the first is taken.
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

    /// Joins a mark with the one before it, in the order given, where `joins` says so of the two.
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
