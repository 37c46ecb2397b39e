/// What several runs gave.
struct Samples {
    /// In the order of the runs; never empty.
    let values: [Double]

    var least: Double { values.min() ?? 0 }
    var most: Double { values.max() ?? 0 }
    /// The middle one; the mean of the two in the middle where their number is even.
    var median: Double {
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}

/// One thing that is measured of a run.
enum Measure: String {
    case wall
    case processor = "cpu"
    case memory = "peak memory"
    case requests
    case prompt
    case decode

    /// A value as people read it, with three figures.
    func text(_ value: Double) -> String {
        let (factor, unit) = scale(value)
        return figures(value * factor) + unit
    }

    /// `10.2 ms (9.77 to 11.3)`: the median, the least and the most.
    func text(_ samples: Samples) -> String {
        let (factor, unit) = scale(samples.median)
        let (median, least, most) = (samples.median, samples.least, samples.most)
        if least == most { return text(median) }
        return "\(figures(median * factor))\(unit) (\(figures(least * factor)) to \(figures(most * factor)))"
    }

    private func figures(_ value: Double) -> String { self == .requests ? "\(Int(value))" : value.threeFigures }

    /// What a value of about this size is multiplied with and called.
    private func scale(_ value: Double) -> (factor: Double, unit: String) {
        switch self {
        case .wall, .processor: value < 1 ? (1e3, " ms") : (1, " s")
        case .memory: value < 1e9 ? (1e-6, " MB") : (1e-9, " GB")
        case .requests: (1, "")
        case .prompt, .decode: (1, " tokens/s")
        }
    }

    /// The unit of the values in the JSON document.
    var unit: String {
        switch self {
        case .wall, .processor: "seconds"
        case .memory: "bytes"
        case .requests: "requests"
        case .prompt, .decode: "tokens_per_second"
        }
    }
}

extension Double {
    /// `1234`, `123`, `12.3`, `1.23`, `0.12`.
    var threeFigures: String {
        if self >= 99.95 { return "\(Int(rounded()))" }
        let places = self >= 9.995 ? 10 : 100
        let scaled = Int((self * Double(places)).rounded())
        let fraction = String(scaled % places)
        return "\(scaled / places)." + (places == 100 && fraction.count == 1 ? "0" : "") + fraction
    }
}
