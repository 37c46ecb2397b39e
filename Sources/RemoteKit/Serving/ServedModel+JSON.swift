import HubCore

extension ServingOffer {
    /// The offers of the Hub's mapping, in both of its forms: a model's own page has an object by provider, a list of
    /// models an array. An entry that is not one is left out.
    static func offers(mapping json: JSON?) -> [ServingOffer] {
        if let object = json?.object {
            return object.members.compactMap { ServingOffer(entry: $0.value, name: $0.key) }
        }
        return (json?.array ?? []).compactMap { ServingOffer(entry: $0, name: $0["provider"]?.string) }
    }

    private init?(entry: JSON, name: String?) {
        guard let name, !name.isEmpty, entry.object != nil else { return nil }
        self.init(
            provider: name.printable, status: entry["status"]?.string.map { Status(rawValue: $0.printable) },
            providerID: entry["providerId"]?.string, task: entry["task"]?.string,
            adapterPath: entry["adapterWeightsPath"]?.string)
    }

    /// An offer of the router's list.
    init?(routerEntry entry: JSON) {
        guard let name = entry["provider"]?.string, !name.isEmpty else { return nil }
        let price = entry["pricing"].flatMap { prices -> Price? in
            guard let input = prices["input"]?.double, let output = prices["output"]?.double else { return nil }
            return Price(input: input, output: output)
        }
        self.init(
            provider: name.printable, status: entry["status"]?.string.map { Status(rawValue: $0.printable) },
            task: InferenceTask.conversation.rawValue,
            contextLength: entry["context_length"]?.int.map { Int(clamping: $0) }, price: price,
            supportsTools: entry["supports_tools"]?.bool,
            supportsStructuredOutput: entry["supports_structured_output"]?.bool, isFree: entry["is_free"]?.bool,
            firstTokenMilliseconds: entry["first_token_latency_ms"]?.double, throughput: entry["throughput"]?.double
        )
    }

    /// This with what another source tells of the same offer.
    func completed(by other: ServingOffer) -> ServingOffer {
        var out = self
        out.status = status ?? other.status
        out.providerID = providerID ?? other.providerID
        out.task = task ?? other.task
        out.adapterPath = adapterPath ?? other.adapterPath
        out.contextLength = other.contextLength ?? contextLength
        out.price = other.price ?? price
        out.supportsTools = other.supportsTools ?? supportsTools
        out.supportsStructuredOutput = other.supportsStructuredOutput ?? supportsStructuredOutput
        out.isFree = other.isFree ?? isFree
        out.firstTokenMilliseconds = other.firstTokenMilliseconds ?? firstTokenMilliseconds
        out.throughput = other.throughput ?? throughput
        return out
    }
}

extension ServedModel {
    /// The models of the router's list; an entry without a name is left out.
    static func list(_ json: JSON, heardAt now: Double) -> [ServedModel]? {
        guard let entries = json["data"]?.array else { return nil }
        return entries.compactMap { entry in
            guard let id = entry["id"]?.string else { return nil }
            return ServedModel(
                model: id, offers: (entry["providers"]?.array ?? []).compactMap { ServingOffer(routerEntry: $0) },
                heardAt: now)
        }
    }
}
