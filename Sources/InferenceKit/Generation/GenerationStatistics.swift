import HubCore

/// When a generation did what.
struct GenerationStatistics {
    private let start = Clock.seconds
    private var first: Double?
    private var last = 0.0
    private var count = 0
    /// Prompt tokens that did not have to be computed.
    var cached = 0
    /// Guessed tokens, and those that were right.
    var drafted = 0
    var accepted = 0

    /// A token was sampled.
    mutating func sampled() {
        last = Clock.seconds
        first = first ?? last
        count += 1
    }

    /// A token came without a choice. Before the first choice it took no time that could be measured.
    mutating func forced() { if first != nil { count += 1 } }

    /// Seconds until the first token; nil if there was none.
    var ttft: Double? { first.map { $0 - start } }

    /// After the first token; 0 until there are two.
    var tokensPerSecond: Double {
        guard let first, count > 1, last > first else { return 0 }
        return Double(count - 1) / (last - first)
    }

    /// Computed prompt tokens per second, until the first token.
    func promptTokensPerSecond(_ prompt: Int) -> Double {
        guard let ttft, ttft > 0 else { return 0 }
        return Double(prompt - cached) / ttft
    }
}
