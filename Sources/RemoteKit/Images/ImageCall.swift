import Fetcher
import HubCore
import HubMedia
import InferenceKit

/// Asks for a picture: as bytes, in base64, by an address, or through a queue.
struct ImageCall: Sendable {
    let client: RemoteClient
    /// The provider's address, without a path.
    let base: String
    let route: ServingRoutes.Images
    /// The provider's own name of the model.
    let providerID: String
    /// The model, for errors.
    let model: String
    /// The address of a low-rank addition to the provider's model.
    var adapter: String?
    let servedBy: String?

    /// - Throws: ``ErrorCode/invalidInput`` for options that the provider cannot be given.
    func run(_ prompt: String, _ options: ImageOptions) async throws(AIError) -> GeneratedImage {
        let request = ImageRequest(prompt: prompt, options: options, name: client.name)
        try request.check()
        if adapter != nil, route != .fal, route != .replicate {
            throw AIError(.invalidInput, "\(client.name) cannot be given the model's low-rank addition")
        }
        let deadline = Deadline(client.limits)
        switch route {
        case .hub: return try await hub(request, deadline)
        case .fal: return try await fal(request, deadline)
        case .replicate: return try await replicate(request, deadline)
        case .openAI(let path, let form):
            let body = try request.openAI(providerID, form)
            return try await picture(
                in: try await client.json(.post(base + path, body, model: model), by: deadline), deadline)
        case .wavespeed: return try await wavespeed(request, deadline)
        case .zai: return try await zai(request, deadline)
        }
    }

    // MARK: Providers

    /// The answer is the picture, or JSON with one in it.
    private func hub(_ request: ImageRequest, _ deadline: Deadline) async throws(AIError) -> GeneratedImage {
        var call = RemoteCall.post("\(base)/models/\(providerID)", request.hub(), model: model)
        call.accepts = "image/png"
        let answer = try await client.send(call, by: deadline)
        let body = try await answer.body(limit: PictureFetch.mostBytes)
        if let type = PictureKind(body)?.mediaType {
            return GeneratedImage(bytes: body, mediaType: type, servedBy: servedBy)
        }
        guard answer.mediaType.contains("json") else {
            throw answer.unexpected(body, "something that is not a picture")
        }
        let json = try answer.json(of: body)
        if let error = client.fault.error(in: json) { throw error }
        return try await picture(in: json, deadline)
    }

    private func fal(_ request: ImageRequest, _ deadline: Deadline) async throws(AIError) -> GeneratedImage {
        // The router reaches fal's queue by a parameter; with a key of its own it is another host.
        let query = client.fault.isHub ? "?_subdomain=queue" : ""
        let body = try request.fal(adapter: adapter, providerID: providerID)
        let first = try await client.json(.post("\(base)/\(providerID)\(query)", body, model: model), by: deadline)
        // Not every model has a queue.
        guard first["images"] == nil else { return try await picture(in: first, deadline) }
        // Its path may differ from the model's.
        guard let path = first["response_url"]?.string.flatMap({ SafeAddress.path($0) }) else {
            throw AIError(
                .protocolViolation, "\(client.name) answers without a picture and without an address to ask for it")
        }
        let done = try await QueuePolling(client, deadline, usual: 0.5).result(
            of: "\(base)\(path)/status\(query)", first: first, Self.falState)
        if let error = RemoteFault.words(done["error"]), !error.isEmpty {
            throw AIError(
                .requestRejected, "\(client.name) could not do it: \(error.printable)", advice: "change the prompt")
        }
        return try await picture(
            in: try await client.json(.get(base + path + query, model: model), by: deadline), deadline)
    }

    private static func falState(_ json: JSON) -> QueuePolling.State? {
        switch json["status"]?.string {
        case "IN_QUEUE", "IN_PROGRESS": .pending
        case "COMPLETED":
            if let error = RemoteFault.words(json["error"]), !error.isEmpty { .failed(error) } else { .done }
        case "FAILED", "CANCELED", "CANCELLED", "ERROR":
            .failed(RemoteFault.words(json) ?? json["status"]?.string ?? "")
        default: nil
        }
    }

    private func replicate(_ request: ImageRequest, _ deadline: Deadline) async throws(AIError) -> GeneratedImage {
        let prediction = ReplicatePrediction(client: client, base: base, providerID: providerID, model: model)
        let body = try request.replicate(version: prediction.version, adapter: adapter)
        let output = try await prediction.output(HTTPUpload([.bytes(Array(body.text().utf8))]), deadline)
        return try await picture(in: .object(["output": output]), deadline)
    }

    private func wavespeed(_ request: ImageRequest, _ deadline: Deadline) async throws(AIError) -> GeneratedImage {
        let first = try await client.json(
            .post("\(base)/api/v3/\(providerID)", try request.wavespeed(), model: model), by: deadline)
        guard let path = first["data"]?["urls"]?["get"]?.string.flatMap({ SafeAddress.path($0) }) else {
            throw AIError(.protocolViolation, "\(client.name) answers without an address to ask for the picture")
        }
        let done = try await QueuePolling(client, deadline, usual: 0.5).result(of: base + path, first: first) {
            json in
            switch json["data"]?["status"]?.string {
            case "created", "processing", "queued", "pending": .pending
            case "completed": .done
            case "failed", "canceled", "cancelled":
                .failed(RemoteFault.words(json["data"]) ?? RemoteFault.words(json) ?? "failed")
            default: nil
            }
        }
        return try await picture(in: .object(["output": done["data"]?["outputs"] ?? .null]), deadline)
    }

    private func zai(_ request: ImageRequest, _ deadline: Deadline) async throws(AIError) -> GeneratedImage {
        let first = try await client.json(
            .post("\(base)/api/paas/v4/async/images/generations", try request.zai(providerID), model: model),
            by: deadline)
        guard let id = first["id"]?.string else {
            throw AIError(.protocolViolation, "\(client.name) answers without the number of the job")
        }
        let address = "\(base)/api/paas/v4/async-result/\(PercentEncoding.encode(id))"
        let done = try await QueuePolling(client, deadline, usual: 5).result(of: address, first: first) { json in
            switch json["task_status"]?.string {
            case "PROCESSING": .pending
            case "SUCCESS": .done
            case "FAIL": .failed(RemoteFault.words(json) ?? "FAIL")
            default: nil
            }
        }
        return try await picture(in: done, deadline)
    }

    // MARK: The picture

    /// The first picture that an answer holds or names.
    private func picture(in json: JSON, _ deadline: Deadline) async throws(AIError) -> GeneratedImage {
        let output = json["output"].map { $0.array ?? [$0] }
        let entries = json["images"]?.array ?? json["data"]?.array ?? json["image_result"]?.array ?? output ?? []
        guard let entry = entries.first, !entry.isNull else {
            throw AIError(.protocolViolation, "\(client.name) answers without a picture", advice: "try again")
        }
        let text = entry["b64_json"]?.string ?? entry["url"]?.string ?? entry.string
        guard let text else {
            throw AIError(.protocolViolation, "\(client.name) answers without a picture", advice: "try again")
        }
        return try await PictureFetch(client: client, servedBy: servedBy).picture(text, deadline)
    }
}
