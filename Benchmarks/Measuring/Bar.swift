/// A promise about one of hub's figures.
enum Limit {
    /// No more than this, in the measure's unit.
    case most(Double)
    /// No less than this.
    case least(Double)
    /// At most this share of the others' sum.
    case share(Double)
    /// At least this many times the other's figure.
    case times(Double)

    /// Whether it is kept; nil without a comparison.
    func isKept(_ ours: Double, beside theirs: Double?) -> Bool? {
        switch self {
        case .most(let bound): ours <= bound
        case .least(let bound): ours >= bound
        case .share(let share): theirs.map { ours <= share * $0 }
        case .times(let factor): theirs.map { ours >= factor * $0 }
        }
    }

    /// `at most 64.0 MiB`, `at most 0.80 of it`.
    func text(_ measure: Measure, others: Int) -> String {
        switch self {
        case .most(let bound): "at most \(measure.text(bound))"
        case .least(let bound): "at least \(measure.text(bound))"
        case .share(1): others > 1 ? "at most their sum" : "at most as much"
        case .share(let share): "at most \(share.threeFigures) of \(others > 1 ? "their sum" : "it")"
        case .times(let factor): "at least \(factor.threeFigures) times it"
        }
    }
}

/// A promise about one measure of a contest.
struct Bar {
    var measure: Measure
    var limit: Limit
    /// The peers to compare with, or to show beside it.
    var beside: [String]

    init(_ measure: Measure, _ limit: Limit, beside: String...) {
        self.measure = measure
        self.limit = limit
        self.beside = beside
    }
}
