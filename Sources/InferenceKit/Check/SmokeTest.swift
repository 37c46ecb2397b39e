public import HubCore
import HubTokenizers

/// The result of one check.
public struct CheckResult: Sendable, Hashable {
    /// How it came out.
    public enum Status: String, Sendable, Hashable {
        /// No problem.
        case pass
        /// Usable, with a problem.
        case warn
        /// Broken.
        case fail
        /// Not done, because an earlier check failed.
        case skip
    }
    /// What was checked: `headers`, `tokenizer`, …
    public let name: String
    /// How it came out.
    public let status: Status
    /// One sentence.
    public let detail: String
}

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

    /// What the test measured.
    public struct Speed: Sendable, Hashable {
        /// Seconds that opening took.
        public let loadSeconds: Double
        /// New tokens per second of a decoder, or read tokens per second of an encoder.
        public let tokensPerSecond: Double
        /// Bytes of weights that a decoder read per second; nil for an encoder.
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

    private static let firstNames = ["headers", "supported", "memory and tensors", "tokenizer"]

    /// Tests a folder.
    ///
    /// - Parameter task: what the model is to do; nil for what it is for.
    /// - Throws: ``ErrorCode/cancelled``, ``ErrorCode/fileNotFound`` and ``ErrorCode/invalidInput`` (options or a task
    ///   that the model cannot have) only; any other error is a failed check.
    public static func run(folder: String, options: ModelOptions = ModelOptions(), task: ModelTask? = nil)
        async throws(AIError) -> SmokeTest
    {
        var log = CheckLog()
        var inspection: ModelInspection?
        var outcome: (generation: GenerationResult?, sample: Sample?, speed: Speed)?
        var names = firstNames + DecoderTest.names
        do throws(AIError) {
            log.begin("headers")
            let read = try await ModelFolder.read(folder)
            inspection = read.inspection
            let model = try await open(read, options, &log)
            let task = task ?? model.task
            guard model.tasks.contains(task) else {
                throw AIError(.invalidInput, "\(folder) is for \(model.task.rawValue), not for \(task.rawValue)")
            }
            log.begin("tokenizer")
            let samples = try SampleTexts.of(model.tokenizer)
            try checkTokenizer(model, samples.roundTrip, &log)
            if task == .textGeneration {
                let decoded = try await DecoderTest(model).run(&log)
                outcome = (decoded.generation, nil, decoded.speed)
            } else {
                names = firstNames + EncoderTest.names(task)
                let read = try await EncoderTest(model, task, samples).run(&log)
                outcome = (nil, read.sample, read.speed)
            }
        } catch {
            if [.cancelled, .fileNotFound, .invalidInput].contains(error.code) { throw error }
            log.fail(error, in: folder)
        }
        for name in names where !log.checks.contains(where: { $0.name == name }) { log.skip(name) }
        return SmokeTest(
            checks: log.checks, inspection: inspection, generation: outcome?.generation, sample: outcome?.sample,
            speed: outcome?.speed, failure: log.failure)
    }

    /// Opens a model, with the checks that this is.
    private static func open(_ folder: ModelFolder, _ options: ModelOptions, _ log: inout CheckLog)
        async throws(AIError) -> LanguageModel
    {
        let inspection = folder.inspection
        let named = inspection.architecture ?? inspection.modelType ?? ""
        log.pass("\(inspection.parameters) parameters in \(ByteCount(inspection.weightsBytes))")
        log.begin("supported")
        guard inspection.isSupported else {
            // Opening a broken model throws before it reads a weight.
            _ = try await folder.open(options)
            throw AIError(
                .unsupportedModel,
                "\(inspection.folder): \(inspection.obstacles.joined(separator: ", ")) cannot be run yet",
                context: .init(path: inspection.folder))
        }
        log.pass(named)
        log.begin("memory and tensors")
        let model = try await folder.open(options)
        log.pass(openingDetail(model))
        return model
    }

    private static func openingDetail(_ model: LanguageModel) -> String {
        let needed = ByteCount(
            model.inspection.memoryBytes(context: model.context, cacheFormat: model.cacheFormat))
        return "\(needed) with a \(model.context)-token context; every tensor has its shape"
    }

    /// The checks that opening a model was.
    public static func openingChecks(_ model: LanguageModel) -> [CheckResult] {
        let read = model.inspection
        return [
            CheckResult(
                name: firstNames[0], status: .pass,
                detail: "\(read.parameters) parameters in \(ByteCount(read.weightsBytes))"),
            CheckResult(name: firstNames[1], status: .pass, detail: read.architecture ?? read.modelType ?? ""),
            CheckResult(name: firstNames[2], status: .pass, detail: openingDetail(model)),
        ]
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
        let detail = "round trip OK, with other letters or spaces (\(ids.count) tokens)"
        // A model that generates would rarely have such a one.
        if model.generates { log.warn(detail) } else { log.pass(detail) }
    }
}
