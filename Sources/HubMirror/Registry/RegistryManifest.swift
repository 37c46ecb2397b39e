import Fetcher
import HubCore
import ModelFormats

/// The manifest of a GGUF model in the form that `ollama pull` reads, and the small texts it names.
///
/// A Hub makes manifests itself and knows more: it translates chat templates. This one is for a cache without a Hub, or a Hub
/// without a registry. https://huggingface.co/docs/hub/ollama
struct RegistryManifest {
    /// The document.
    private(set) var bytes: [UInt8] = []
    /// Contents that are files of no repository, by SHA-256.
    private(set) var texts: [String: [UInt8]] = [:]

    /// - Parameters:
    ///   - tag: a quantisation, the name of a file, or `latest`; case does not matter.
    ///   - architecture: the GGUF's, if known.
    ///   - content: reads a small file.
    /// - Throws: ``ErrorCode/nothingMatches`` or ``ErrorCode/invalidInput`` if the tag names no model that Ollama takes.
    init(
        _ known: KnownTree, tag: String, architecture: String?, content: (RepositoryFile) async throws -> [UInt8]
    ) async throws {
        let name = known.repository.id.name
        let ggufs = known.tree.files.filter { $0.path.lowercased().hasSuffix(".gguf") }
        let files = ModelFiles(ggufs)
        let model: RepositoryFile
        var variant: ModelVariant?
        if let named = ggufs.first(where: { Path.name($0.path).lowercased() == tag.lowercased() }) {
            model = named
            variant = files.variants.first { $0.files.contains(named.path) }
        } else {
            let chosen = try Self.variant(tag, files, name)
            guard chosen.files.count == 1, let file = known.file(chosen.files[0]) else {
                throw AIError(
                    .invalidInput, "\(name):\(tag.printable) has \(chosen.files.count) files; Ollama takes one")
            }
            (model, variant) = (file, chosen)
        }
        var layers = [try Self.layer("model", model)]
        let companions = Set(variant.map { files.paths(of: $0) } ?? []).subtracting(variant?.files ?? [])
        for file in ggufs where companions.contains(file.path) { layers.append(try Self.layer("projector", file)) }
        // Texts that a repository has for Ollama.
        for kind in ["template", "system", "params"] {
            guard let file = known.file(kind), file.size <= 1 << 20 else { continue }
            layers.append(addText("application/vnd.ollama.image.\(kind)", try await content(file)))
        }
        let family = JSON.string(architecture ?? "")
        let configuration: JSON = .object([
            "model_format": "gguf", "model_family": family, "model_families": .array([family]),
            "file_type": .string(variant?.quantization ?? ""), "architecture": "amd64", "os": "linux",
            "rootfs": .object(["type": "layers", "diff_ids": .array(layers.compactMap { $0["digest"] })]),
        ])
        let config = addText(
            "application/vnd.docker.container.image.v1+json", Array(configuration.text().utf8))
        let document: JSON = .object([
            "schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": config, "layers": .array(layers),
        ])
        bytes = Array(document.text().utf8)
    }

    /// The set of weights that a tag names; for `latest` Q4_K_M, else the largest quantised one.
    private static func variant(_ tag: String, _ files: ModelFiles, _ name: String) throws(AIError) -> ModelVariant
    {
        let anyMachine = WeightChoice.Target(memoryBytes: .max, runsMLX: false)
        func choose(_ quantization: String?) throws(AIError) -> ModelVariant? {
            try WeightChoice(format: quantization == nil ? .auto : .gguf, quantization: quantization)
                .choose(from: files, of: name, for: anyMachine)
        }
        var found: ModelVariant?
        if tag.lowercased() == "latest" {
            do throws(AIError) { found = try choose("Q4_K_M") } catch { found = try choose(nil) }
        } else {
            found = try choose(tag)
        }
        guard let found else { throw AIError(.nothingMatches, "\(name) has no GGUF weights") }
        return found
    }

    private static func layer(_ kind: String, _ file: RepositoryFile) throws(AIError) -> JSON {
        guard let digest = file.sha256 else {
            throw AIError(.invalidInput, "\(file.path.printable) is not in LFS, so its SHA-256 is not known")
        }
        return layer("application/vnd.ollama.image.\(kind)", digest, file.size)
    }

    private static func layer(_ type: String, _ digest: String, _ size: Int64) -> JSON {
        .object(["mediaType": .string(type), "digest": .string("sha256:\(digest)"), "size": .int(size)])
    }

    private mutating func addText(_ type: String, _ bytes: [UInt8]) -> JSON {
        let digest = ContentHasher.digest(of: bytes, like: .sha256("")).hex
        texts[digest] = bytes
        return Self.layer(type, digest, Int64(bytes.count))
    }
}
