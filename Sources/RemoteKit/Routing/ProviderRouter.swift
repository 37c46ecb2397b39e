public import HubCore
public import InferenceKit

/// Chooses among the providers that a program names, by rules, and says why. It sends nothing by itself, and to no other.
public struct ProviderRouter: Sendable {
    /// What a call needs.
    public struct Need: Sendable, Hashable {
        /// What the model must do.
        public var capability: ModelCapability
        /// Tokens of the prompt and its answer together; nil if unknown.
        public var contextTokens: Int?
        /// Whether an answer must fit a JSON schema.
        public var structuredOutput = false
        /// Whether tools are called.
        public var tools = false
        /// Whether the call holds personal data: it then stays on this machine.
        public var personalData = false
        /// Whether the network may be used.
        public var network = true
        /// US dollars per million tokens of the answer, at most; nil for any price.
        public var mostPrice: Double?
        /// Whether another candidate may answer if the chosen one fails before it gives anything; also one to which the text
        /// then leaves this machine.
        public var fallback = false

        /// A need.
        public init(_ capability: ModelCapability, contextTokens: Int? = nil) {
            self.capability = capability
            self.contextTokens = contextTokens
        }
    }

    /// A provider and what is known of it.
    public struct Candidate: Sendable {
        /// The provider.
        public var provider: any AIModelProvider
        /// What the model does.
        public var capabilities: Set<ModelCapability>
        /// For one on this machine: whether its files are here.
        public var isCached: Bool
        /// For a remote one: its offers; nil if unknown.
        public var offers: [ServingOffer]?

        /// A candidate.
        public init(
            _ provider: any AIModelProvider, capabilities: Set<ModelCapability>, isCached: Bool = true,
            offers: [ServingOffer]? = nil
        ) {
            self.provider = provider
            self.capabilities = capabilities
            self.isCached = isCached
            self.offers = offers
        }
    }

    /// A router.
    public init() {}

    /// The decision about candidates; of several that serve, the first on this machine, else the cheapest.
    public func decide(_ candidates: [Candidate], for need: Need) async -> RoutingDecision {
        var verdicts: [RoutingDecision.Verdict] = []
        for candidate in candidates { verdicts.append(await RoutingRules(candidate, need).verdict()) }
        let accepted = verdicts.indices.filter { verdicts[$0].isAccepted }
        let order = accepted.sorted { left, right in
            let (a, b) = (candidates[left], candidates[right])
            guard a.provider.isOnDevice == b.provider.isOnDevice else { return a.provider.isOnDevice }
            let (first, second) = (a.price ?? .infinity, b.price ?? .infinity)
            return first == second ? left < right : first < second
        }
        return RoutingDecision(verdicts: verdicts, order: order)
    }

    /// Runs a call on the chosen candidate, and on the next ones if the need allows a fallback and the call failed
    /// before it gave anything.
    ///
    /// - Parameters:
    ///   - report: hears of every fallback, before it begins.
    ///   - call: runs on one candidate's provider.
    /// - Throws: ``ErrorCode/invalidInput`` if no candidate serves, with the reasons, and what the last call threw.
    public func run<Value: Sendable>(
        _ candidates: [Candidate], for need: Need, report: @Sendable (RoutingFallback) -> Void,
        _ call: @Sendable (any AIModelProvider) async throws(AIError) -> Value
    ) async throws(AIError) -> (value: Value, decision: RoutingDecision) {
        let decision = await decide(candidates, for: need)
        guard !decision.order.isEmpty else {
            let reasons = decision.verdicts.map { "\($0.identifier): \($0.reasons.last ?? "")" }
            throw AIError(
                .invalidInput,
                "no model fits: \(reasons.isEmpty ? "there is none" : reasons.joined(separator: "; "))")
        }
        var place = 0
        while true {
            let provider = candidates[decision.order[place]].provider
            do throws(AIError) { return (try await call(provider), decision) } catch {
                place += 1
                guard need.fallback, place < decision.order.count, error.code != .cancelled,
                    error.partialResult == nil
                else { throw error }
                report(
                    RoutingFallback(
                        from: provider.identifier, error: error,
                        to: candidates[decision.order[place]].provider.identifier))
            }
        }
    }
}

extension ProviderRouter.Candidate {
    /// The lowest price of the answer among the offers, in US dollars per million tokens; nil if unknown. Nothing on
    /// this machine costs.
    var price: Double? {
        if provider.isOnDevice { return 0 }
        return offers?.compactMap { $0.isFree == true ? 0 : $0.price?.output }.min()
    }
}

/// What a router decided, and why.
public struct RoutingDecision: Sendable, Hashable {
    /// What was found out about one candidate.
    public struct Verdict: Sendable, Hashable {
        /// The candidate's ``AIModelProvider/identifier``.
        public var identifier: String
        /// Whether it serves.
        public var isAccepted: Bool
        /// Why, one short sentence each; the last one decides.
        public var reasons: [String]
    }

    /// One for each candidate, in their order.
    public var verdicts: [Verdict]
    /// The accepted candidates by preference, as offsets.
    public var order: [Int]
    /// The chosen candidate's offset; nil if none serves.
    public var chosen: Int? { order.first }
}

/// That another provider takes over.
public struct RoutingFallback: Sendable {
    /// Who failed.
    public var from: String
    /// Why.
    public var error: AIError
    /// Who takes over.
    public var to: String
}
