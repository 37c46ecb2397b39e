import Fetcher
import HubCore
import HubServer
import ModelFormats

/// Ollama's calls that change what is in the cache. Only who has a key, or this server's own page, gets here.
struct OllamaStorage: Sendable {
    let shelf: Shelf
    let pool: ModelPool

    // MARK: Pulling

    /// `/api/pull`: from this server's Hub, whatever host the name says.
    func pull(_ request: ServedRequest) throws(APIFault) -> ServedResponse {
        let fields = try Fields(request)
        let name = try fields.required("model", try fields.string("model", "name"))
        guard try fields.bool("stream") ?? true else {
            return try Whole.answer(for: request) {
                try await pull(name) { _ in }
                return .json(.object(["status": "success"]))
            }
        }
        let feed = Feed(.lines, .ollama, client: request.connection)
        feed.write { feed in
            try await pull(name) { feed.send(.object($0)) }
            feed.send(.object(["status": "success"]))
        }
        return try feed.response(patience: nil)
    }

    private func pull(_ name: String, _ send: @escaping @Sendable (JSONObject) -> Void) async throws {
        let reference = try await shelf.reference(name)
        guard shelf.isAllowed(reference) else {
            throw APIFault.refused(403, "this server is limited to other models")
        }
        let workspace = shelf.workspace
        guard !workspace.isOffline else { throw AIError.offline(reference) }
        send(["status": "pulling manifest"])
        let puller = try await workspace.puller()
        var options = Puller.Options()
        // Of a repository alone, the weights that suit this machine; else what the name says, a quantization or a file.
        if reference.files == nil {
            let selection = WeightSelection(
                try WeightChoice(format: .auto, quantization: nil),
                for: .init(memoryBytes: try Machine.memory().total, runsMLX: false))
            options.select = { repository, tree, filter in
                try await selection.files(of: repository, tree, filter, puller) { _, _ in }
            }
        }
        let plan = try await puller.plan(reference, options)
        try puller.checkSpace([plan])
        let files = Dictionary(plan.files.map { ($0.file.path, $0.file) }, uniquingKeysWith: { first, _ in first })
        let result = try await puller.pull(plan, options) { event in
            switch event {
            case .progress(let progress):
                for active in progress.active where !active.isVerifying {
                    guard let file = files[active.path] else { continue }
                    send(Self.line(file, completed: active.received))
                }
            case .finished(let file):
                if let known = files[file.path], file.status != .failed {
                    send(Self.line(known, completed: known.size))
                }
            default: break
            }
        }
        if let error = result.error { throw error.code == .cancelled ? CancellationError() : error }
        // Every file was verified before it got its name.
        send(["status": "verifying sha256 digest"])
        send(["status": "writing manifest"])
    }

    private static func line(_ file: RepositoryFile, completed: Int64) -> JSONObject {
        let digest = file.sha256 ?? file.oid
        return [
            "status": .string("pulling \(digest.prefix(12))"), "digest": .string("sha256:\(digest)"),
            "total": .int(file.size), "completed": .int(completed),
        ]
    }

    // MARK: Deleting

    /// `/api/delete`: what is pinned or in use stays.
    func delete(_ request: ServedRequest) throws(APIFault) -> ServedResponse {
        let fields = try Fields(request)
        let name = try fields.required("model", try fields.string("model", "name"))
        return try Whole.answer(for: request) {
            let reference = try await shelf.reference(name)
            guard shelf.isAllowed(reference) else { throw APIFault.noModel(name) }
            let model = try await shelf.model(name, isUse: false)
            await pool.unload(model)
            do {
                try await shelf.workspace.delete(reference, files: reference.files == nil ? nil : model.files)
            } catch let error as AIError {
                if error.code == .notCached { throw APIFault.noModel(name) }
                var fault = APIFault(error)
                // Pinned or in use: no fault of the request's form.
                if [.invalidInput, .ioError].contains(error.code) { fault.status = 409 }
                throw fault
            }
            return ServedResponse(200)
        }
    }
}
