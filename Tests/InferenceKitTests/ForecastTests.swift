import HubCore
import Support
import Testing

@testable import InferenceKit

/// Chronos, against transformers and chronos-forecasting.
@Suite struct ForecastTests {
    private let exact = ModelOptions(isExact: true)

    private func open() async throws -> (model: Forecaster, golden: JSON, series: [Double]) {
        let golden = try Fixtures.json("goldens/micro-chronos.json")
        let model = try await Forecaster.open(folder: Fixtures.path("micro/chronos"), options: exact)
        return (model, golden, try #require(golden["series"]?.array).compactMap(\.double))
    }

    private static func paths(_ model: Forecaster) throws -> ForecastSettings.Paths {
        guard case .paths(let paths) = model.settings.method else { throw AIError(.invalidInput, "no paths") }
        return paths
    }

    @Test func theLikeliestPathIsTheSame() async throws {
        let (model, golden, series) = try await open()
        #expect(model.horizon == 16 && model.contextLength == 24)
        let expected = try #require(golden["values"]?.array).compactMap(\.double)
        let forecast = try await model.draw(Self.paths(model), series, 16, 1, .precise)
        #expect(forecast.paths.count == 1 && forecast.horizon == expected.count)
        for (value, expected) in zip(forecast.median, expected) { #expect(abs(value - expected) < 1e-3) }
    }

    @Test func aSeriesIsWrittenInTheSameTokens() async throws {
        let (model, golden, series) = try await open()
        let bins = SeriesBins(try Self.paths(model), contextLength: 24)
        #expect(try bins.tokens(of: series).ids == golden["ids"]?.ids)
        #expect(try bins.tokens(of: [0, 0]).scale == 1)
        #expect(try bins.tokens(of: [-1e9, 1, 1, 1]).ids.first == 3)
        #expect(throws: AIError.self) { try bins.tokens(of: [1, .nan]) }
    }

    @Test(arguments: ["chronos-bolt", "chronos-2"], [nil, "scalar"])
    func quantilesAreTheSame(_ name: String, _ kernels: String?) async throws {
        let golden = try Fixtures.json("goldens/micro-\(name).json")
        var options = exact
        options.kernels = kernels
        let model = try await Forecaster.open(folder: Fixtures.path("micro/\(name)"), options: options)
        #expect(model.contextLength == 64)
        for entry in try #require(golden["cases"]?.array) {
            let series = try #require(entry["series"]?.array).map { $0.double ?? .nan }
            let length = try #require(entry["horizon"]?.int)
            let forecast = try await model.forecast(series, horizon: Int(length))
            #expect(forecast.levels == golden["levels"]?.array?.compactMap(\.double) && forecast.paths.isEmpty)
            let expected = try #require(entry["values"]?.array).map { $0.array?.compactMap(\.double) ?? [] }
            #expect(forecast.values.map(\.count) == expected.map(\.count))
            for (value, expected) in zip(forecast.values.joined(), expected.joined()) {
                #expect(abs(value - expected) < 1e-3 * max(1, abs(expected)))
            }
            // What is missing before the first value changes nothing.
            let later = try await model.forecast(Array(repeating: .nan, count: 5) + series.prefix(20), horizon: 3)
            #expect(try await model.forecast(Array(series.prefix(20)), horizon: 3) == later)
        }
    }

    @Test func gapsAreReadUpToARow() async throws {
        let model = try await Forecaster.open(folder: Fixtures.path("micro/chronos-2"), options: exact)
        let series = (0..<40).map { (9...15).contains($0) ? .nan : Double($0) }
        #expect(try await model.forecast(series, horizon: 4).horizon == 4)
        let error = await #expect(throws: AIError.self) {
            try await model.forecast((0..<40).map { (8...15).contains($0) ? .nan : Double($0) }, horizon: 4)
        }
        #expect(error?.message.contains("values 9 to 16 of the series are missing") == true)
        await #expect(throws: AIError.self) { try await model.forecast([.nan, .nan]) }
        await #expect(throws: AIError.self) { try await model.forecast([1, 2], samples: 3) }
        await #expect(throws: AIError.self) { try await model.forecast([1, 2], horizon: 25) }
    }

    @Test func otherSettingsAreRefused() async throws {
        let changes: [(name: String, value: JSON, message: String)] = [
            ("quantiles", .array([.double(0.5), .double(0.1)]), "quantiles"),
            ("input_patch_stride", .int(4), "patches of 8 values every 4"),
            ("output_patch_size", .int(4), "differ"), ("context_length", .int(0), "context_length"),
            ("input_patch_size", .string("x"), "input_patch_size"),
        ]
        for (name, value, message) in changes {
            let folder = try TemporaryFolder(linking: "micro/chronos-2", except: ["config.json"])
            var config = try #require(try Fixtures.json("micro/chronos-2/config.json").object)
            var settings = try #require(config["chronos_config"]?.object)
            settings[name] = value
            config["chronos_config"] = .object(settings)
            try folder.write("config.json", .object(config))
            let error = await #expect(throws: AIError.self) {
                try await Forecaster.open(folder: folder.path, options: exact)
            }
            #expect(error?.message.contains(message) == true, "\(message): \(error?.message ?? "")")
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
        let levels = Forecast(levels: [0.25, 0.5, 0.75], values: [[1], [2], [6]])
        #expect(levels.quantile(0.625) == [4] && levels.quantile(0) == [1] && levels.quantile(1) == [6])
        #expect(levels.median == [2] && levels.quantile(0.375) == [1.5])
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
