import HubCore

/// The stores of other programs in a home folder, in the layouts that these programs write.
package struct ForeignStores: Sendable {
    package let home: String

    package init(home: String) { self.home = home }

    package var ollama: String { Path.join(home, ".ollama/models") }
    package var lmStudio: String { Path.join(home, ".lmstudio/models") }
    package var llamaCpp: String { Path.join(home, ".cache/llama.cpp") }
    package var jan: String { Path.join(home, ".local/share/Jan/data/llamacpp/models") }

    /// Bytes of a GGUF that nobody else has, at least as large as files that hub compares.
    package static func weights(_ seed: UInt64, count: Int = 1 << 20) -> [UInt8] {
        var random = SeededRandom(number: seed)
        var bytes = Array("GGUF".utf8)
        while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes += $0 } }
        return Array(bytes[..<count])
    }

    package static func digest(_ bytes: [UInt8]) -> String {
        ContentHasher.digest(of: bytes, like: .sha256("")).hex
    }

    private func write(_ path: String, _ bytes: [UInt8]) throws {
        try FileSystem.createDirectories(Path.parent(path))
        try FileSystem.replace(path, with: bytes)
    }

    /// A model as `ollama pull` leaves it.
    ///
    /// - Parameter name: the four levels below `manifests`.
    /// - Returns: the path of the weights.
    @discardableResult
    package func addOllama(_ name: String, _ weights: [UInt8], params: String? = nil) throws -> String {
        func blob(_ bytes: [UInt8], _ type: String) throws -> JSON {
            let digest = Self.digest(bytes)
            let path = Path.join(ollama, "blobs/sha256-\(digest)")
            if !FileSystem.exists(path) { try write(path, bytes) }
            return .object([
                "mediaType": .string(type), "digest": .string("sha256:\(digest)"), "size": .int(Int64(bytes.count)),
            ])
        }
        let config = #"{"model_format":"gguf","model_family":"llama","model_type":"1.2B","file_type":"Q4_K_M"}"#
        var layers = [try blob(weights, "application/vnd.ollama.image.model")]
        if let params { layers.append(try blob(Array(params.utf8), "application/vnd.ollama.image.params")) }
        let manifest = JSON.object([
            "schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": try blob(Array(config.utf8), "application/vnd.docker.container.image.v1+json"),
            "layers": .array(layers),
        ])
        try write(Path.join(ollama, "manifests/\(name)"), Array(manifest.text(.compact).utf8))
        return Path.join(ollama, "blobs/sha256-\(Self.digest(weights))")
    }

    /// A download of ollama that is under way: sparse, at its full size at once.
    package func addOllamaPartial(_ digest: String, size: Int64) throws {
        let path = Path.join(ollama, "blobs/sha256-\(digest)-partial")
        try write(path, [])
        try FileDescriptor(path, [.write]).truncate(to: size)
        try write(path + "-0", Array(#"{"N":0,"Offset":0,"Size":\#(size),"Completed":0}"#.utf8))
    }

    /// `models/PUBLISHER/MODEL/FILE`.
    @discardableResult
    package func addLMStudio(_ model: String, _ file: String, _ weights: [UInt8]) throws -> String {
        let path = Path.join(lmStudio, "\(model)/\(file)")
        try write(path, weights)
        return path
    }

    /// A file of llama.cpp's flat cache, with its manifest.
    @discardableResult
    package func addLlamaCpp(_ owner: String, _ repository: String, _ file: String, _ weights: [UInt8]) throws
        -> String
    {
        let path = Path.join(llamaCpp, "\(owner)_\(repository)_\(file)")
        try write(path, weights)
        let manifest = JSON.object([
            "ggufFile": .object(["rfilename": .string(file), "size": .int(Int64(weights.count))])
        ])
        try write(
            Path.join(llamaCpp, "manifest=\(owner)=\(repository)=latest.json"), Array(manifest.text(.compact).utf8))
        return path
    }

    /// `ID/model.yml` and `ID/model.gguf`.
    @discardableResult
    package func addJan(_ id: String, _ weights: [UInt8]) throws -> String {
        let folder = Path.join(jan, id)
        try write(
            Path.join(folder, "model.yml"),
            Array("model_path: llamacpp/models/\(id)/model.gguf\nname: \(id)\nsize_bytes: \(weights.count)\n".utf8))
        try write(Path.join(folder, "model.gguf"), weights)
        return Path.join(folder, "model.gguf")
    }
}
