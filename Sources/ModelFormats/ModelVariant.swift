package import HubCore

/// One set of weights of a repository: one of its GGUF quantisations, its safetensors, its PyTorch files. Told from the
/// names alone.
package struct ModelVariant: Sendable, Hashable {
    /// `Q4_K_M`, `safetensors`, or the name that several files share.
    package var name: String
    /// `gguf`, `safetensors`, `pytorch`, `onnx`.
    package var format: String
    /// For GGUF the quantisation in the name, as llama.cpp writes it.
    package var quantization: String?
    /// Paths, sorted.
    package var files: [String]
    package var sizeBytes: Int64

    /// The sets of weights among a repository's files: the smallest first, those of a folder of their own named by it.
    package static func find(_ files: [RepositoryFile]) -> [ModelVariant] {
        var groups: [String: ModelVariant] = [:]
        for file in files {
            guard let (key, blank) = variant(of: file.path) else { continue }
            groups[key, default: blank].files.append(file.path)
            groups[key]!.sizeBytes += file.size
        }
        return groups.values.sorted { ($0.sizeBytes, $0.name) < ($1.sizeBytes, $1.name) }
    }

    private static func variant(of path: String) -> (key: String, blank: ModelVariant)? {
        let name = Path.name(path).lowercased()
        let folder = Path.parent(path)
        func made(_ format: String, _ name: String, _ quantization: String? = nil) -> (String, ModelVariant) {
            let shown = folder == "." ? name : "\(folder)/\(name)"
            return ("\(format) \(shown)", ModelVariant(name: shown, format: format, quantization: quantization, files: [], sizeBytes: 0))
        }
        if name.hasSuffix(".gguf") {
            // Projectors and importance matrices run beside a model, not by themselves.
            let stem = withoutShard(String(Path.name(path).dropLast(".gguf".count)))
            let quantization = ggufQuantization(stem)
            return made("gguf", quantization ?? stem, quantization)
        }
        if name.hasSuffix(".safetensors") { return made("safetensors", "safetensors") }
        if name.hasPrefix("pytorch_model"), name.hasSuffix(".bin") { return made("pytorch", "pytorch") }
        if name.hasSuffix(".onnx") { return made("onnx", "onnx") }
        return nil
    }

    /// `model-00001-of-00003` is `model`.
    private static func withoutShard(_ stem: String) -> String {
        let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[parts.count - 2] == "of", parts.last!.allSatisfy(\.isNumber),
            parts[parts.count - 3].allSatisfy(\.isNumber)
        else { return stem }
        return parts.dropLast(3).joined(separator: "-")
    }

    /// The quantisation in a GGUF file's name: its last part that is one.
    /// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md#gguf-naming-convention
    private static func ggufQuantization(_ stem: String) -> String? {
        stem.split { $0 == "-" || $0 == "." }.reversed().lazy.compactMap { part -> String? in
            let upper = part.uppercased()
            if ["F16", "F32", "BF16", "MXFP4"].contains(upper) { return upper }
            var rest = Substring(upper)
            for prefix in ["IQ", "TQ", "Q"] where rest.hasPrefix(prefix) {
                rest = rest.dropFirst(prefix.count)
                guard let digit = rest.popFirst(), digit.isNumber, rest.first == "_", rest.count > 1,
                    rest.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
                else { return nil }
                return upper
            }
            return nil
        }.first
    }
}
