import HubCore

/// One line of the report: one measure of one piece of work, hub's and the others', with its promise.
struct Row {
    /// One side's half.
    struct Half {
        var name: String
        /// nil if it could not be measured.
        var samples: Samples?
        /// Why not.
        var missing: String?

        init(_ name: String, _ samples: Samples) {
            self.name = name
            self.samples = samples
        }

        init(_ name: String, missing reason: String) {
            self.name = name
            self.missing = reason
        }
    }

    var work: String
    var measure: Measure
    var ours: Half
    /// Those beside hub. The figures of several are added up.
    var others: [Half] = []
    var limit: Limit?

    /// The others' sum; nil if one of them is missing.
    private var theirs: Double? {
        let figures = others.compactMap { $0.samples.map(measure.figure) }
        return figures.isEmpty || figures.count < others.count ? nil : figures.reduce(0, +)
    }

    /// hub's figure as a part or a multiple of theirs.
    var ratio: Double? {
        guard let ours = ours.samples.map(measure.figure), let theirs, theirs > 0 else { return nil }
        return ours / theirs
    }

    /// Whether the promise is kept; nil if there is none or it cannot be checked.
    var isKept: Bool? {
        guard let limit, let samples = ours.samples else { return nil }
        return limit.isKept(measure.figure(samples), beside: theirs)
    }

    /// The cells of the table.
    var cells: [String] {
        [
            work, measure.rawValue, text(ours), others.map { "\($0.name): \(text($0))" }.joined(separator: " + "),
            limit.map { $0.text(measure, others: others.count) } ?? "", result,
        ]
    }

    static let headers = ["work", "measure", "hub", "beside it", "bar", "hub ÷ beside"]

    private var result: String {
        let verdict = limit == nil ? nil : isKept.map { $0 ? "pass" : "**FAIL**" } ?? "not judged"
        return [ratio?.threeFigures, verdict].compactMap { $0 }.joined(separator: ", ")
    }

    private func text(_ half: Half) -> String {
        half.samples.map(measure.text) ?? "missing: \(half.missing ?? "not measured")"
    }

    var json: JSON {
        .object([
            "work": .string(work), "measure": .string(measure.rawValue), "unit": .string(measure.unit),
            "hub": json(ours), "others": .array(others.map(json)), "ratio": ratio.map { .double($0) },
            "bar": limit.map { .string($0.text(measure, others: others.count)) },
            "kept": isKept.map { .bool($0) },
        ])
    }

    private func json(_ half: Half) -> JSON {
        .object([
            "name": .string(half.name), "missing": half.missing.map { .string($0) },
            "median": half.samples.map { .double($0.median) }, "min": half.samples.map { .double($0.least) },
            "max": half.samples.map { .double($0.most) },
            "samples": half.samples.map { .array($0.values.map { .double($0) }) },
        ])
    }
}
