import HubCore
import ModelFormats

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

extension Settings {
    /// More labels than any model has.
    private static let mostLabels = 1 << 20

    /// `id2label`, or else `num_labels`, by default two.
    /// https://huggingface.co/docs/transformers/main_classes/configuration
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a number of labels that no model has.
    func labels() throws(AIError) -> LabelSettings {
        let outer = self.outer
        let listed = outer.object("id2label")?.members ?? []
        let count = listed.isEmpty ? outer.count("num_labels") ?? 2 : listed.count
        guard count <= Self.mostLabels else { throw .malformed(path, "num_labels is \(count)") }
        var names = (0..<count).map { "LABEL_\($0)" }
        for (key, value) in listed {
            guard let id = Int(key), names.indices.contains(id), let name = value.string else { continue }
            names[id] = name
        }
        return LabelSettings(names: names, problem: outer.text("problem_type").flatMap(LabelSettings.Problem.init))
    }
}
