import HubCore

/// What a conversation needs of the provider that serves it, and not every one has.
struct ConversationNeeds: Sendable {
    var tools = false
    var structuredOutput = false

    var isEmpty: Bool { !tools && !structuredOutput }

    /// Whether an offer is known to lack something; of a schema it must be known that it is obeyed.
    func fits(_ offer: ServingOffer) -> Bool {
        (!tools || offer.supportsTools != false) && (!structuredOutput || offer.supportsStructuredOutput == true)
    }
}

extension HubRouting {
    /// The suffix with which the router is asked: the model's own, or where a need rules providers out, the best of the
    /// others by the same policy.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if no provider, or not the named one, has what is needed.
    func suffix(for needs: ConversationNeeds) async throws(AIError) -> String? {
        guard !needs.isEmpty else { return model.suffix }
        let listed = try await ServingDirectory(context, limits: limits).listed(model.repository)
        let offers = listed?.offers.filter { $0.status != .error } ?? []
        let fitting = offers.filter(needs.fits)
        let what =
            needs.structuredOutput
            ? "hold an answer of \(model.repository) to a schema" : "call tools with \(model.repository)"
        if let name = model.provider {
            guard
                needs.structuredOutput
                    ? fitting.contains(where: { $0.provider == name })
                    : !offers.contains(where: { $0.provider == name && !needs.fits($0) })
            else {
                throw AIError(
                    .invalidInput, "\(name) cannot \(what)",
                    advice: fitting.isEmpty ? nil : "\(fitting.map(\.provider).joined(separator: ", ")) can")
            }
            return name
        }
        guard !fitting.isEmpty else {
            // Of tools a model that is not listed may know all the same.
            if offers.isEmpty, !needs.structuredOutput { return model.suffix }
            throw AIError(
                .invalidInput, "no provider can \(what)", advice: "choose another model, or run it on this machine")
        }
        return fitting.count == offers.count ? model.suffix : Self.best(fitting, by: model.suffix)
    }

    private static func best(_ offers: [ServingOffer], by policy: String?) -> String? {
        switch policy {
        case "cheapest": offers.min { ($0.price?.output ?? .infinity) < ($1.price?.output ?? .infinity) }?.provider
        // The user's own order is known to the Hub alone.
        case "preferred": offers.first?.provider
        default: offers.max { ($0.throughput ?? 0) < ($1.throughput ?? 0) }?.provider
        }
    }
}
