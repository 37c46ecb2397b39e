package import HubCore

/// The format of weight files, by name. The order is that of preference, the best first.
package enum WeightFormat: String, Sendable, Hashable, CaseIterable, Comparable {
    case safetensors = "safetensors"
    case gguf = "GGUF"
    /// Safetensors or NumPy files for Apple's MLX; a file's name alone rarely tells.
    case mlx = "MLX"
    case pickle = "PyTorch pickle"
    case onnx = "ONNX"
    case openVINO = "OpenVINO"
    case tensorFlow = "TensorFlow"
    case flax = "Flax"
    case coreML = "Core ML"
    case numpy = "NumPy"
    case ggml = "GGML"
    case llamafile = "llamafile"
    case rust = "Rust"
    case nemo = "NeMo"
    case paddle = "Paddle"
    case executorch = "ExecuTorch"
    case liteRT = "LiteRT"
    case tensorRT = "TensorRT"
    case metal = "Metal"

    /// One word for flags and JSON: `gguf`, `pytorch`, `coreml`.
    package var identifier: String {
        self == .pickle ? "pytorch" : rawValue.lowercased().filter { $0 != " " }
    }

    /// As ``SupportedModels`` names it.
    package var supportedName: String { self == .pickle ? "pickle" : identifier }

    /// By preference.
    package static func < (left: WeightFormat, right: WeightFormat) -> Bool {
        allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
    }

    /// Whether one model may be spread over files of this and similar formats.
    var isLoadable: Bool { [.safetensors, .mlx, .pickle].contains(self) }

    /// The format of a file name; nil if it is not a weight file.
    package init?(fileName: String) {
        let name = fileName.lowercased()
        if Self.isTrainingState(name) { return nil }
        // Before the extensions: `.onnx_data`, `encoder.mlmodelc.zip`, TensorFlow's `model.ckpt.index`, a `.bin` that
        // is not PyTorch's.
        let fragments: [(String, WeightFormat)] = [
            (".onnx_data", .onnx), (".onnx.data", .onnx), (".mlmodelc", .coreML), (".mlpackage", .coreML),
            (".ckpt.", .tensorFlow),
        ]
        if let found = fragments.first(where: { name.contains($0.0) }) {
            self = found.1
            return
        }
        if name.hasPrefix("openvino_"), name.hasSuffix(".bin") || name.hasSuffix(".xml") {
            self = .openVINO
            return
        }
        if name.hasSuffix(".bin"), name.contains("ggml") {
            self = .ggml
            return
        }
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")),
            let format = Self.endings[String(name[dot...].dropFirst())]
        else { return nil }
        self = format
    }

    private static let endings: [String: WeightFormat] = [
        "safetensors": .safetensors, "gguf": .gguf, "bin": .pickle, "pt": .pickle, "pth": .pickle, "ckpt": .pickle,
        "onnx": .onnx, "ort": .onnx, "h5": .tensorFlow, "pb": .tensorFlow, "keras": .tensorFlow,
        "tflite": .tensorFlow, "msgpack": .flax, "mlmodel": .coreML, "npz": .numpy, "llamafile": .llamafile,
        "ot": .rust, "nemo": .nemo, "pdparams": .paddle, "pdiparams": .paddle, "pte": .executorch,
        "litertlm": .liteRT, "task": .liteRT, "engine": .tensorRT,
    ]

    /// Whether it is a training state (optimizer, scheduler): larger than the weights and not part of them.
    package static func isTrainingState(_ fileName: String) -> Bool {
        let name = fileName.lowercased()
        return [
            "training_args.bin", "optimizer.pt", "optimizer.pth", "optimizer.bin", "scheduler.pt", "scheduler.bin",
            "scaler.pt",
        ].contains(name)
            || name.hasPrefix("rng_state") && name.hasSuffix(".pth")
            || name.hasPrefix("random_states") && name.hasSuffix(".pkl")
            || name.hasSuffix("optim_states.pt")
    }

    /// The formats in a folder, each with its first file.
    ///
    /// - Throws: ``ErrorCode/fileNotFound`` if there is no such folder.
    package static func inFolder(_ folder: String) throws(AIError) -> [(format: WeightFormat, evidence: String)] {
        guard let names = try FileSystem.entries(folder) else {
            throw AIError(.fileNotFound, "the folder \(folder) does not exist", context: .init(path: folder))
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
