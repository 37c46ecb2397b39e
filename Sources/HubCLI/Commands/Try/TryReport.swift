import HubCore
import HubTokenizers
import InferenceKit

/// What `hub try` found, in the forms of the contract.
struct TryReport {
    /// One text and its tokens.
    struct Tokenized: Sendable {
        var text: String
        var ids: [Int]
        var idsWithSpecial: [Int]
        var decoded: String
        var decodedSkipSpecial: String
    }

    let id: String
    let path: String
    var inspection: ModelInspection?
    var smoke: SmokeTest?
    var check: ModelCheck?
    var generation: GenerationResult?
    var logits: [Float]?
    var tokenized: [Tokenized] = []
    /// What a chat template made of a conversation.
    var rendered: String?
    var context: Int?
    var isGreedy = false
    /// Physical memory in bytes.
    var memoryTotal: Int64 = 0

    init(id: String, path: String) {
        self.id = id
        self.path = path
    }

    /// Findings of one check that are shown; hundreds of a kind say no more.
    private static let examples = 5

    private var facts: ModelInspection? { inspection ?? smoke?.inspection ?? check?.inspection }
    private var checks: [CheckResult]? { smoke?.checks ?? check?.checks }
    private var verdict: CheckResult.Status? { smoke?.verdict ?? check?.verdict }

    static func tokenize(_ texts: [String], folder: String) throws(AIError) -> [Tokenized] {
        let tokenizer = try Tokenizer(folder: folder)
        return try texts.map { text throws(AIError) in
            let ids = try tokenizer.encode(text, addSpecialTokens: false)
            return Tokenized(
                text: text, ids: ids, idsWithSpecial: try tokenizer.encode(text), decoded: tokenizer.decode(ids),
                decodedSkipSpecial: tokenizer.decode(ids, skipSpecialTokens: true))
        }
    }

    /// The ids of each text; nothing after a generated text, which is all that was asked for, unless something is amiss
    /// with it; else the verdict.
    private var quiet: [String] {
        if !tokenized.isEmpty { return tokenized.map { $0.ids.map(String.init).joined(separator: " ") } }
        if let rendered { return [rendered] }
        if let check { return [check.verdict.rawValue] }
        guard let smoke, generation == nil || smoke.verdict != .pass else { return [] }
        return [smoke.verdict.rawValue]
    }

    func show(_ context: Context) {
        let output = context.output
        output.render(json: json, quiet: quiet) {
            for entry in tokenized {
                output.line(
                    Styled(Humanize.plural(entry.ids.count, "token") + (entry.ids.isEmpty ? "" : ": "), .faint)
                        + Styled(entry.ids.map(String.init).joined(separator: " ")))
            }
            for text in rendered?.split(separator: "\n", omittingEmptySubsequences: false) ?? [] {
                output.line(Styled(String(text)))
            }
            if inspection != nil, let inspectionView { show(inspectionView, output, isBrief: false) }
            if let check { return show(check, output) }
            // Of what cannot be run, what stands in the way is all there is to say.
            if let facts, !facts.isSupported, inspection == nil { return }
            if let smoke {
                if generation != nil { output.line() }
                // After a text only what is not as it should be is worth a line.
                let isQuiet = generation != nil
                if !isQuiet, let inspectionView { show(inspectionView, output, isBrief: true) }
                for check in smoke.checks where !isQuiet || check.status != .pass {
                    line(check.name, check.detail, output, mark: check.status)
                }
                show(verdict: smoke.verdict, smoke.checks, output)
            }
            if let result = generation ?? smoke?.generation { show(result, output) }
        }
    }

    private var inspectionView: InspectionView? {
        facts.map { InspectionView(facts: $0, context: context, memoryTotal: memoryTotal) }
    }

    /// - Parameter isBrief: only what matters beside a verdict.
    private func show(_ view: InspectionView, _ output: Output, isBrief: Bool) {
        output.line(Styled(id, .name) + Styled("  \(path)", .faint))
        for entry in view.lines {
            guard
                !isBrief
                    || ["model", "file", "shape", "quantized", "memory", "tokenizer", "obstacle"].contains(
                        entry.name)
            else { continue }
            line(entry.name, entry.text, output, isBad: entry.isBad)
        }
    }

    private func show(_ result: GenerationResult, _ output: Output) {
        var parts = [
            Humanize.plural(result.ids.count, "token")
        ]
        if let ending = ending(result) { parts.append(ending) }
        if let first = result.ttftSeconds { parts.append("first after \(Self.milliseconds(first))") }
        parts.append("prompt \(Self.rate(result.promptTokensPerSecond))")
        // A single token comes with the prompt, so there is no rate.
        if result.ids.count > 1 { parts.append("then \(Self.rate(result.tokensPerSecond))") }
        if let generation, !isGreedy { parts.append("seed \(generation.seed)") }
        line("speed", parts.joined(separator: ", "), output)
    }

    /// Why a text ends; nil for that of the smoke test, whose length is the test's own.
    private func ending(_ result: GenerationResult) -> String? {
        guard generation != nil else { return nil }
        switch result.finishReason {
        case .stop: return "ended by the model"
        case .length:
            let isFull = context.map { result.promptIDs.count + result.ids.count >= $0 } ?? false
            return isFull ? "stopped, the context is full" : "stopped at --max-tokens"
        case .stopSequence: return "stopped at --stop"
        case .cancelled: return "interrupted"
        }
    }

    private func show(_ check: ModelCheck, _ output: Output) {
        output.line(Styled(id, .name) + Styled("  \(path)", .faint))
        for result in check.checks {
            line(result.name, result.detail, output, mark: result.status)
            // The first stands in the check's own line, unless that says what passed.
            let findings = check.findings.filter { $0.check == result.name }.dropFirst(
                result.status == .pass ? 0 : 1)
            for finding in findings.prefix(Self.examples) {
                line("", finding.detail, output, mark: finding.status == .pass ? nil : finding.status)
            }
            if findings.count > Self.examples {
                line("", "and \(findings.count - Self.examples) more, all of them with --json", output)
            }
        }
        show(verdict: check.verdict, check.checks, output)
    }

    /// The verdict, and for which checks it is not a pass.
    private func show(verdict: CheckResult.Status, _ checks: [CheckResult], _ output: Output) {
        let reasons = checks.filter { $0.status == verdict }.map(\.name)
        line("verdict", verdict == .pass ? "" : reasons.joined(separator: ", "), output, mark: verdict)
    }

    /// - Throws: ``ErrorCode/malformedModel`` where the check failed; people have read the findings already.
    func failCheck(_ mode: Output.Mode) throws {
        guard let check, check.verdict == .fail else { return }
        let failed = check.findings.filter { $0.status == .fail }
        let more = failed.count > 1 ? ", and \(failed.count - 1) more" : ""
        let error = AIError(
            .malformedModel, "\(id) fails its check: \(failed.first?.detail ?? "")\(more)",
            context: .init(path: path))
        if mode == .human { throw ReportedError(error: error) }
        throw error
    }

    private static func json(_ finding: CheckFinding) -> JSON {
        .object([
            "check": .string(finding.check), "status": .string(finding.status.rawValue),
            "file": finding.file.map { .string($0) }, "tensor": finding.tensor.map { .string($0) },
            "expected": finding.expected.map { .string($0) }, "found": finding.found.map { .string($0) },
            "detail": .string(finding.detail),
        ])
    }

    private static func milliseconds(_ seconds: Double) -> String { "\(Int((seconds * 1000).rounded())) ms" }
    private static func rate(_ rate: Double) -> String { "\(Int(rate.rounded())) tokens/s" }

    /// - Parameter isBad: for rows that are not checks.
    private func line(
        _ name: String, _ text: String, _ output: Output, mark: CheckResult.Status? = nil, isBad: Bool = false
    ) {
        let style: Styled.Style =
            switch mark {
            case .fail?: .bad
            case .warn?: .caution
            case .pass?: .good
            default: .plain
            }
        let status = mark.map { $0.rawValue + (text.isEmpty ? "" : "  ") } ?? ""
        let start = Styled(
            "  \(name)\(String(repeating: " ", count: max(1, Self.column - 2 - name.count)))", .faint)
        let margin = max(Self.column, start.plain.count) + status.count
        // It wraps if the terminal is too narrow.
        let safe = SafeText.line(text)
        let lines = output.settings.width.map { TextWrap.cells(safe, width: max(20, $0 - margin)) } ?? [safe]
        for (number, line) in lines.enumerated() {
            let begin = number == 0 ? start + Styled(status, style) : Styled(String(repeating: " ", count: margin))
            output.line(begin + Styled(line, isBad ? .bad : .plain))
        }
    }

    /// Where texts begin.
    private static let column = 22

    var json: JSONObject {
        let generated = generation ?? smoke?.generation
        return [
            "id": .string(id), "path": .string(path), "verdict": verdict.map { .string($0.rawValue) },
            "architecture": (facts?.architecture ?? facts?.modelType).map { .string($0) },
            "parameters": facts.map { .int($0.parameters) },
            "dtype": facts?.dominantDataType.map { .string($0) },
            "weights_bytes": facts.map { .int($0.weightsBytes) },
            "memory_bytes": inspectionView?.memoryBytes.map { .int($0) },
            "mode": smoke.map { _ in "exact" },
            "checks": checks.map { checks in
                .array(
                    checks.map { check in
                        .object([
                            "name": .string(check.name), "status": .string(check.status.rawValue),
                            "detail": .string(check.detail),
                        ])
                    })
            },
            "findings": check.map { .array($0.findings.map(Self.json)) },
            "generation": generated.map(Self.json),
            "logits": logits.map { .array($0.map { .double(Double($0)) }) },
            "tokenized": tokenized.isEmpty
                ? nil
                : .array(
                    tokenized.map { entry in
                        .object([
                            "text": .string(entry.text), "ids": Self.ids(entry.ids),
                            "ids_with_special": Self.ids(entry.idsWithSpecial),
                            "decoded": .string(entry.decoded),
                            "decoded_skip_special": .string(entry.decodedSkipSpecial),
                        ])
                    }),
            "rendered": rendered.map { .string($0) },
            "inspection": inspection == nil ? nil : inspectionView?.json,
        ]
    }

    private static func ids(_ ids: [Int]) -> JSON { .array(ids.map { .int(Int64($0)) }) }

    private static func json(_ result: GenerationResult) -> JSON {
        .object([
            "prompt_ids": ids(result.promptIDs), "ids": ids(result.ids), "text": .string(result.text),
            "finish_reason": .string(result.finishReason.rawValue), "load_seconds": .double(result.loadSeconds),
            "ttft_seconds": result.ttftSeconds.map { .double($0) },
            "prompt_tokens_per_second": .double(result.promptTokensPerSecond),
            "tokens_per_second": .double(result.tokensPerSecond),
            // A seed may use all 64 bits, more than a JSON number is sure to keep.
            "seed": Int64(exactly: result.seed).map { .int($0) } ?? .string(String(result.seed)),
            "peak_memory_bytes": .int(result.peakMemoryBytes),
        ])
    }
}
