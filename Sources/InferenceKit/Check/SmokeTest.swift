public import HubCore

/// One thing that was looked at.
public struct CheckResult: Sendable, Hashable {
    /// How it came out.
    public enum Status: String, Sendable, Hashable {
        /// As it should be.
        case pass
        /// Usable, but not as it should be.
        case warn
        /// Broken.
        case fail
        /// Not looked at, because something before it failed.
        case skip
    }
    /// What was looked at: `headers`, `tokenizer`, …
    public let name: String
    /// How it came out.
    public let status: Status
    /// One sentence.
    public let detail: String
}

/// Whether a model runs: opens it, takes a text apart and together, and makes a few tokens.
public struct SmokeTest: Sendable {
    /// Everything that was looked at, in order; what could not be is ``CheckResult/Status/skip``.
    public let checks: [CheckResult]
    /// What the folder says; nil where its headers are broken.
    public let inspection: ModelInspection?
    /// The tokens it made; nil where it did not come so far.
    public let generation: GenerationResult?
    /// The first failure as an error; nil where all passed.
    public let failure: AIError?

    /// The worst of all checks; ``CheckResult/Status/skip`` counts as nothing.
    public var verdict: CheckResult.Status {
        let found = Set(checks.map(\.status))
        return found.contains(.fail) ? .fail : found.contains(.warn) ? .warn : .pass
    }

    /// What is looked at, in order.
    private static let names = [
        "headers", "supported", "memory and tensors", "tokenizer", "forward pass", "generation",
    ]
    private static let sample = "The quick brown fox jumps over the lazy dog. 123 + 456 = 579; naïve café, 你好 😀\n"
    private static let tokens = 16

    /// Tests a folder.
    ///
    /// - Throws: ``ErrorCode/cancelled`` and ``ErrorCode/fileNotFound`` only; any other fault is a failed check.
    public static func run(folder: String, options: ModelOptions = ModelOptions()) async throws(AIError)
        -> SmokeTest
    {
        var log = CheckLog()
        var inspection: ModelInspection?
        var generation: GenerationResult?
        do throws(AIError) {
            let read = try await ModelInspection.inspect(folder: folder)
            inspection = read
            log.pass("headers", "\(read.parameters) weights in \(ByteCount(read.weightsBytes))")
            let model = try await openSupported(read, folder, options, &log)
            try checkTokenizer(model, &log)
            try await checkForwardPass(model, &log)
            generation = try await checkGeneration(model, &log)
        } catch {
            if error.code == .cancelled || error.code == .fileNotFound { throw error }
            log.fail(names[log.checks.count], error)
        }
        for name in names.dropFirst(log.checks.count) { log.skip(name) }
        return SmokeTest(checks: log.checks, inspection: inspection, generation: generation, failure: log.failure)
    }

    private static func openSupported(
        _ inspection: ModelInspection, _ folder: String, _ options: ModelOptions, _ log: inout CheckLog
    ) async throws(AIError) -> LanguageModel {
        guard inspection.isSupported else {
            // What is broken has an error of its own, which opening throws before it reads a weight.
            _ = try await LanguageModel.open(folder: folder, options: options)
            throw AIError(
                .unsupportedModel, "\(folder): \(inspection.obstacles.joined(separator: ", ")) cannot be run yet",
                context: .init(path: folder))
        }
        log.pass("supported", inspection.architecture ?? inspection.modelType ?? "")
        let model = try await LanguageModel.open(folder: folder, options: options)
        let needed = ByteCount(inspection.memoryBytes(context: model.context))
        log.pass("memory and tensors", "\(needed) with \(model.context) positions; every tensor present and shaped")
        return model
    }

    private static func checkTokenizer(_ model: LanguageModel, _ log: inout CheckLog) throws(AIError) {
        let ids = try model.tokenizer.encode(sample, addSpecialTokens: false)
        let back = model.tokenizer.decode(ids)
        // A tokenizer may add a space before the first word.
        guard Array(back.utf8).suffix(sample.utf8.count).elementsEqual(sample.utf8) else {
            throw AIError(.malformedModel, "the tokenizer turns \"\(sample)\" into \"\(back)\"")
        }
        log.pass("tokenizer", "\(ids.count) tokens, and the same text back")
    }

    private static func checkForwardPass(_ model: LanguageModel, _ log: inout CheckLog) async throws(AIError) {
        let logits = try await model.logits(prompt: sample)
        guard logits.allSatisfy(\.isFinite), let low = logits.min(), let high = logits.max() else {
            throw AIError(.generationFailed, "the model's output is not a number; its weights may be damaged")
        }
        guard low < high else { throw AIError(.generationFailed, "the model's output is the same for every token") }
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
        // A model that says one thing over and over runs, but hardly as it was meant to.
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
    mutating func skip(_ name: String) { checks.append(.init(name: name, status: .skip, detail: "not looked at")) }
    mutating func fail(_ name: String, _ error: AIError) {
        checks.append(.init(name: name, status: .fail, detail: error.message))
        failure = error
    }
}
