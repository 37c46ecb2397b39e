import HubCore
import InferenceKit

/// The search among vectors, measured as vectors_peer.py measures numpy: `Benchmarks vectors COUNT DIMENSIONS` prints the
/// seconds of a search of the ten nearest.
enum VectorTask {
    /// Searches, of which the median counts.
    private static let searches = 21

    /// Runs the task if the first word names it; otherwise returns false.
    static func run(_ words: [String]) throws -> Bool {
        guard words.first == "vectors", words.count == 3, let count = Int(words[1]), let dimensions = Int(words[2])
        else { return false }
        var random = SystemRandomNumberGenerator()
        func vector() -> EmbeddingResult {
            EmbeddingResult(vector: (0..<dimensions).map { _ in Float.random(in: -1...1, using: &random) })
        }
        var index = EmbeddingIndex()
        for _ in 0..<count {
            EmbeddingIndex.unitBytes(vector()).withUnsafeBytes { index.add(unit: $0) }
        }
        var seconds: [Double] = []
        for _ in 0..<searches {
            let query = vector()
            let began = Clock.seconds
            let found = try index.nearest(to: query, count: 10)
            seconds.append(Clock.seconds - began)
            guard found.count == 10 else { throw AIError(.ioError, "\(found.count) of 10 vectors found") }
        }
        print(JSON.object(["seconds": .double(Samples(values: seconds).median)]).text())
        return true
    }
}
