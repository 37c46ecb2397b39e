import HubCore
package import ModelFormats

/// ollama's store, as a place to show models of the cache. Nothing that ollama wrote is changed.
package struct OllamaStore: Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// What a model consists of, beside its weights.
    package struct Parts: Sendable {
        package var projector: ProvenFile?
        /// Text of Go's template language; nil for the one in the GGUF.
        package var template: String?
        /// A JSON object.
        package var params: String?
        package var system: String?
        package init() {}
    }

    /// Writes a model's blobs and then its manifest.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if the name is taken by another model, or `params` is not a JSON object.
    package func add(
        _ name: OllamaName, _ model: ProvenFile, _ header: GGUFHeader, quantization: String?, _ parts: Parts
    ) throws -> StoreLink.Way {
        typealias Layer = OllamaManifest.Layer
        func type(_ word: String) -> String { "application/vnd.ollama.image.\(word)" }
        var layers = [Layer(type("model"), model.sha256, model.size)]
        if let projector = parts.projector {
            layers.append(Layer(type("projector"), projector.sha256, projector.size))
        }
        if let params = parts.params {
            // ollama could not load the model.
            guard (try? JSON.parse(params))?.object != nil else {
                throw AIError(.malformedModel, "the model's file params is not a JSON object")
            }
        }
        for (word, text) in [("template", parts.template), ("system", parts.system), ("params", parts.params)] {
            if let text { layers.append(try write(Array(text.utf8), type(word))) }
        }
        let config = try write(
            configuration(header, quantization), "application/vnd.docker.container.image.v1+json")
        let manifest = OllamaManifest(config: config, layers: layers)
        let place = Path.join(path, name.path)
        func isThere() throws -> Bool {
            guard try FileSystem.linkStatus(place) != nil else { return false }
            guard OllamaManifest.read(place) == manifest else {
                throw AIError(
                    .invalidInput, "ollama has another model named \(name.text)",
                    advice: "choose another name with --name")
            }
            return true
        }
        let wasThere = try isThere()
        var way = try link(model)
        if let projector = parts.projector { _ = try link(projector) }
        if !wasThere {
            try FileSystem.createDirectories(Path.parent(place))
            // At the fourth level, a temporary file would be a model.
            let temporary = Path.join(path, "manifests/.hub-\(FileSystem.randomHex(8))")
            defer { _ = try? FileSystem.remove(temporary) }
            try FileSystem.replace(temporary, with: manifest.bytes, durable: true)
            if try !FileSystem.rename(temporary, toNew: place) { _ = try isThere() }
            try FileSystem.synchronizeDirectory(Path.parent(place))
        }
        // A daemon that started meanwhile removes blobs that no manifest names and that are older than an hour.
        for blob in [model, parts.projector].compactMap(\.self) where !FileSystem.exists(blobPath(blob.sha256)) {
            way = try link(blob)
        }
        return way
    }

    private func blobPath(_ sha256: String) -> String { Path.join(path, "blobs/sha256-\(sha256)") }

    private func link(_ blob: ProvenFile) throws -> StoreLink.Way {
        try StoreLink.make(blobPath(blob.sha256), of: blob)
    }

    private func write(_ bytes: [UInt8], _ type: String) throws(AIError) -> OllamaManifest.Layer {
        let digest = ContentHasher.digest(of: bytes, like: .sha256("")).hex
        let place = blobPath(digest)
        try FileSystem.createDirectories(Path.parent(place))
        if try FileSystem.contents(place, limit: 16 << 20) != bytes {
            try FileSystem.replace(place, with: bytes, durable: true)
        }
        return OllamaManifest.Layer(type, digest, Int64(bytes.count))
    }

    /// https://github.com/ollama/ollama/blob/main/types/model/config.go
    private func configuration(_ header: GGUFHeader, _ quantization: String?) -> [UInt8] {
        let family = header["general.architecture"]?.string ?? "unknown"
        let elements = header.tensors.reduce(0.0) { $0 + Double($1.elementCount) }
        let billions = elements / 1e9
        let size =
            billions >= 1 ? "\((billions * 10).rounded() / 10)B" : "\((elements / 1e6 * 100).rounded() / 100)M"
        let json: JSONObject = [
            "model_format": "gguf", "model_family": .string(family), "model_families": .array([.string(family)]),
            "model_type": .string(size), "file_type": .string(quantization ?? "unknown"),
            // ollama writes these two whatever the machine is.
            "architecture": "amd64", "os": "linux",
        ]
        return Array(JSON.object(json).text(.compact).utf8)
    }
}
