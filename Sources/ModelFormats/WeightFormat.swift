package import HubCore

/// The kind of weight files in a folder, by their names.
package enum WeightFormat: String, Sendable, Hashable {
    case safetensors = "safetensors"
    case gguf = "GGUF"
    case pickle = "PyTorch pickle"
    case onnx = "ONNX"
    case tensorFlow = "TensorFlow"
    case flax = "Flax"
    case coreML = "Core ML"
    case numpy = "NumPy"

    /// What a file name tells; nil for what is no weight file.
    package init?(fileName: String) {
        switch fileName.lowercased() {
        case let name where name.hasSuffix(".safetensors"): self = .safetensors
        case let name where name.hasSuffix(".gguf"): self = .gguf
        case let name where [".bin", ".pt", ".pth", ".ckpt"].contains { name.hasSuffix($0) }: self = .pickle
        case let name where name.hasSuffix(".onnx"): self = .onnx
        case let name where [".h5", ".tflite"].contains { name.hasSuffix($0) }: self = .tensorFlow
        case let name where name.hasSuffix(".msgpack"): self = .flax
        case let name where [".mlpackage", ".mlmodelc", ".mlmodel"].contains { name.hasSuffix($0) }: self = .coreML
        case let name where name.hasSuffix(".npz"): self = .numpy
        default: return nil
        }
    }

    /// The kinds in a folder, each with the first file that shows it.
    ///
    /// - Throws: ``ErrorCode/fileNotFound`` where there is no such folder.
    package static func inFolder(_ folder: String) throws(AIError) -> [(format: WeightFormat, evidence: String)] {
        guard let names = try FileSystem.entries(folder) else {
            throw AIError(.fileNotFound, "there is no folder \(folder)", context: .init(path: folder))
        }
        var found: [(format: WeightFormat, evidence: String)] = []
        for name in names {
            guard let format = WeightFormat(fileName: name), !found.contains(where: { $0.format == format }) else {
                continue
            }
            found.append((format, name))
        }
        return found
    }
}
