public import HubCore
import HubTokenizers

/// Tests whether a model works on this machine: opens it, encodes and decodes a text, does what the model is for, and
/// compares results that must be equal.
public struct SmokeTest: Sendable {
    /// All checks in order; ones that could not run are ``CheckResult/Status/skip``.
    public let checks: [CheckResult]
    /// The folder's metadata; nil if its headers are broken.
    public let inspection: ModelInspection?
    /// What a decoder generated; nil if it did not get that far.
    public let generation: GenerationResult?
    /// What an encoder said of a text; nil if it did not get that far.
    public let sample: Sample?
    /// A series, and how a forecaster says that it goes on; nil if it did not get that far.
    public let series: Series?
    /// How fast it was; nil if it did not get that far.
    public let speed: Speed?
    /// The first failure as an error; nil if all passed.
    public let failure: AIError?

    /// A text, and what an encoder said of it.
    public struct Sample: Sendable, Hashable {
        /// The text, or the query of a ranking.
        public let text: String
        /// Of an embedding model, a ranking by cosine.
        public let answer: EncoderAnswer
    }

    /// A series and its forecast.
    public struct Series: Sendable, Hashable {
        /// What was known.
        public let values: [Double]
        /// What follows.
        public let forecast: Forecast

        /// A series and its forecast.
        public init(values: [Double], forecast: Forecast) { (self.values, self.forecast) = (values, forecast) }
    }

    /// What the test measured.
    public struct Speed: Sendable, Hashable {
        /// What a model reads or writes one after the other.
        public enum Unit: String, Sendable, Hashable { case tokens, values, pictures }

        /// Seconds that opening took.
        public let loadSeconds: Double
        /// New tokens per second of a decoder that is warm, read tokens per second of an encoder, values per second of a
        /// forecaster, or pictures per second of a model that sees.
        public let tokensPerSecond: Double
        /// What ``tokensPerSecond`` counts.
        public var unit = Unit.tokens
        /// Bytes of weights that a decoder read per second; nil for another model.
        public let weightsBytesPerSecond: Double?
        /// Bytes per second that the same threads read from memory.
        public let memoryBytesPerSecond: Double
        /// The peak resident memory of this process in bytes.
        public let peakMemoryBytes: Int64
    }

    /// The worst of all checks; ``CheckResult/Status/skip`` is ignored.
    public var verdict: CheckResult.Status { Self.worst(checks) }

    /// The worst of some checks.
    public static func worst(_ checks: [CheckResult]) -> CheckResult.Status {
        let found = Set(checks.map(\.status))
        return found.contains(.fail) ? .fail : found.contains(.warn) ? .warn : .pass
    }

    private static let openingNames = ["headers", "supported", "memory and tensors"]

    /// Tests a folder.
    ///
    /// - Parameter task: what the model is to do; nil for what it is for.
    /// - Throws: ``ErrorCode/cancelled``, ``ErrorCode/fileNotFound`` and ``ErrorCode/invalidInput`` (options or a task
    ///   that the model cannot have) only; any other error is a failed check.
    public static func run(folder: String, options: ModelOptions = ModelOptions(), task: ModelTask? = nil)
        async throws(AIError) -> SmokeTest
    {
        var log = CheckLog()
        var found = Found()
        do throws(AIError) { try await test(folder, options, task, &log, &found) } catch {
            if [.cancelled, .fileNotFound, .invalidInput].contains(error.code) { throw error }
            log.fail(error, in: folder)
        }
        for name in found.names where !log.checks.contains(where: { $0.name == name }) { log.skip(name) }
        return SmokeTest(
            checks: log.checks, inspection: found.inspection, generation: found.generation, sample: found.sample,
            series: found.series, speed: found.speed, failure: log.failure)
    }

    /// What a test found so far.
    private struct Found {
        var inspection: ModelInspection?
        /// The checks that belong to it.
        var names = openingNames + ["tokenizer"] + DecoderTest.names
        var generation: GenerationResult?
        var sample: Sample?
        var series: Series?
        var speed: Speed?
    }

    private static func test(
        _ folder: String, _ options: ModelOptions, _ task: ModelTask?, _ log: inout CheckLog, _ found: inout Found
    ) async throws(AIError) {
        log.begin("headers")
        let read = try await ModelFolder.read(folder)
        found.inspection = read.inspection
        if read.forecasts {
            found.names = openingNames + ForecastTest.names
            try checkTask(task, of: [.forecasting], folder)
            let model = try await open(read, &log) { () throws(AIError) in try await read.openForecaster(options) }
            log.pass(openingDetail(model))
            (found.series, found.speed) = try await ForecastTest(model).run(&log)
            return
        }
        if read.sees {
            found.names = openingNames + PictureTest.names + (read.readsTexts ? PictureTest.namesOfTexts : [])
            let model = try await open(read, &log) { () throws(AIError) in
                try await read.openPictureModel(options)
            }
            log.pass(openingDetail(model))
            try checkTask(task, of: model.tasks, folder)
            found.speed = try await PictureTest(model).run(&log)
            if let texts = model.texts {
                try await PictureTest(model).run(texts: try SampleTexts.of(texts.tokenizer).texts, &log)
            }
            return
        }
        let model = try await open(read, &log) { () throws(AIError) in try await read.open(options) }
        if let beside = model.beside {
            log.warn("\(beside); \(openingDetail(model))")
        } else {
            log.pass(openingDetail(model))
        }
        let task = task ?? model.task
        try checkTask(task, of: model.tasks, folder)
        log.begin("tokenizer")
        let samples = try SampleTexts.of(model.tokenizer)
        try checkTokenizer(model, samples.roundTrip, &log)
        if task == .textGeneration {
            (found.generation, found.speed) = try await DecoderTest(model).run(&log)
        } else {
            found.names = openingNames + ["tokenizer"] + EncoderTest.names(task)
            (found.sample, found.speed) = try await EncoderTest(model, task, samples).run(&log)
        }
    }

    /// - Throws: ``ErrorCode/invalidInput`` for a task that a model does not have.
    private static func checkTask(_ task: ModelTask?, of tasks: [ModelTask], _ folder: String) throws(AIError) {
        guard let task, !tasks.contains(task) else { return }
        throw AIError(.invalidInput, "\(folder) is for \(tasks[0].rawValue), not for \(task.rawValue)")
    }

    /// Opens a model, with the checks that this is; the last has begun.
    private static func open<M>(
        _ folder: ModelFolder, _ log: inout CheckLog, _ opening: () async throws(AIError) -> M
    ) async throws(AIError) -> M {
        let inspection = folder.inspection
        log.pass("\(inspection.parameters.grouped) parameters in \(ByteCount(inspection.weightsBytes))")
        log.begin("supported")
        // Opening throws before it reads a weight.
        guard inspection.isSupported else { return try await opening() }
        log.pass(inspection.architecture ?? inspection.modelType ?? "")
        log.begin("memory and tensors")
        return try await opening()
    }

    private static func openingDetail(_ model: LanguageModel) -> String {
        let needed = ByteCount(
            model.inspection.memoryBytes(context: model.context, cacheFormat: model.cacheFormat))
        return "\(needed) with a \(model.context.grouped)-token context; every tensor has its shape"
    }

    private static func openingDetail(_ model: Forecaster) -> String {
        "reads \(model.contextLength.grouped) values and forecasts \(model.horizon); every tensor has its shape"
    }

    /// The checks that opening a model was.
    public static func openingChecks(_ model: LanguageModel) -> [CheckResult] {
        var checks = openingChecks(model.inspection, openingDetail(model))
        if let beside = model.beside, let last = checks.popLast() {
            checks.append(CheckResult(name: last.name, status: .warn, detail: "\(beside); \(last.detail)"))
        }
        return checks
    }

    private static func openingDetail(_ model: PictureModel) -> String {
        "\(model.engine.detail); every tensor has its shape"
    }

    /// The checks that opening a model was.
    public static func openingChecks(_ model: PictureModel) -> [CheckResult] {
        openingChecks(model.inspection, openingDetail(model))
    }

    /// The checks that opening a model was.
    public static func openingChecks(_ model: Forecaster) -> [CheckResult] {
        openingChecks(model.inspection, openingDetail(model))
    }

    private static func openingChecks(_ read: ModelInspection, _ detail: String) -> [CheckResult] {
        let details = [
            "\(read.parameters.grouped) parameters in \(ByteCount(read.weightsBytes))",
            read.architecture ?? read.modelType ?? "",
            detail,
        ]
        return zip(openingNames, details).map { CheckResult(name: $0, status: .pass, detail: $1) }
    }

    private static func checkTokenizer(
        _ model: LanguageModel, _ sample: String, _ log: inout CheckLog
    ) throws(AIError) {
        let ids = try model.tokenizer.encode(sample, addSpecialTokens: false)
        let back = model.tokenizer.decode(ids)
        if Array(back.utf8).suffix(sample.utf8.count).elementsEqual(sample.utf8) {
            // A tokenizer may add a space before the first word.
            return log.pass("round trip OK (\(ids.count) tokens)")
        }
        // A tokenizer that lower-cases, as BERT's may, gives another text back, and then the same one again.
        guard Set(ids).count > ids.count / 2, try model.tokenizer.encode(back, addSpecialTokens: false) == ids
        else {
            throw AIError(.malformedModel, "the tokenizer turns \"\(sample)\" into \"\(back)\"")
        }
        // A model that generates would rarely have such a one.
        if model.generates {
            log.warn("the tokenizer gives back other letters or spaces (\(ids.count) tokens)")
        } else {
            log.pass("round trip OK, with other letters or spaces (\(ids.count) tokens)")
        }
    }
}
