import HubCore

/// One line of the report: one measure of one piece of work, hub's and a peer's.
struct Row {
    /// One side's half.
    struct Half {
        var name: String
        /// nil where it could not be measured.
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
    /// nil where there is nobody to compare with.
    var peer: Half?
    /// The most that the project allows, in seconds.
    var bar: Double?

    /// How many times as much the peer takes: above 1, hub takes less.
    var ratio: Double? {
        guard let ours = ours.samples?.median, let theirs = peer?.samples?.median, ours > 0 else { return nil }
        return theirs / ours
    }

    /// Whether hub's median keeps to the bar.
    var isWithinBar: Bool? {
        guard let bar, let samples = ours.samples else { return nil }
        return samples.median <= bar
    }

    /// The cells of the table.
    var cells: [String] {
        [
            work, measure.rawValue, text(ours), peer?.name ?? "(none)", peer.map(text) ?? "",
            ratio.map { "\($0.threeFigures)x" } ?? "",
            bar.map { "\(measure.text($0)): " + (isWithinBar.map { $0 ? "within" : "OVER" } ?? "unknown") } ?? "",
        ]
    }

    static let headers = ["WORK", "MEASURE", "HUB", "PEER", "PEER'S", "PEER/HUB", "BAR"]

    private func text(_ half: Half) -> String {
        half.samples.map(measure.text) ?? "missing: \(half.missing ?? "not measured")"
    }

    var json: JSON {
        .object([
            "work": .string(work), "measure": .string(measure.rawValue), "unit": .string(measure.unit),
            "hub": json(ours), "peer": peer.map(json), "ratio": ratio.map { .double($0) },
            "bar": bar.map { .double($0) }, "within_bar": isWithinBar.map { .bool($0) },
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
