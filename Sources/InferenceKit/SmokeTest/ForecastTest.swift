import HubCore
import Libc

/// The part of a smoke test in which a model says how a series goes on.
struct ForecastTest {
    private let model: Forecaster

    static let names = ["forecast", "repeated"]

    init(_ model: Forecaster) { self.model = model }

    /// Eight years of months that rise, with a season.
    private static let series = (0..<96).map { month in
        let time = Double(month)
        return 100 + time / 2 + 10 * sin(2 * Double.pi * time / 12)
    }
    private static let horizon = 24

    func run(_ log: inout CheckLog) async throws(AIError) -> (sample: SmokeTest.Series, speed: SmokeTest.Speed) {
        let horizon = min(Self.horizon, model.horizon)
        log.begin("forecast")
        let forecast = try await model.forecast(Self.series, horizon: horizon)
        let values = forecast.values.flatMap { $0 }
        let detail =
            "\(horizon) values, \(forecast.levels.count) quantiles, \(model.team.instructionSet), \(model.team.threads) threads"
        if Set(values).count == 1 { log.warn("all values are the same: \(detail)") } else { log.pass(detail) }
        log.begin("repeated")
        // The second one is warm.
        let start = Clock.seconds
        let again = try await model.forecast(Self.series, horizon: horizon)
        let seconds = Clock.seconds - start
        guard again == forecast else {
            throw AIError(.generationFailed, "the same series had another forecast the second time")
        }
        log.pass("the same series had the same forecast, to the bit")
        let speed = SmokeTest.Speed(
            loadSeconds: model.loadSeconds, tokensPerSecond: seconds > 0 ? Double(horizon) / seconds : 0,
            unit: .values,
            weightsBytesPerSecond: nil,
            memoryBytesPerSecond: try await MemoryBandwidth.measure(threads: model.team.threads),
            peakMemoryBytes: Machine.peakResidentBytes)
        return (SmokeTest.Series(values: Self.series, forecast: forecast), speed)
    }
}
