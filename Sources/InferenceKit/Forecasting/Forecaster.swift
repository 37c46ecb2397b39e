public import HubCore
import ModelFormats

/// A model that forecasts series of numbers on the CPU: Chronos on T5, Chronos-Bolt, Chronos-2.
public final class Forecaster: Sendable {
    /// The most values that it forecasts.
    public let horizon: Int
    /// The most values of a series that it reads: the last ones.
    public let contextLength: Int
    /// What the headers say.
    public let inspection: ModelInspection
    /// Seconds that opening took.
    public let loadSeconds: Double

    let computation: Computation
    let settings: ForecastSettings
    // Used on the queue alone.
    nonisolated(unsafe) let workspace: Workspace
    let queue = ComputeQueue()
    /// What a decoder begins with; 0 without one.
    let start: Int

    init(_ reading: FolderReading, options: ModelOptions) throws(AIError) {
        let began = Clock.seconds
        guard reading.forecasts else { throw .unsupported(reading.folder, "the model forecasts no series") }
        let (configuration, d, names, weights) = try reading.runnable()
        guard let settings = d.forecast else { preconditionFailure("a forecaster without settings") }
        let first =
            try GenerationConfiguration.read(folder: reading.folder)?.decoderStartID ?? configuration.decoderStartID
        guard d.encoder == nil || first.map({ $0 < d.vocabulary }) ?? false else {
            throw .malformed(configuration.path, "decoder_start_token_id is missing or not a token")
        }
        computation = try Computation(reading, d, names, weights, options, context: d.maxPositions)
        workspace = computation.workspace()
        (self.settings, start) = (settings, first ?? 0)
        (horizon, contextLength) = (settings.horizon, settings.contextLength)
        inspection = ModelInspection(reading)
        loadSeconds = Clock.seconds - began + reading.seconds
    }

    var model: Model { computation.model }
    var format: KeyValueFormat { computation.cacheFormat }
    var team: ComputeTeam { computation.team }

    /// Opens a model folder.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that forecasts nothing or that cannot be run,
    ///   ``ErrorCode/malformedModel`` for a broken file or a missing tensor, ``ErrorCode/insufficientMemory``.
    public static func open(folder: String, options: ModelOptions = ModelOptions()) async throws(AIError)
        -> Forecaster
    {
        try await ModelFolder.read(folder).openForecaster(options)
    }

    /// What may follow a series. The same seed gives the same forecast, and more paths begin with those of fewer.
    ///
    /// - Parameters:
    ///   - series: at even distances of time, the last one the latest; NaN where a value is missing.
    ///   - horizon: the number of values to forecast, at most ``horizon``; nil for that.
    ///   - samples: the number of paths, of a model that draws some; nil for its own.
    ///   - seed: of such a model.
    /// - Throws: ``ErrorCode/invalidInput`` for a series without values, with an infinite one or with gaps that the
    ///   model cannot read, and for a horizon or samples out of range, ``ErrorCode/generationFailed`` if the model
    ///   gives NaN, ``ErrorCode/cancelled``.
    public func forecast(
        _ series: [Double], horizon: Int? = nil, samples: Int? = nil, seed: UInt64 = 0
    ) async throws(AIError) -> Forecast {
        let length = horizon ?? self.horizon
        guard (1...self.horizon).contains(length) else {
            throw AIError(.invalidInput, "the model forecasts 1 to \(self.horizon) values, not \(length)")
        }
        guard series.contains(where: { !$0.isNaN }) else {
            throw AIError(.invalidInput, "the series has no values")
        }
        if let place = series.firstIndex(where: { !$0.isNaN && !Float($0).isFinite }) {
            throw AIError(.invalidInput, "value \(place + 1) of the series is not a finite number")
        }
        switch settings.method {
        case .paths(let paths):
            return try await draw(
                paths, series, length, samples ?? paths.samples, paths.config(length).seed(seed)
            ).checkedFinite()
        case .quantiles(let quantiles):
            guard samples == nil else {
                throw AIError(.invalidInput, "the model says quantiles; it draws no paths")
            }
            return try await say(quantiles, series, length).checkedFinite()
        }
    }
}

extension ModelFolder {
    /// Opens a model that forecasts.
    ///
    /// - Throws: What ``Forecaster/open(folder:options:)`` throws.
    public func openForecaster(_ options: ModelOptions = ModelOptions()) async throws(AIError) -> Forecaster {
        try await ComputeQueue().run { [self] isCancelled throws(AIError) in
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            return try Forecaster(reading, options: options)
        }
    }
}
