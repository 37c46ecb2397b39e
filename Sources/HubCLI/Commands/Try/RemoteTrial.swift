import HubChatTemplates
import HubCore
import InferenceKit
import RemoteKit

/// The smoke test of a remote model: a short question, answered as a stream.
struct RemoteTrial: Sendable {
    /// What came of it.
    let result: GenerationResult
    /// The same as findings.
    let checks: [CheckResult]
    /// What it costs in US dollars per million tokens, if known.
    var price: ServingOffer.Price?

    var verdict: CheckResult.Status { SmokeTest.worst(checks) }

    private static let question = "Count from one to ten, in words."
    /// Enough for a model that reasons before it answers.
    private static let config = GenerateConfig.precise.maxTokens(256)

    /// Asks the model.
    static func run(_ model: RemoteModel) async throws -> RemoteTrial {
        var pieces = 0
        let stream = try await model.provider.stream(
            messages: [.user(question)], options: ChatOptions(), config: config)
        let result = try await stream.collectWithMetadata { chunk in
            if !chunk.text.isEmpty || !chunk.reasoning.isEmpty { pieces += 1 }
        }
        if result.finishReason == .cancelled { throw CancellationError() }
        return RemoteTrial(result: result, checks: checks(result, pieces))
    }

    private static func checks(_ result: GenerationResult, _ pieces: Int) -> [CheckResult] {
        let isEmpty = result.text.allSatisfy(\.isWhitespace)
        let reasons = result.reasoning?.isEmpty == false
        let answer: CheckResult =
            if !isEmpty {
                CheckResult(name: "answer", status: .pass, detail: Humanize.plural(result.text.count, "character"))
            } else if reasons, result.finishReason == .length {
                CheckResult(name: "answer", status: .pass, detail: "reasoned until the limit of tokens")
            } else {
                CheckResult(name: "answer", status: .fail, detail: "the answer is empty")
            }
        let stream = CheckResult(
            name: "stream", status: pieces > 1 || isEmpty && !reasons ? .pass : .warn,
            detail: pieces == 1 ? "the answer came in one piece" : "\(Humanize.plural(pieces, "piece"))")
        let isUsual = [.stop, .length].contains(result.finishReason)
        let ending = CheckResult(
            name: "ending", status: isUsual ? .pass : .warn,
            detail: (isUsual ? "" : "the answer ended with ") + result.finishReason.rawValue.printable)
        let usage = CheckResult(
            name: "usage", status: result.usage == nil ? .skip : .pass,
            detail: result.usage.map {
                "\(Humanize.grouped($0.promptTokens)) + \(Humanize.grouped($0.completionTokens)) tokens"
            } ?? "the provider does not tell")
        return [answer, stream, ending, usage]
    }
}

// MARK: The price

extension RemoteTrial {
    /// Looks the price up: what is remembered, else the router's list. Without one the test is as good.
    mutating func findPrice(of model: RemoteModel, _ context: Context) async throws {
        guard let repository = model.repository else { return }
        let directory = ServingDirectory(try await context.remoteContext())
        price = self.price(await directory.remembered(repository), model)
        guard price == nil else { return }
        do throws(AIError) {
            price = self.price(try await directory.servedModels().first { $0.model == repository.name }, model)
        } catch {
            if error.code == .cancelled { throw error }
            context.output.debug("the price is not known: \(error.message)")
        }
    }

    /// The price of the provider that answered; where nobody tells who did, what all of them ask.
    private func price(_ served: ServedModel?, _ model: RemoteModel) -> ServingOffer.Price? {
        let provider = result.servedBy ?? model.label.dropping(prefix: "hf:")
        let offers = (served?.offers ?? []).filter { provider == nil || $0.provider == provider }
        let prices = Set(offers.compactMap(\.price))
        return prices.count == 1 ? prices.first : nil
    }
}

// MARK: Its forms

extension RemoteTrial {
    /// Who answered: `hf:groq`.
    func label(_ model: RemoteModel) -> String { RemoteModel.label(model.label, servedBy: result.servedBy) }

    func show(_ model: RemoteModel, _ context: Context) {
        let output = context.output
        output.render(json: json(model), quiet: [verdict.rawValue]) {
            var speed = result.ttftSeconds.map { ["first text after \(TryReport.milliseconds($0))"] } ?? []
            if result.tokensPerSecond > 0 { speed.append(TryReport.rate(result.tokensPerSecond)) }
            output.line(TryReport.sentence(verdict, checks, speed))
            let report = TryReport(id: model.name, path: "")
            report.line("answered by", label(model), output)
            if !TryReport.isBrief(verdict, output) {
                for check in checks { report.line(check.name, check.detail, output, mark: check.status) }
                if !speed.isEmpty { report.line("speed", speed.joined(separator: ", "), output) }
            }
            report.line("text", result.text.replacing("\n", with: " "), output)
            if let price {
                report.line(
                    "price", "$\(price.input) for a million tokens of the prompt, $\(price.output) of the answer",
                    output)
            }
        }
    }

    func json(_ model: RemoteModel) -> JSONObject {
        [
            "id": .string(model.name), "provider": .string(label(model)),
            "served_by": result.servedBy.map { .string($0) }, "verdict": .string(verdict.rawValue),
            "checks": .array(
                checks.map {
                    .object([
                        "name": .string($0.name), "status": .string($0.status.rawValue),
                        "detail": .string($0.detail),
                    ])
                }),
            "generation": .object([
                "text": .string(result.text), "reasoning": result.reasoning.map { .string($0) },
                "finish_reason": .string(result.finishReason.rawValue),
                "ttft_seconds": result.ttftSeconds.map { .double($0) },
                "tokens_per_second": result.tokensPerSecond > 0 ? .double(result.tokensPerSecond) : nil,
                "usage": result.usageJSON,
            ]),
            "price": price.map { .object(["input": .double($0.input), "output": .double($0.output)]) },
        ]
    }
}
