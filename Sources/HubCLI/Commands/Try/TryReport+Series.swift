import HubCore
import InferenceKit

/// What may follow a series: as a drawing and a table, in a pipe, in JSON.
extension TryReport {
    /// Values that are shown at most.
    private static let mostValues = 12

    /// What was asked for, or the smoke test's.
    private var shown: SmokeTest.Series? { series ?? smoke?.series }

    func showSeries(_ context: Context) {
        guard let shown else { return }
        let output = context.output
        if let width = output.settings.width,
            let chart = SeriesChart(shown, width: width, isUnicode: context.isUnicode)
        {
            for line in chart.lines { output.row(line) }
            output.line()
        }
        guard series != nil else { return }
        let forecast = shown.forecast
        let parts = [forecast.quantile(0.1), forecast.median, forecast.quantile(0.9)]
        let count = min(Self.mostValues, forecast.horizon)
        let texts = SeriesChart.texts(parts.flatMap { $0.prefix(count) })
        var table = Table([
            .init("STEP", .right), .init("LOW", .right), .init("MEDIAN", .right), .init("HIGH", .right),
        ])
        for step in 0..<count {
            table.add([
                Styled("+\(step + 1)", .faint), Styled(texts[step], .faint), Styled(texts[count + step], .strong),
                Styled(texts[2 * count + step], .faint),
            ])
        }
        output.table(table)
        let rest = forecast.horizon - count
        if rest > 0 { output.line(Styled("and \(rest) more, all of them with --json", .faint)) }
        output.line(Styled("Of ten futures, one is below LOW and one above HIGH.", .faint))
    }

    /// The middle values.
    var quietSeries: [String] { series?.forecast.median.map { "\($0)" } ?? [] }

    var seriesJSON: JSON? {
        guard let shown else { return nil }
        func list(_ share: Double) -> JSON { .array(shown.forecast.quantile(share).map { .double($0) }) }
        return .object(["low": list(0.1), "median": list(0.5), "high": list(0.9)])
    }
}
