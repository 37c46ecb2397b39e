/// The values of several runs.
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
    case serverMemory = "the server's memory"
    case rate
    case requests
    case survived = "went on and verified"
    case again = "bytes sent again"
    case sent = "bytes sent"
    case prompt
    case decode
    case texts
    case models
    case modelBytes = "bytes a model"
    case percentile = "95th percentile"
    case late = "99th percentile"
    case lost
    case growth = "memory growth"
    case load
    case delay
    case encoding
    case decoding
    case scan
    case tokenCost = "mean of a token"
    case worstTokenCost = "worst token"
    case start
    case search

    /// The summary: the median, but the worst for faults.
    func figure(_ samples: Samples) -> Double { self == .again ? samples.most : samples.median }

    /// A value as people read it, with three figures.
    func text(_ value: Double) -> String {
        let (factor, unit) = scale(value)
        return figures(value * factor) + unit
    }

    /// `10.2 ms (9.77 to 11.3)`: the figure, the least and the most.
    func text(_ samples: Samples) -> String {
        let (factor, unit) = scale(figure(samples))
        let (least, most) = (figures(samples.least * factor), figures(samples.most * factor))
        if least == most { return text(figure(samples)) }
        if self == .again { return "\(most)\(unit) at worst, \(text(samples.median)) in the median" }
        return "\(figures(samples.median * factor))\(unit) (\(least) to \(most))"
    }

    private func figures(_ value: Double) -> String {
        [.requests, .survived, .lost].contains(self) ? "\(Int(value))" : value.threeFigures
    }

    /// What a value of about this size is multiplied with and called.
    private func scale(_ value: Double) -> (factor: Double, unit: String) {
        switch self {
        case .wall, .processor, .percentile, .late, .load, .delay, .start, .search:
            value < 1 ? (1e3, " ms") : (1, " s")
        case .tokenCost, .worstTokenCost: value < 1e-3 ? (1e6, " µs") : (1e3, " ms")
        case .memory, .serverMemory, .growth, .again, .sent: (1 / .mebibyte, " MiB")
        case .rate, .encoding, .decoding, .scan: (1e-6, " MB/s")
        case .requests, .survived, .lost: (1, "")
        case .prompt, .decode: (1, " tokens/s")
        case .texts: (1, " texts/s")
        case .models: (1, " models/s")
        case .modelBytes: (1, " bytes")
        }
    }

    /// The unit of the values in the JSON document.
    var unit: String {
        switch self {
        case .wall, .processor, .percentile, .late, .load, .delay, .start, .search, .tokenCost, .worstTokenCost:
            "seconds"
        case .memory, .serverMemory, .growth, .again, .sent: "bytes"
        case .rate, .encoding, .decoding, .scan: "bytes_per_second"
        case .requests, .lost: "requests"
        case .survived: "pulls"
        case .prompt, .decode: "tokens_per_second"
        case .texts: "texts_per_second"
        case .models: "models_per_second"
        case .modelBytes: "bytes"
        }
    }
}

extension Double {
    /// Bytes.
    static let mebibyte = 1_048_576.0

    /// `1234`, `123`, `12.3`, `1.23`, `0.12`, `0.012`.
    var threeFigures: String {
        if self >= 99.95 { return "\(Int(rounded()))" }
        let places = self >= 9.995 ? 1 : self >= 0.0995 ? 2 : 3
        let scale = places == 1 ? 10 : places == 2 ? 100 : 1000
        let scaled = Int((self * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}
