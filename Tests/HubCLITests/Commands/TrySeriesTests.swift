import HubCore
import Support
import Testing

@testable import HubCLI
@testable import InferenceKit

/// `hub try --series`, against what chronos-forecasting says as `scripts/goldens_series.py` wrote it down.
@Suite struct TrySeriesTests {
    let stage: Stage
    private let place: TemporaryFolder
    private let model: String

    init() throws {
        stage = try Stage()
        place = try TemporaryFolder("series")
        model = try Fixtures.path("micro/chronos-2")
    }

    private func file(_ text: String, _ name: String = "series.csv") throws -> String {
        try place.write(name, Array(text.utf8))
        return "\(place.path)/\(name)"
    }

    @Test func theForecastIsThatOfTheReference() async throws {
        let golden = try Fixtures.json("goldens/micro-chronos-2.json")
        let entry = try #require(golden["cases"]?.array?.dropFirst().first)
        let values = try #require(entry["series"]?.array)
        let lines = values.enumerated().map { "2024-\($0),\($1.double.map { "\($0)" } ?? "")" }
        let csv = try file("month,\"sales, net\"\r\n" + lines.joined(separator: "\r\n") + "\r\n\r\n")
        let horizon = try #require(entry["horizon"]?.int)
        let arguments = ["try", model, "--series", csv, "--horizon", "\(horizon)", "--exact"]
        let document = try await stage.run(arguments + ["--json"]).document()
        #expect(document["verdict"]?.string == "pass" && document["mode"]?.string == "exact")
        let forecast = try #require(document["forecast"])
        let levels = try #require(golden["levels"]?.array).compactMap(\.double)
        for (name, level) in [("low", 0.1), ("median", 0.5), ("high", 0.9)] {
            let row = try #require(levels.firstIndex(of: level))
            let expected = try #require(entry["values"]?.array?[row].array).compactMap(\.double)
            let found = try #require(forecast[name]?.array).compactMap(\.double)
            #expect(found.count == expected.count)
            for (found, expected) in zip(found, expected) {
                #expect(abs(found - expected) < 1e-3 * max(1, abs(expected)))
            }
        }
        let quiet = try await stage.run(arguments + ["--quiet"]).output.split(separator: "\n").map(String.init)
        #expect(quiet == forecast["median"]?.array?.compactMap(\.double).map { "\($0)" })
        let table = try await stage.run(arguments).output
        #expect(table.contains("MEDIAN") && table.contains("+12") && table.contains("and 8 more"))
        #expect(!table.contains("next 20"), "a pipe gets no drawing")
    }

    @Test func columnsAreChosen() async throws {
        let csv = try file("day;a;b\n1. May;1,5;10\n2. May;NA;20\n3. May;3,25;x\n")
        func values(_ column: String?) throws -> [Double] {
            try SeriesFile("day;a;b\n1. May;1,5;10\n2. May;NA;20\n3. May;3,25;x\n", name: "f").values(
                column: column)
        }
        for column in [nil, "a", "2"] {
            let found = try values(column)
            #expect(found.count == 3 && found[0] == 1.5 && found[1].isNaN && found[2] == 3.25)
        }
        #expect(throws: AIError.self) { try values("day") }
        let cases: [([String], String)] = [
            (["--column", "b"], "line 4 of \(csv): x is not a number"), (["--column", "c"], "has no column c"),
            (["--column", "4"], "it has day, a, b"),
        ]
        for (arguments, message) in cases {
            let run = try await stage.run(["try", model, "--series", csv] + arguments)
            #expect(run.status == 2 && run.error.contains(message), "\(run.error)")
        }
        for (text, message) in [
            ("a,b\n1,2\n", "choose one with --column: a, b"), ("a,b\n1\n", "line 2 of"), ("", "has no lines"),
            ("a,b\nx,y\n", "has no column of numbers"), ("1\n2\nthree\n", "three is not a number"),
            ("value\n", "the series has no values"), ("value\nnan\n", "the series has no values"),
        ] {
            let run = try await stage.run(["try", model, "--series", try file(text, "other.csv")])
            #expect(run.status == 2 && run.error.contains(message), "\(text): \(run.error)")
        }
        // The only cell of a line may be empty.
        let gap = try SeriesFile("\nv\r\n1\r\n2\r\n\r\n3\r\n\r\n", name: "f").values(column: nil)
        #expect(gap.map { $0.isNaN ? "" : "\($0)" } == ["1.0", "2.0", "", "3.0"])
        #expect(try SeriesFile("1;2\n\n3;4\n", name: "f").values(column: "2") == [2, 4])
        #expect(try SeriesFile("x\ty\nred\t\"-1e3\"\n", name: "f").values(column: nil) == [-1000])
    }

    @Test func whatDoesNotFitIsNamed() async throws {
        let csv = try file("1\n2\n3\n")
        let cases: [([String], String)] = [
            ([model, "--horizon", "3"], "needs --series"),
            ([model, "x", "--series", csv], "a PROMPT has no place"),
            ([model, "--series", csv, "--horizon", "25"], "the model forecasts 1 to 24 values, not 25"),
            ([model, "--series", csv, "--task", "fill-mask"], "--series has no meaning with --task fill-mask"),
            ([model, "--series", csv, "--max-tokens", "3"], "--max-tokens is for models that generate text"),
        ]
        for (arguments, message) in cases {
            let run = try await stage.run(["try"] + arguments)
            #expect(run.status == 2 && run.error.contains(message), "\(arguments): \(run.error)")
        }
    }

    /// A model for something else than the command is one fault, whatever the command.
    @Test func aModelForAnotherTaskIsExit7() async throws {
        let csv = try file("1\n2\n3\n")
        let text = try file("some words\n", "words.txt")
        let decoder = try Fixtures.path("tiny-shakespeare")
        let cases: [([String], String)] = [
            (["forecast", decoder, csv], "does not forecast series"),
            (["try", decoder, "--series", csv], "does not forecast series"),
            (["try", model, "hello"], "forecasts series of numbers; it reads no text"),
            (["try", model, "--embed", "x"], "it reads no text"), (["eval", model, text], "it reads no text"),
            (["rank", model, "Q", "A"], "it reads no text"), (["classify", model, "Hi"], "it reads no text"),
            (["embed", model, "Hi", "--provider", "local"], "reads no text"),
            (["chat", model, "Hi", "--provider", "local"], "reads no text"),
        ]
        for (words, message) in cases {
            let run = try await stage.run(words)
            #expect(run.status == 7 && run.error.contains(message), "\(words): \(run.error)")
            #expect(try await stage.run(words + ["--json"]).errorCode() == "unsupported_model", "\(words)")
        }
    }

    @Test(arguments: ["chronos", "chronos-bolt", "chronos-2"])
    func eachKindPassesItsSmokeTest(_ name: String) async throws {
        let folder = try Fixtures.path("micro/\(name)")
        let document = try await stage.run(["try", folder, "--json"]).document()
        #expect(document["verdict"]?.string == "pass")
        let names = document["checks"]?.array?.compactMap { $0["name"]?.string }
        #expect(names == ["headers", "supported", "memory and tensors", "forecast", "repeated"])
        #expect(document["forecast"]?["median"]?.array?.isEmpty == false)
        let checked = try await stage.run(["try", folder, "--check"])
        #expect(checked.status == 0 && !checked.output.contains("warn"), "\(checked.output)")
    }

    /// A line that rises from the left bottom to the right top, and an area around what follows.
    @Test func theDrawingShowsTheSeries() throws {
        let forecast = Forecast(levels: [0.1, 0.5, 0.9], values: [[20, 20], [25, 26], [30, 32]])
        let series = SmokeTest.Series(values: (0..<24).map(Double.init), forecast: forecast)
        let lines = try #require(SeriesChart(series, width: 60, isUnicode: false)).lines.map(\.plain)
        #expect(lines.count == 13 && lines.allSatisfy { $0.count <= 60 })
        #expect(lines[0].hasPrefix(" 32.0 ") && lines[11].hasPrefix("  0.0 *"))
        #expect(lines.last?.contains("last 24") == true && lines.last?.hasSuffix("next 2") == true)
        #expect(lines.joined().contains("+") && lines.joined().contains(":"))
        let braille = try #require(SeriesChart(series, width: 60, isUnicode: true)).lines.map(\.plain).joined()
        #expect(braille.unicodeScalars.contains { (0x2801...0x28FF).contains($0.value) } && braille.contains("░"))
        #expect(SeriesChart(series, width: 20, isUnicode: true) == nil)
        let flat = SmokeTest.Series(values: [5], forecast: Forecast(levels: [0.5], values: [[5]]))
        #expect(try #require(SeriesChart(flat, width: 60, isUnicode: true)).lines.count == 13)
    }
}
