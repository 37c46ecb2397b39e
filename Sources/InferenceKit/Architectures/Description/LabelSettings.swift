/// The labels of a classifier.
struct LabelSettings: Sendable, Hashable {
    /// By their numbers.
    var names: [String]
    /// `problem_type`; nil if config.json does not say.
    var problem: Problem?

    enum Problem: String, Sendable, Hashable {
        case regression
        case single = "single_label_classification"
        case several = "multi_label_classification"
    }

    var count: Int { names.count }
}
