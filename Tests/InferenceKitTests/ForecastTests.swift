import HubCore
import Support
import Testing

@testable import InferenceKit

/// Chronos, against transformers.
@Suite struct ForecastTests {
    private let exact = ModelOptions(isExact: true)

    private func open() async throws -> (model: Forecaster, golden: JSON, series: [Double]) {
        let golden = try Fixtures.json("goldens/micro-chronos.json")
        let model = try await Forecaster.open(folder: Fixtures.path("micro/chronos"), options: exact)
        return (model, golden, try #require(golden["series"]?.array).compactMap(\.double))
    }

    @Test func theLikeliestPathIsTheSame() async throws {
        let (model, golden, series) = try await open()
        #expect(model.horizon == 16 && model.contextLength == 24)
        let expected = try #require(golden["values"]?.array).compactMap(\.double)
        let forecast = try await model.forecast(series, horizon: nil, samples: 1, .precise)
        #expect(forecast.paths.count == 1 && forecast.horizon == expected.count)
        for (value, expected) in zip(forecast.median, expected) { #expect(abs(value - expected) < 1e-3) }
    }

    @Test func aSeriesIsWrittenInTheSameTokens() async throws {
        let (_, golden, series) = try await open()
        let bins = try SeriesBins(
            low: -2, high: 2, tokens: 64, specials: 2, end: 1, contextLength: 24, path: "config.json")
        #expect(try bins.tokens(of: series).ids == golden["ids"]?.ids)
        #expect(try bins.tokens(of: [0, 0]).scale == 1)
        #expect(try bins.tokens(of: [-1e9, 1, 1, 1]).ids.first == 3)
        #expect(throws: AIError.self) { try bins.tokens(of: []) }
        #expect(throws: AIError.self) { try bins.tokens(of: [1, .nan]) }
        #expect(throws: AIError.self) {
            try SeriesBins(
                low: 2, high: -2, tokens: 64, specials: 2, end: 1, contextLength: 24, path: "config.json")
        }
    }

    @Test func aSeedTellsThePaths() async throws {
        let (model, _, series) = try await open()
        let all = try await model.forecast(series, horizon: 8, samples: 12, seed: 7)
        let some = try await model.forecast(series, horizon: 8, samples: 5, seed: 7)
        let others = try await model.forecast(series, horizon: 8, samples: 5, seed: 70)
        #expect(all.paths.count == 12 && Array(all.paths.prefix(5)) == some.paths)
        #expect(some.paths != others.paths && Set(all.paths).count > 1)
        #expect(zip(all.quantile(0.1), all.quantile(0.9)).allSatisfy { $0 <= $1 })
    }

    @Test func quantilesLieBetweenPaths() {
        let forecast = Forecast(paths: [[4], [1], [3], [2], [10]])
        #expect(forecast.median == [3] && forecast.quantile(0) == [1] && forecast.quantile(1) == [10])
        #expect(forecast.quantile(0.125) == [1.5])
    }

    @Test func whatCannotBeForecastIsRefused() async throws {
        let (model, _, series) = try await open()
        await #expect(throws: AIError.self) { try await model.forecast(series, horizon: 17) }
        await #expect(throws: AIError.self) { try await model.forecast(series, samples: 0) }
        await #expect(throws: AIError.self) { try await model.forecast([.infinity]) }
        let folder = try Fixtures.path("micro/t5")
        await #expect(throws: AIError.self) { try await Forecaster.open(folder: folder, options: exact) }
    }
}
