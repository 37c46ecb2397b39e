import Catalog
import HubCore

extension ServingOffer {
    /// The form in the catalog.
    var kept: JSON {
        .object([
            "provider": .string(provider), "status": status.map { .string($0.rawValue) },
            "id": providerID.map { .string($0) }, "task": task.map { .string($0) },
            "context": contextLength.map { .int(Int64($0)) },
            "price": price.map { .array([.double($0.input), .double($0.output)]) },
            "tools": supportsTools.map { .bool($0) }, "structured": supportsStructuredOutput.map { .bool($0) },
            "free": isFree.map { .bool($0) }, "latency": firstTokenMilliseconds.map { .double($0) },
            "throughput": throughput.map { .double($0) }, "adapter": adapterPath.map { .string($0) },
        ])
    }

    /// nil for what names no provider.
    init?(kept json: JSON) {
        guard let provider = json["provider"]?.string else { return nil }
        let price = (json["price"]?.array ?? []).compactMap(\.double)
        self.init(
            provider: provider, status: json["status"]?.string.map { Status(rawValue: $0) },
            providerID: json["id"]?.string, task: json["task"]?.string,
            contextLength: json["context"]?.int.map { Int(clamping: $0) },
            price: price.count == 2 ? Price(input: price[0], output: price[1]) : nil,
            supportsTools: json["tools"]?.bool, supportsStructuredOutput: json["structured"]?.bool,
            isFree: json["free"]?.bool, firstTokenMilliseconds: json["latency"]?.double,
            throughput: json["throughput"]?.double, adapterPath: json["adapter"]?.string)
    }
}

extension ServedModel {
    init(kept text: String, model: String, heardAt: Double) {
        let entries = (try? JSON.parse(text))?.array ?? []
        self.init(model: model, offers: entries.compactMap { ServingOffer(kept: $0) }, heardAt: heardAt)
    }

    var kept: (model: String, offers: JSON) { (model, .array(offers.map(\.kept))) }
}
