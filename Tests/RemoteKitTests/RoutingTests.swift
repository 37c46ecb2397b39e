import HubChatTemplates
import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Which provider answers, and why.
@Suite struct RoutingTests {
    /// A provider that says what it is told to.
    private struct Told: AIModelProvider {
        var identifier: String
        var displayName: String { identifier }
        var isOnDevice = false
        var told = ProviderAvailability.available
        var context: Int? = 4096
        var availability: ProviderAvailability { get async { told } }
        var maxContextLength: Int? { get async { context } }
        func prepare() async throws(AIError) {}
        func cleanup() async {}
    }

    private typealias Candidate = ProviderRouter.Candidate

    private func local(_ told: ProviderAvailability = .available, isCached: Bool = true, context: Int? = 4096)
        -> Candidate
    {
        Candidate(
            Told(identifier: "local", isOnDevice: true, told: told, context: context),
            capabilities: [.textGeneration],
            isCached: isCached)
    }

    private func remote(_ name: String, price: Double? = nil, tools: Bool? = nil, structured: Bool? = nil)
        -> Candidate
    {
        let offer = ServingOffer(
            provider: name, price: price.map { .init(input: $0, output: $0) }, supportsTools: tools,
            supportsStructuredOutput: structured)
        return Candidate(Told(identifier: name, context: 100_000), capabilities: [.textGeneration], offers: [offer])
    }

    private func need(_ change: (inout ProviderRouter.Need) -> Void = { _ in }) -> ProviderRouter.Need {
        var need = ProviderRouter.Need(.textGeneration)
        change(&need)
        return need
    }

    private func chosen(_ candidates: [Candidate], _ need: ProviderRouter.Need) async -> String? {
        let decision = await ProviderRouter().decide(candidates, for: need)
        for verdict in decision.verdicts { #expect(!verdict.reasons.isEmpty || verdict.isAccepted) }
        return decision.chosen.map { candidates[$0].provider.identifier }
    }

    @Test func thisMachineComesFirstThenThePrice() async {
        let all = [remote("dear", price: 2), remote("unknown"), remote("cheap", price: 1), local()]
        #expect(await chosen(all, need()) == "local")
        #expect(await chosen(Array(all.dropLast()), need()) == "cheap")
        let decision = await ProviderRouter().decide(all, for: need())
        #expect(decision.order == [3, 2, 0, 1])
    }

    @Test(arguments: [
        (
            ProviderAvailability.unavailable(
                .insufficientMemory(required: 8_000_000_000, available: 1_000_000_000)), "8.0 GB"
        ),
        (.unavailable(.unsupported([.architecture("mamba9")])), "mamba9"),
        (.unavailable(.modelNotDownloaded), "files"),
        (.unavailable(.unsupportedPlatform), "this system"),
        (.unavailable(.unknown("it is broken")), "it is broken"),
    ])
    func aModelThatDoesNotFitIsLeftOutWithTheReason(_ told: ProviderAvailability, _ words: String) async {
        let decision = await ProviderRouter().decide([local(told), remote("far")], for: need())
        #expect(decision.chosen == 1 && !decision.verdicts[0].isAccepted)
        #expect(decision.verdicts[0].reasons.last?.contains(words) == true)
    }

    @Test func eachRuleRefuses() async {
        #expect(await chosen([local(isCached: false)], need()) == nil)
        #expect(await chosen([remote("far")], need { $0.network = false }) == nil)
        #expect(await chosen([remote("far")], need { $0.personalData = true }) == nil)
        #expect(await chosen([local(), remote("far")], need { $0.contextTokens = 5000 }) == "far")
        #expect(await chosen([local(context: nil)], need { $0.contextTokens = 5000 }) == "local")
        #expect(await chosen([remote("a", price: 3), remote("b")], need { $0.mostPrice = 2 }) == nil)
        #expect(await chosen([remote("a", price: 1.5)], need { $0.mostPrice = 2 }) == "a")
        #expect(await chosen([remote("a", tools: false), remote("b")], need { $0.tools = true }) == "b")
        #expect(
            await chosen([remote("a"), remote("b", structured: true)], need { $0.structuredOutput = true }) == "b")
        #expect(await chosen([local()], ProviderRouter.Need(.embeddings)) == nil)
    }

    @Test func personalDataStaysHereEvenWhereThisMachineCannot() async {
        let decision = await ProviderRouter().decide(
            [local(isCached: false), remote("far")], for: need { $0.personalData = true })
        #expect(decision.chosen == nil)
        #expect(decision.verdicts[1].reasons.last?.contains("personal data") == true)
    }

    private final class Reports: Sendable {
        let all = Monitor<[String]>([])
    }

    @Test(arguments: [true, false])
    func anotherProviderAnswersOnlyWhereThatIsAllowedAndReported(_ isAllowed: Bool) async throws {
        let reports = Reports()
        let outcome = await Task {
            try await ProviderRouter().run(
                [remote("a", price: 1), remote("b", price: 2)], for: need { $0.fallback = isAllowed }
            ) {
                fallback in
                reports.all.update { $0.append("\(fallback.from) > \(fallback.to): \(fallback.error.message)") }
            } _: { provider throws(AIError) in
                if provider.identifier == "a" { throw AIError(.serviceUnavailable, "full") }
                return provider.identifier
            }
        }.result
        if isAllowed {
            #expect(try outcome.get().value == "b" && reports.all.update { $0 } == ["a > b: full"])
        } else {
            #expect(throws: AIError.self) { try outcome.get() }
            #expect(reports.all.update { $0 }.isEmpty)
        }
    }

    @Test func anAnswerThatHasBegunAndACancelledOneStayWhereTheyAre() async throws {
        let partial = PartialAnswer(GenerationResult(text: "Half", finishReason: .stop))
        for failure in [AIError(.streamInterrupted, "cut", cause: partial), AIError(.cancelled, "interrupted")] {
            let error = await fault {
                try await ProviderRouter().run([remote("a"), remote("b")], for: need { $0.fallback = true }) { _ in
                    Issue.record("a fallback")
                } _: { _ throws(AIError) -> Int in
                    throw failure
                }
            }
            #expect(error?.code == failure.code)
        }
    }

    @Test func noneThatFitsIsAnErrorWithTheReasons() async throws {
        let error = await fault {
            try await ProviderRouter().run([local(isCached: false)], for: need()) { _ in
            } _: { _ throws(AIError) in
                1
            }
        }
        #expect(error?.code == .invalidInput && error?.message.contains("not on this machine") == true)
    }

    @Test func systemsWithoutThemSaySo() async {
        #if !canImport(FoundationModels)
        let apple = FoundationModelsProvider()
        #expect(await apple.availability == .unavailable(.unsupportedPlatform))
        let error = await fault { try await apple.generate(prompt: "x", config: GenerateConfig(topP: nil)) }
        #expect(error?.code == .unsupportedModel && error?.message.contains("macOS 26") == true)
        #expect(await fault { try await apple.generate(prompt: "x", config: .creative) }?.code == .invalidInput)
        #endif
        #if !canImport(MLXLMCommon)
        let mlx = MLXProvider(folder: "/none")
        #expect(await mlx.availability == .unavailable(.unsupportedPlatform))
        #expect(await fault { try await mlx.generate(prompt: "x", config: .default) }?.code == .unsupportedModel)
        #endif
    }
}
