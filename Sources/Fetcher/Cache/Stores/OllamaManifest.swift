package import HubCore

/// A model's name as ollama has it. https://github.com/ollama/ollama/blob/main/types/model/name.go
package struct OllamaName: Sendable, Hashable {
    package var host = "registry.ollama.ai"
    package var namespace = "library"
    package var model: String
    package var tag = "latest"

    package init(host: String, namespace: String, model: String, tag: String) {
        (self.host, self.namespace, self.model, self.tag) = (host, namespace, model, tag)
    }

    /// Reads `[HOST/][NAMESPACE/]MODEL[:TAG]`.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for what ollama does not accept.
    package init(parsing text: String) throws(AIError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard (1...3).contains(parts.count), let last = parts.last else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is not a name of ollama",
                advice: "write it as NAME:TAG or NAMESPACE/NAME:TAG")
        }
        let name = last.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        model = name[0]
        if name.count == 2 { tag = name[1] }
        if parts.count > 1 { namespace = parts[parts.count - 2] }
        if parts.count > 2 { host = parts[0] }
        for (part, what) in [(host, "host"), (namespace, "namespace"), (model, "name"), (tag, "tag")] {
            if let fault = Self.fault(part, what) {
                throw AIError(.invalidInput, "ollama does not accept \"\(text.printable)\": \(fault)")
            }
        }
    }

    /// Why ollama refuses a part of a name; nil if it takes it.
    private static func fault(_ part: String, _ what: String) -> String? {
        let most = what == "host" ? 350 : 80
        guard !part.isEmpty, part.utf8.count <= most else { return "its \(what) must have 1 to \(most) characters" }
        func isWord(_ byte: UInt8) -> Bool {
            let scalar = UnicodeScalar(byte)
            return byte < 0x80 && (scalar.properties.isAlphabetic || (48...57).contains(byte) || byte == 95)
        }
        let others: [UInt8] =
            switch what {
            case "host": Array("-.:".utf8)
            case "namespace": Array("-".utf8)
            default: Array("-.".utf8)
            }
        guard isWord(part.utf8.first!), part.utf8.allSatisfy({ isWord($0) || others.contains($0) }) else {
            return "its \(what) \"\(part.printable)\" has characters that are not allowed there"
        }
        return nil
    }

    /// The manifest's path below the store's folder.
    package var path: String { "manifests/\(host)/\(namespace)/\(model)/\(tag)" }

    /// As `ollama list` shows it.
    package var text: String {
        let name = "\(model):\(tag)"
        if host != "registry.ollama.ai" { return "\(host)/\(namespace)/\(name)" }
        return namespace == "library" ? name : "\(namespace)/\(name)"
    }

    /// `org/name` of a model that ollama fetched from the Hub, else ``text``.
    var hubName: String { host == "hf.co" || host == "huggingface.co" ? "\(namespace)/\(model)" : text }
}

/// What a manifest of ollama says: the blobs of a model.
package struct OllamaManifest: Sendable, Hashable {
    package struct Layer: Sendable, Hashable {
        package var mediaType: String
        /// SHA-256 in hexadecimal digits.
        package var digest: String
        package var size: Int64

        package init(_ mediaType: String, _ digest: String, _ size: Int64) {
            (self.mediaType, self.digest, self.size) = (mediaType, digest, size)
        }

        fileprivate init?(_ json: JSON?) {
            guard let object = json?.object, let text = object["digest"]?.string,
                let hex = text.dropping(prefix: "sha256:"), case .sha256 = ContentDigest(etag: hex)
            else { return nil }
            self.init(object["mediaType"]?.string ?? "", hex, max(0, object["size"]?.int ?? 0))
        }

        fileprivate var json: JSON {
            .object([
                "mediaType": .string(mediaType), "digest": .string("sha256:\(digest)"), "size": .int(size),
            ])
        }
    }

    package var config: Layer
    package var layers: [Layer]

    package init(config: Layer, layers: [Layer]) { (self.config, self.layers) = (config, layers) }

    /// nil for a file that is not a manifest.
    static func read(_ path: String) -> OllamaManifest? {
        let bytes = (try? FileSystem.contents(path, limit: 1 << 20)) ?? nil
        guard let json = bytes.flatMap({ try? JSON.parse($0) })?.object, let config = Layer(json["config"]),
            let layers = json["layers"]?.array?.compactMap(Layer.init)
        else { return nil }
        return OllamaManifest(config: config, layers: layers)
    }

    package var bytes: [UInt8] {
        let json: JSONObject = [
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": config.json, "layers": .array(layers.map(\.json)),
        ]
        return Array(JSON.object(json).text(.compact).utf8)
    }
}
