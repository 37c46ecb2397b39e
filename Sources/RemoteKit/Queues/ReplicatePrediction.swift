import Fetcher
import HubCore

/// A prediction at Replicate: asked for with a short wait, then looked at until it is done.
struct ReplicatePrediction: Sendable {
    let client: RemoteClient
    let base: String
    let providerID: String
    let model: String

    private var address: String {
        // `owner/name:version` runs a version, `owner/name` the model's own.
        providerID.contains(":") ? "\(base)/v1/predictions" : "\(base)/v1/models/\(providerID)/predictions"
    }

    /// What the body must name then.
    var version: String? {
        let parts = providerID.split(separator: ":", maxSplits: 1)
        return parts.count > 1 ? String(parts[1]) : nil
    }

    /// The output of a request that is `{"input": ...}`.
    func output(_ upload: HTTPUpload, _ deadline: Deadline) async throws(AIError) -> JSON {
        var call = RemoteCall(address: address, body: .upload(upload, mediaType: "application/json"), model: model)
        // Less than the patience for the first byte. https://replicate.com/docs/topics/predictions/create-a-prediction
        call.fields = [("Prefer", "wait=\(max(1, min(30, Int(client.limits.firstByte / 2))))")]
        let first = try await client.json(call, by: deadline)
        guard let status = first["urls"]?["get"]?.string.flatMap({ own($0) }) else {
            if let output = first["output"] { return output }
            throw AIError(
                .protocolViolation,
                "\(client.name) answers without an output and without an address to ask for it",
                advice: "try again, or choose another provider")
        }
        let last = try await QueuePolling(client, deadline, usual: 1).result(of: status, first: first, Self.state)
        guard let output = last["output"] else {
            throw AIError(.requestRejected, "\(client.name) finished without an output", advice: "try again")
        }
        return output
    }

    private static func state(_ json: JSON) -> QueuePolling.State? {
        if let error = RemoteFault.words(json["error"]), !error.isEmpty { return .failed(error) }
        switch json["status"]?.string {
        case "succeeded", "successful": return .done
        case "starting", "processing", "queued": return .pending
        case "failed", "canceled", "aborted": return .failed(json["status"]?.string ?? "")
        case nil: return json["output"] == nil ? nil : .done
        default: return nil
        }
    }

    /// The address of the prediction at the host that was asked, so that the key and the router's route hold.
    private func own(_ address: String) -> String? { SafeAddress.path(address).map { base + $0 } }
}
