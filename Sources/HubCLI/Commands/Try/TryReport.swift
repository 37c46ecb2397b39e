import HubCore
import HubTokenizers
import InferenceKit

/// What `hub try` found, in the forms of the contract.
struct TryReport {
    /// One text and its tokens.
    struct Tokenized: Sendable {
        var text: String
        var ids: [Int]
        /// What each id is of the text.
        var pieces: [String]
        var idsWithSpecial: [Int]
        var decoded: String
        var decodedSkipSpecial: String
    }

    let id: String
    let path: String
    /// How the model computes.
    var options = ModelOptions()
    /// What the headers say, where that was asked for.
    var inspection: ModelInspection?
    /// What they say of a model that was opened, and the checks that this was.
    var read: ModelInspection?
    var opening: [CheckResult]?
    var smoke: SmokeTest?
    var check: ModelCheck?
    var generation: GenerationResult?
    /// Each token with its alternatives, where that was asked for.
    var logprobs: [TokenLog] = []
    var logits: [Float]?
    var embeddings: [(text: String, result: EmbeddingResult)] = []
    /// Texts by their cosine with another, the nearest first.
    var similar: [(text: String, cosine: Double)] = []
    /// What an encoder says of a text.
    var answer: (text: String, answer: EncoderAnswer)?
    /// Whether what is ranked are pictures, by their files.
    var ranksPictures = false
    /// What was done with an index of pictures.
    var index: JSON?
    /// Pictures by their files, with the labels of each.
    var pictures: [(file: String, labels: [TextLabel])] = []
    /// Pictures by their files, with the objects in each; nothing for a model that finds none.
    var found: [(file: String, objects: [FoundObject])] = []
    /// Pictures of whose pixels something is said.
    var maps: [PictureMap] = []
    /// The file that was written; nil for none.
    var written: String?
    /// A series and what may follow it.
    var series: SmokeTest.Series?
    var perplexity: Perplexity?
    var tokenized: [Tokenized] = []
    /// What a chat template made of a conversation.
    var rendered: String?
    /// The context of the opened model.
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

    var facts: ModelInspection? { inspection ?? read ?? smoke?.inspection ?? check?.inspection }
    var checks: [CheckResult]? { smoke?.checks ?? check?.checks ?? opening }
    var verdict: CheckResult.Status? { smoke?.verdict ?? check?.verdict ?? opening.map(SmokeTest.worst) }

    static func tokenize(_ texts: [String], folder: String) throws(AIError) -> [Tokenized] {
        let tokenizer = try Tokenizer(folder: folder)
        return try texts.map { text throws(AIError) in
            let ids = try tokenizer.encode(text, addSpecialTokens: false)
            return Tokenized(
                text: text, ids: ids, pieces: ids.map { piece($0, tokenizer) },
                idsWithSpecial: try tokenizer.encode(text), decoded: tokenizer.decode(ids),
                decodedSkipSpecial: tokenizer.decode(ids, skipSpecialTokens: true))
        }
    }

    /// The text of a token alone; its spelling in the vocabulary where it is part of a character.
    private static func piece(_ id: Int, _ tokenizer: Tokenizer) -> String {
        let (text, spelling) = (tokenizer.decode([id]), tokenizer.token(id) ?? "")
        guard !text.isEmpty, !text.contains("\u{FFFD}") else { return spelling }
        // SentencePiece leaves out the space before what it takes for the first word.
        return spelling.hasPrefix("▁") && !text.hasPrefix(" ") ? " " + text : text
    }

    /// The essential of each part; nothing after a generated text, which is all that was asked for.
    private var quiet: [String] {
        if !tokenized.isEmpty { return tokenized.map { $0.ids.map(String.init).joined(separator: " ") } }
        if let rendered { return [rendered] }
        if let verdict = check?.verdict ?? smoke?.verdict { return [verdict.rawValue] }
        let vectors = embeddings.map { $0.result.vector.map { "\($0)" }.joined(separator: " ") }
        return (similar.isEmpty ? vectors : similar.map(\.text)) + (answer.map { Self.quiet($0.answer) } ?? [])
            + pictures.map { $0.labels.first?.label ?? "" } + quietObjects + quietMaps
            + (written.map { [$0] } ?? [])
            + (perplexity.map { ["\($0.perplexity)"] } ?? []) + quietSeries
    }

    func show(_ context: Context) {
        let output = context.output
        output.render(json: json, quiet: quiet) {
            for entry in tokenized { show(entry, output) }
            for text in rendered?.split(separator: "\n", omittingEmptySubsequences: false) ?? [] {
                output.row(Styled(String(text)))
            }
            if inspection != nil, let inspectionView { show(inspectionView, output, nil) }
            if let check { return show(check, output) }
            // Of what cannot be run, what stands in the way is all there is to say.
            if let facts, !facts.isSupported, inspection == nil { return }
            if let smoke { show(smoke, output) }
            showSeries(context)
            showVectors(output)
            showObjects(output)
            for picture in pictures { show(.labels(picture.labels), of: picture.file, context) }
            showMaps(output)
            if let written { output.line(Styled(SafeText.line(written), .name)) }
            if let answer { show(answer.answer, of: answer.text, context) }
            if let generation {
                output.line()
                if !logprobs.isEmpty {
                    output.table(TokenLog.table(logprobs))
                    output.line()
                }
                show(generation, output)
            }
            if let perplexity {
                let text = Self.rounded(perplexity.perplexity)
                line("perplexity", "\(text) over \(Humanize.grouped(perplexity.tokensScored)) tokens", output)
            }
        }
    }

    /// The ids in a line; on a terminal one below the other, each beside its piece.
    private func show(_ entry: Tokenized, _ output: Output) {
        let count = Humanize.plural(entry.ids.count, "token")
        guard output.settings.outputIsTerminal else {
            let ids = entry.ids.map(String.init).joined(separator: " ")
            return output.line(Styled(count + (ids.isEmpty ? "" : ": "), .faint) + Styled(ids))
        }
        output.line(Styled(count, .faint))
        var table = Table([.init("ID", .right), .init("PIECE")])
        for (id, piece) in zip(entry.ids, entry.pieces) {
            table.add([Styled("\(id)"), Styled("\"\(piece.replacing("\n", with: "\\n"))\"")])
        }
        output.table(table)
    }

    /// The verdict, what the model is, and what it said; each check where one is no pass, or with `--verbose`.
    private func show(_ smoke: SmokeTest, _ output: Output) {
        let figures = smoke.speed.map {
            [Self.rate($0.tokensPerSecond, $0.unit), "\(ByteCount($0.peakMemoryBytes)) of memory"]
        }
        output.line(Self.sentence(smoke.verdict, smoke.checks, figures ?? []))
        let isBrief = Self.isBrief(smoke.verdict, output)
        if let inspectionView { show(inspectionView, output, isBrief ? Self.essential : Self.tested) }
        if !isBrief { for check in smoke.checks { line(check.name, check.detail, output, mark: check.status) } }
        if let result = smoke.generation {
            if !isBrief { show(result, output) }
            line("text", result.text.replacing("\n", with: " "), output)
        }
        if let sample = smoke.sample { show(sample, output) }
        if !isBrief, let speed = smoke.speed { show(speed, smoke, output) }
    }

    private func show(_ speed: SmokeTest.Speed, _ smoke: SmokeTest, _ output: Output) {
        if smoke.generation == nil { line("speed", Self.rate(speed.tokensPerSecond, speed.unit), output) }
        let memory = "memory gives \(ByteCount(Int64(speed.memoryBytesPerSecond)))/s"
        let weights = speed.weightsBytesPerSecond.map { "weights are read at \(ByteCount(Int64($0)))/s; " } ?? ""
        line("bandwidth", weights + memory, output)
        line("load", Self.milliseconds(speed.loadSeconds), output)
        line("peak memory", "\(ByteCount(speed.peakMemoryBytes))", output)
    }

    private func showVectors(_ output: Output) {
        if !similar.isEmpty {
            var table = Table([.init("COSINE", .right), .init("TEXT", least: 20)])
            for (text, cosine) in similar {
                table.add([Styled(Self.rounded(cosine)), Styled(SafeText.line(text))])
            }
            return output.table(table)
        }
        for (text, result) in embeddings { Self.show(result, of: text, output) }
    }

    /// A vector's first numbers, below its text.
    static func show(_ vector: EmbeddingResult, of text: String, _ output: Output) {
        let first = vector.vector.prefix(4).map { rounded(Double($0)) }.joined(separator: " ")
        output.line(Styled(SafeText.line(text), .faint))
        output.line(
            Styled(
                "  \(Humanize.plural(vector.dimensions, "number")): \(first) \(vector.dimensions > 4 ? "..." : "")")
        )
    }

    /// Three digits behind the point.
    static func rounded(_ value: Double) -> String {
        guard value.magnitude < 1e12 else { return "\(value)" }
        let thousandths = Int((value.magnitude * 1000).rounded())
        let rest = String(thousandths % 1000)
        return
            "\(value < 0 ? "-" : "")\(thousandths / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    var inspectionView: InspectionView? {
        facts.map {
            InspectionView(
                facts: $0, context: context ?? options.context, cacheFormat: options.usedCacheFormat,
                memoryTotal: memoryTotal)
        }
    }

    /// What matters beside a verdict, without its checks and with them.
    private static let essential = ["model", "file", "quantized"]
    private static let tested = essential + ["shape", "memory", "tokenizer", "obstacle"]

    /// - Parameter names: of the lines that are shown; nil for all, below the path.
    private func show(_ view: InspectionView, _ output: Output, _ names: [String]?) {
        if names != Self.essential { showPath(output) }
        for entry in view.lines where names?.contains(entry.name) ?? true {
            line(entry.name, entry.text, output, isBad: entry.isBad)
        }
    }

    private func showPath(_ output: Output) { output.line(Styled(id, .name) + Styled("  \(path)", .faint)) }

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
        default: return result.finishReason.rawValue
        }
    }

    private func show(_ check: ModelCheck, _ output: Output) {
        output.line(Self.checked(check.verdict, check.checks))
        showPath(output)
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

    static func milliseconds(_ seconds: Double) -> String {
        "\(Humanize.grouped(Int((seconds * 1000).rounded()))) ms"
    }
    static func rate(_ rate: Double, _ unit: SmokeTest.Speed.Unit = .tokens) -> String {
        "\(Humanize.perSecond(rate)) \(unit.rawValue)/s"
    }

    /// - Parameter isBad: for rows that are not checks.
    func line(
        _ name: String, _ text: String, _ output: Output, mark: CheckResult.Status? = nil, isBad: Bool = false
    ) {
        let style = mark.map(Self.style) ?? .plain
        let status = mark.map { $0.rawValue + (text.isEmpty ? "" : "  ") } ?? ""
        let start = Styled(
            "  \(name)\(String(repeating: " ", count: max(1, Self.column - 2 - name.count)))", .faint)
        let margin = max(Self.column, start.plain.count) + status.count
        let safe = SafeText.line(text)
        if let width = output.settings.width, width - margin < Self.leastRoom {
            output.line(start + Styled(status, style))
            return output.line(Styled("    ") + Styled(safe, isBad ? .bad : .plain))
        }
        let lines = output.settings.width.map { TextWrap.cells(safe, width: $0 - margin) } ?? [safe]
        for (number, line) in lines.enumerated() {
            let begin = number == 0 ? start + Styled(status, style) : Styled(String(repeating: " ", count: margin))
            output.line(begin + Styled(line, isBad ? .bad : .plain))
        }
    }

    /// Where texts begin.
    private static let column = 22
    /// With less room behind a name a text stands below it.
    private static let leastRoom = 20
}
