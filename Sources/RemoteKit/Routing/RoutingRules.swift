import HubCore
import InferenceKit

/// The rules for one candidate: each accepts with a reason, or refuses and ends the list.
struct RoutingRules {
    private let candidate: ProviderRouter.Candidate
    private let need: ProviderRouter.Need

    init(_ candidate: ProviderRouter.Candidate, _ need: ProviderRouter.Need) {
        self.candidate = candidate
        self.need = need
    }

    private enum Finding {
        case accepted(String)
        case refused(String)
        case silent
    }

    /// Rules that need no look at the machine come first.
    func verdict() async -> RoutingDecision.Verdict {
        var reasons: [String] = []
        for rule in [capability, place, price, abilities] {
            switch rule() {
            case .silent: break
            case .accepted(let why): reasons.append(why)
            case .refused(let why): return verdict(false, reasons + [why])
            }
        }
        for finding in [await availability(), await context()] {
            switch finding {
            case .silent: break
            case .accepted(let why): reasons.append(why)
            case .refused(let why): return verdict(false, reasons + [why])
            }
        }
        return verdict(true, reasons)
    }

    private func verdict(_ isAccepted: Bool, _ reasons: [String]) -> RoutingDecision.Verdict {
        .init(identifier: candidate.provider.identifier, isAccepted: isAccepted, reasons: reasons)
    }

    private func capability() -> Finding {
        candidate.capabilities.contains(need.capability)
            ? .silent : .refused("the model is not for \(need.capability.rawValue)")
    }

    private func place() -> Finding {
        if candidate.provider.isOnDevice {
            return candidate.isCached
                ? .accepted("it runs on this machine") : .refused("its files are not on this machine")
        }
        if need.personalData { return .refused("the call holds personal data, which stays on this machine") }
        return need.network ? .accepted("it is asked over the network") : .refused("the network is switched off")
    }

    private func price() -> Finding {
        guard let most = need.mostPrice else { return .silent }
        guard let price = candidate.price else { return .refused("its price is unknown") }
        let text = price == 0 ? "it costs nothing" : "it costs $\(price) per million tokens"
        return price <= most ? .accepted(text) : .refused("\(text); the limit is $\(most)")
    }

    private func abilities() -> Finding {
        guard need.tools || need.structuredOutput else { return .silent }
        if candidate.provider.isOnDevice {
            guard !need.structuredOutput || candidate.provider is any ChatModel else {
                return .refused("its answers cannot be held to a schema")
            }
            return .silent
        }
        let offers = candidate.offers ?? []
        if need.structuredOutput, !offers.contains(where: { $0.supportsStructuredOutput == true }) {
            return .refused("it is not known to hold its answers to a schema")
        }
        if need.tools, !offers.isEmpty, offers.allSatisfy({ $0.supportsTools == false }) {
            return .refused("it calls no tools")
        }
        return .silent
    }

    private func availability() async -> Finding {
        guard case .unavailable(let reason) = await candidate.provider.availability else {
            return candidate.provider.isOnDevice ? .accepted("it fits into the memory") : .silent
        }
        switch reason {
        case .apiKeyMissing: return .refused("there is no token for it")
        case .networkUnavailable: return .refused("the network is switched off")
        case .modelNotDownloaded: return .refused("its files are not on this machine")
        case .unsupported(let obstacles): return .refused("it does not run here: \(obstacles.text)")
        case .insufficientMemory(let required, let available):
            return .refused("it needs \(ByteCount(required)) of memory, and \(ByteCount(available)) are free")
        case .unsupportedPlatform: return .refused("it does not run on this system")
        case .unknown(let why): return .refused(why)
        }
    }

    private func context() async -> Finding {
        guard let tokens = need.contextTokens else { return .silent }
        guard let longest = await candidate.provider.maxContextLength else {
            return .accepted("its context is unknown")
        }
        return tokens <= longest
            ? .accepted("\(tokens) tokens fit into its context of \(longest)")
            : .refused("its context is \(longest) tokens, and \(tokens) are needed")
    }
}
