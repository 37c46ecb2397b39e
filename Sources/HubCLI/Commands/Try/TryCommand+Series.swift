import HubCore
import InferenceKit

/// What follows a series of numbers.
extension TryCommand {
    /// The values that are forecast if nobody says how many, or fewer.
    private static let usualHorizon = 64

    static func forecast(
        _ file: String, _ target: ModelPlace, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws {
        // A file that cannot be read is reported before a weight is.
        let text = try await text(file, context)
        let series = try SeriesFile(text, name: file).values(column: request.column)
        let folder = try await ModelFolder.read(target.path)
        report.read = folder.inspection
        context.output.document(report.json)
        guard folder.forecasts else {
            throw AIError(
                .unsupportedModel, "\(report.id) does not forecast series",
                advice: "hub search --task time-series-forecasting --runs finds models that do",
                context: .init(path: report.path))
        }
        if let flag = request.generating.first {
            throw AIError(.invalidInput, "--\(flag) is for models that generate text")
        }
        do throws(AIError) {
            let model = try await folder.openForecaster(request.options)
            report.opening = SmokeTest.openingChecks(model)
            context.output.document(report.json)
            let horizon = request.horizon ?? min(usualHorizon, model.horizon)
            let forecast = try await model.forecast(series, horizon: horizon, seed: request.config.seed ?? 0)
            report.series = .init(values: series, forecast: forecast)
        } catch {
            throw try ModelPlace.refusal(of: target, folder.inspection, because: error, context)
        }
        report.show(context)
    }

    /// What is asked of a model that reads no text.
    static func forecasts(_ request: Request, _ report: TryReport) -> AIError {
        AIError(
            .unsupportedModel, "\(report.id) \(ModelTask.forecasting.purpose); it reads no text",
            advice: ModelTask.forecasting.example(request.model, mask: nil))
    }
}
