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

/// Tests whether a model runs: opens it, encodes and decodes a text, and generates a few tokens.
public struct SmokeTest: Sendable {
    /// All checks in order; ones that could not run are ``CheckResult/Status/skip``.
    public let checks: [CheckResult]
    /// The folder's metadata; nil if its headers are broken.
    public let inspection: ModelInspection?
    /// The generated tokens; nil if it did not get that far.
    public let generation: GenerationResult?
    /// The first failure as an error; nil if all passed.
    public let failure: AIError?

    /// The worst of all checks; ``CheckResult/Status/skip`` is ignored.
    public var verdict: CheckResult.Status {
        let found = Set(checks.map(\.status))
        return found.contains(.fail) ? .fail : found.contains(.warn) ? .warn : .pass
    }

    /// The checks, in order.
    private static let names = [
        "headers", "supported", "memory and tensors", "tokenizer", "forward pass", "generation",
    ]
    private static let sample = "The quick brown fox jumps over the lazy dog. 123 + 456 = 579; naïve café, 你好 😀\n"
    private static let tokens = 16

    /// Tests a folder.
    ///
    /// - Throws: ``ErrorCode/cancelled`` and ``ErrorCode/fileNotFound`` only; any other error is a failed check.
    public static func run(folder: String, options: ModelOptions = ModelOptions()) async throws(AIError)
        -> SmokeTest
    {
        var log = CheckLog()
        var inspection: ModelInspection?
        var generation: GenerationResult?
        do throws(AIError) {
            let read = try await ModelInspection.inspect(folder: folder)
            inspection = read
            log.pass("headers", "\(read.parameters) parameters in \(ByteCount(read.weightsBytes))")
            let model = try await openSupported(read, folder, options, &log)
            try checkTokenizer(model, &log)
            try await checkForwardPass(model, &log)
            generation = try await checkGeneration(model, &log)
        } catch {
            if error.code == .cancelled || error.code == .fileNotFound { throw error }
            log.fail(names[log.checks.count], error, in: folder)
        }
        for name in names.dropFirst(log.checks.count) { log.skip(name) }
        return SmokeTest(checks: log.checks, inspection: inspection, generation: generation, failure: log.failure)
    }

    private static func openSupported(
        _ inspection: ModelInspection, _ folder: String, _ options: ModelOptions, _ log: inout CheckLog
    ) async throws(AIError) -> LanguageModel {
        guard inspection.isSupported else {
            // Opening a broken model throws before it reads a weight.
            _ = try await LanguageModel.open(folder: folder, options: options)
            throw AIError(
                .unsupportedModel, "\(folder): \(inspection.obstacles.joined(separator: ", ")) cannot be run yet",
                context: .init(path: folder))
        }
        log.pass("supported", inspection.architecture ?? inspection.modelType ?? "")
        let model = try await LanguageModel.open(folder: folder, options: options)
        let needed = ByteCount(inspection.memoryBytes(context: model.context))
        log.pass(
            "memory and tensors", "\(needed) with a \(model.context)-token context; every tensor has its shape")
        return model
    }

    private static func checkTokenizer(_ model: LanguageModel, _ log: inout CheckLog) throws(AIError) {
        let ids = try model.tokenizer.encode(sample, addSpecialTokens: false)
        let back = model.tokenizer.decode(ids)
        // A tokenizer may add a space before the first word.
        guard Array(back.utf8).suffix(sample.utf8.count).elementsEqual(sample.utf8) else {
            throw AIError(.malformedModel, "the tokenizer turns \"\(sample)\" into \"\(back)\"")
        }
        log.pass("tokenizer", "round trip OK (\(ids.count) tokens)")
    }

    private static func checkForwardPass(_ model: LanguageModel, _ log: inout CheckLog) async throws(AIError) {
        let logits = try await model.logits(prompt: sample)
        guard logits.allSatisfy(\.isFinite), let low = logits.min(), let high = logits.max() else {
            throw AIError(.generationFailed, "the output has NaN or infinite values; the weights may be damaged")
        }
        guard low < high else { throw AIError(.generationFailed, "the output is the same for every token") }
        log.pass(
            "forward pass",
            "\(logits.count) logits from \(low) to \(high), \(model.instructionSet), \(model.threads) threads")
    }

    private static func checkGeneration(_ model: LanguageModel, _ log: inout CheckLog) async throws(AIError)
        -> GenerationResult
    {
        let config = GenerateConfig.precise.maxTokens(tokens).seed(0)
        let result = try await model.generate(prompt: sample, config: config).collectWithMetadata()
        if result.finishReason == .cancelled { throw AIError(.cancelled, "interrupted") }
        // A model that repeats one token runs, but hardly as intended.
        if result.ids.count == tokens, Set(result.ids).count == 1 {
            log.warn("generation", "the same token \(tokens) times")
        } else {
            log.pass("generation", "\(result.ids.count) tokens")
        }
        return result
    }
}

/// The checks of one run so far.
private struct CheckLog {
    var checks: [CheckResult] = []
    var failure: AIError?

    mutating func pass(_ name: String, _ detail: String) {
        checks.append(.init(name: name, status: .pass, detail: detail))
    }
    mutating func warn(_ name: String, _ detail: String) {
        checks.append(.init(name: name, status: .warn, detail: detail))
    }
    mutating func skip(_ name: String) {
        checks.append(.init(name: name, status: .skip, detail: "skipped: an earlier check failed"))
    }

    /// - Parameter folder: the folder that file paths are shown relative to.
    mutating func fail(_ name: String, _ error: AIError, in folder: String) {
        var shown = error
        for start in [folder + "/", folder + ": "] where shown.message.hasPrefix(start) {
            shown.message = String(shown.message.dropFirst(start.count))
        }
        checks.append(.init(name: name, status: .fail, detail: shown.message))
        failure = shown
    }
}
