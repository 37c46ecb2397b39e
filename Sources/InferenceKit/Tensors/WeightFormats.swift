import CKernels
import ModelFormats

/// The formats of weights that there are kernels for.
enum WeightFormats {
    /// By the name of the type in safetensors and GGUF: `BF16`, `Q4_K`.
    static let named: [String: hub_format] = {
        var formats: [String: hub_format] = [:]
        for number in 0..<HUB_FORMAT_COUNT.rawValue where hub_info(hub_format(number)).ggml >= 0 {
            formats[String(cString: hub_info(hub_format(number)).name).uppercased()] = hub_format(number)
        }
        return formats
    }()

    /// Floats that need no unpacking: safetensors, norms of GGUF.
    static func isFloat(_ format: hub_format) -> Bool { [HUB_F32, HUB_F16, HUB_BF16].contains(format) }

    /// The types of stored tensors without kernels, sorted; masks and position numbers are no weights. Packed words of MLX
    /// are judged by their quantisation.
    static func missing(_ weights: StoredWeights, isMLX: Bool) -> [String] {
        let types = Set(weights.tensors.lazy.filter { TensorPart($0.name) != .buffer }.map(\.type))
        return types.filter { named[$0] == nil && !(isMLX && $0 == TensorDataType.u32.rawValue) }.sorted()
    }
}
