import HubCore

/// Futures that are drawn token by token.
extension Forecaster {
    /// - Parameter count: the number of paths.
    func draw(
        _ paths: ForecastSettings.Paths, _ series: [Double], _ length: Int, _ count: Int, _ config: GenerateConfig
    ) async throws(AIError) -> Forecast {
        guard (1...10_000).contains(count) else {
            throw AIError(.invalidInput, "the number of paths must be 1 to 10000, not \(count)")
        }
        let bins = SeriesBins(paths, contextLength: contextLength)
        let (ids, scale) = try bins.tokens(of: series)
        return try await queue.run { [self] isCancelled throws(AIError) in
            var drawn: [[Double]] = []
            // The encoder reads the series once.
            let source = SourceText([RowInput](tokens: ids))
            for first in stride(from: 0, to: count, by: workspace.rows) {
                let seeds = (first..<min(count, first + workspace.rows)).map { (config.seed ?? 0) &+ UInt64($0) }
                let mask = EndMask(id: paths.end)
                let tokens = try draw(source, length, seeds, config, mask, isCancelled)
                drawn += tokens.map { $0.map { bins.value(of: $0, scale: scale) } }
            }
            return Forecast(paths: drawn)
        }
    }

    /// A path of tokens for each seed, side by side.
    private func draw(
        _ source: SourceText, _ length: Int, _ seeds: [UInt64], _ config: GenerateConfig, _ mask: EndMask,
        _ isCancelled: () -> Bool
    ) throws(AIError) -> [[Int]] {
        let sessions = seeds.map { _ in
            let session = Session(model, context: length + 1, format: format)
            session.begin([.token(start)], sharing: source)
            return session
        }
        var samplers = seeds.map { Sampler(config, seed: $0, prompt: [], mask: mask) }
        var paths = seeds.map { _ in [Int]() }
        for _ in 0..<length {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let last = paths.map { $0.last ?? start }
            var step = Step()
            for (session, id) in zip(sessions, last) {
                session.grow(to: session.count + 1)
                for row in session.rows([.token(id)], logitsFrom: 0) { step.append(row) }
            }
            var fault: AIError?
            try model.run(step, workspace) { row, logits in
                do throws(AIError) { paths[row].append(try samplers[row].next(logits)) } catch { fault = error }
            }
            if let fault { throw fault }
            for (session, id) in zip(sessions, last) { session.keep([.token(id)]) }
        }
        return paths
    }
}

extension ForecastSettings.Paths {
    /// How a path of a length is drawn.
    func config(_ length: Int) -> GenerateConfig {
        GenerateConfig(maxTokens: length, temperature: temperature, topK: topK, topP: topP)
    }
}

/// Bans the token that ends a text: a forecast is as long as asked for.
private final class EndMask: TokenMask {
    private let id: Int
    init(id: Int) { self.id = id }
    func ban(in logits: UnsafeMutableBufferPointer<Float>) {
        if id < logits.count { logits[id] = -.infinity }
    }
    func accept(_ id: Int) {}
}
