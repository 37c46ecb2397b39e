public import HubCore
import ModelFormats

/// A model that continues series of numbers, on the CPU: Chronos on T5 (https://arxiv.org/abs/2403.07815).
public final class Forecaster: Sendable {
    /// The most values that it forecasts.
    public let horizon: Int
    /// The most values of a series that it reads: the last ones.
    public let contextLength: Int

    private let model: Model
    private let settings: ForecastSettings
    /// What an answer begins with.
    private let start: Int
    private let format: KeyValueFormat
    // Used on the queue alone.
    nonisolated(unsafe) private let workspace: Workspace
    private let queue = ComputeQueue()

    private init(_ folder: String, _ options: ModelOptions) throws(AIError) {
        let sources = try ModelSources.read(folder: folder)
        // A model of texts is told so before anything else.
        if let configuration = sources.configuration, configuration.settings["chronos_config"] == nil {
            throw .unsupported(configuration.path, "the model forecasts no series")
        }
        let obstacles = FolderReading.obstacles(sources)
        guard obstacles.isEmpty, let configuration = sources.configuration, let weights = sources.weights,
            let architecture = Architectures.of(configuration)
        else {
            throw .unsupported(folder, "\(obstacles.joined(separator: ", ")) cannot be run yet")
        }
        let stored = Set(weights.tensors.map { TensorSource.plain($0.name) })
        let (d, names, _) = try architecture.describe(configuration, stored: stored)
        settings = try ForecastSettings(configuration, vocabulary: d.vocabulary)
        (horizon, contextLength) = (settings.horizon, settings.bins.contextLength)
        guard let first = configuration.decoderStartID, first < d.vocabulary, d.encoder != nil else {
            throw .malformed(configuration.path, "it has no decoder_start_token_id")
        }
        guard contextLength < d.maxPositions, horizon < d.maxPositions else {
            throw .malformed(configuration.path, "context_length or prediction_length is more than its positions")
        }
        start = first
        format = options.usedCacheFormat
        let team = try ComputeTeam(threads: options.threads, kernels: options.kernels)
        model = try Model(d, names, try TensorSource(weights, configuration.quantization), team)
        workspace = Workspace(d, team: team, isExact: options.isExact)
    }

    /// Opens a model folder.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that forecasts nothing or that cannot be run,
    ///   ``ErrorCode/malformedModel`` for a broken file or a missing tensor.
    public static func open(folder: String, options: ModelOptions = ModelOptions()) async throws(AIError)
        -> Forecaster
    {
        try await ComputeQueue().run { _ throws(AIError) in try Forecaster(folder, options) }
    }

    /// What may follow a series. The same seed gives the same paths, and more paths begin with those of fewer.
    ///
    /// - Parameters:
    ///   - series: finite numbers at even distances of time, the last one the latest.
    ///   - horizon: the number of values to forecast, at most ``horizon``; nil for that.
    ///   - samples: the number of paths; nil for the model's own.
    /// - Throws: ``ErrorCode/invalidInput`` for a series without values or with one that is no number, and for a
    ///   horizon or samples out of range, ``ErrorCode/cancelled``.
    public func forecast(
        _ series: [Double], horizon: Int? = nil, samples: Int? = nil, seed: UInt64 = 0
    ) async throws(AIError) -> Forecast {
        try await forecast(series, horizon: horizon, samples: samples, settings.config.seed(seed))
    }

    func forecast(
        _ series: [Double], horizon: Int?, samples: Int?, _ config: GenerateConfig
    ) async throws(AIError) -> Forecast {
        let (length, count) = (horizon ?? self.horizon, samples ?? settings.samples)
        guard (1...self.horizon).contains(length) else {
            throw AIError(.invalidInput, "the model forecasts 1 to \(self.horizon) values, not \(length)")
        }
        guard (1...10_000).contains(count) else {
            throw AIError(.invalidInput, "the number of paths must be 1 to 10000, not \(count)")
        }
        let (ids, scale) = try settings.bins.tokens(of: series)
        return try await queue.run { [self] isCancelled throws(AIError) in
            var paths: [[Double]] = []
            // The encoder reads the series once.
            let source = SourceText(ids)
            for first in stride(from: 0, to: count, by: workspace.rows) {
                let seeds = (first..<min(count, first + workspace.rows)).map { (config.seed ?? 0) &+ UInt64($0) }
                let drawn = try draw(source, length, seeds, config, isCancelled)
                paths += drawn.map { $0.map { settings.bins.value(of: $0, scale: scale) } }
            }
            return Forecast(paths: paths)
        }
    }

    /// A path of tokens for each seed, side by side.
    private func draw(
        _ source: SourceText, _ length: Int, _ seeds: [UInt64], _ config: GenerateConfig, _ isCancelled: () -> Bool
    ) throws(AIError) -> [[Int]] {
        let sessions = seeds.map { _ in
            let session = Session(model, context: length + 1, format: format)
            session.begin([start], sharing: source)
            return session
        }
        var samplers = seeds.map { Sampler(config, seed: $0, prompt: [], mask: EndMask(settings.end)) }
        var paths = seeds.map { _ in [Int]() }
        for _ in 0..<length {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let last = paths.map { $0.last ?? start }
            var step = Step()
            for (session, id) in zip(sessions, last) {
                session.grow(to: session.ids.count + 1)
                for row in session.rows([id], logitsFrom: 0) { step.append(row) }
            }
            var fault: AIError?
            model.run(step, workspace) { row, logits in
                do throws(AIError) { paths[row].append(try samplers[row].next(logits)) } catch { fault = error }
            }
            if let fault { throw fault }
            for (session, id) in zip(sessions, last) { session.keep([id]) }
        }
        return paths
    }
}
