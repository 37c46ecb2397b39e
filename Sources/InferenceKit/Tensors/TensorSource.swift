import CKernels
import HubCore
import ModelFormats

/// The tensors of a model in its mapped files: safetensors, with MLX's packed matrices, or GGUF.
struct TensorSource: Sendable {
    private let weights: StoredWeights
    private let files: [MappedFile]
    private let places: [String: Int]
    private let quantization: QuantizationConfiguration?
    /// The first file, for errors about what is not there.
    let path: String

    /// Maps the files.
    ///
    /// - Throws: The error of the failed system call.
    init(_ weights: StoredWeights, _ quantization: QuantizationConfiguration?) throws(AIError) {
        self.weights = weights
        self.quantization = quantization
        var files: [MappedFile] = []
        for file in weights.files { files.append(try MappedFile(file.path)) }
        self.files = files
        places = Dictionary(
            weights.tensors.enumerated().map { (Self.plain($1.name), $0) }, uniquingKeysWith: { first, _ in first })
        path = weights.files.first?.path ?? ""
    }

    /// Names as of today: early checkpoints of BERT call a LayerNorm's parameters gamma and beta; a matrix to which
    /// torch.nn.utils.parametrize adds something is stored as an original.
    static func plain(_ name: String) -> String {
        if name.hasSuffix(original) { return name.dropLast(original.count) + ".weight" }
        guard name.hasSuffix("gamma") || name.hasSuffix("beta") else { return name }
        return name.replacing("LayerNorm.gamma", with: "LayerNorm.weight")
            .replacing("LayerNorm.beta", with: "LayerNorm.bias")
    }

    private static let original = ".parametrizations.weight.original"

    var names: some Sequence<String> { places.keys }
    func has(_ name: String) -> Bool { places[name] != nil }
    func shape(_ name: String) throws(AIError) -> [Int] { try find(name).shape }

    /// Whether a tensor has the bytes of one of the others: PyTorch lists tied weights under every name.
    func isTied(_ name: String, to others: Set<String>) -> Bool {
        guard let place = places[name], let offset = weights.tensors[place].offset else { return false }
        let (file, count) = (weights.tensors[place].file, weights.tensors[place].byteCount)
        return count > 0
            && others.contains { other in
                let other = weights.tensors[places[other]!]
                return other.offset == offset && other.file == file && other.byteCount == count
            }
    }

    /// The names of stored tensors that belong to one of this name: its packed words, scales and biases.
    func members(_ name: String) -> [String] {
        guard isPacked(name) else { return [name] }
        let stem = String(name.dropLast(".weight".count))
        return [name, stem + ".scales", stem + ".biases"]
    }

    /// A matrix of `rows` by `columns`; stored turned if `isTransposed`.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a tensor that is missing or has another shape,
    ///   ``ErrorCode/unsupportedModel`` for a type without kernels.
    func matrix(_ name: String, rows: Int, columns: Int, isTransposed: Bool = false) throws(AIError) -> WeightMatrix
    {
        try matrix(name, stack: 1, rows: rows, columns: columns, isTransposed: isTransposed)
    }

    /// Matrices of `rows` by `columns` each, which are one tensor.
    ///
    /// - Throws: as ``matrix(_:rows:columns:isTransposed:)`` does.
    func matrices(_ name: String, count: Int, rows: Int, columns: Int, isTransposed: Bool = false) throws(AIError)
        -> [WeightMatrix]
    {
        if isTransposed {
            let whole = try matrix(name, stack: count, rows: rows, columns: count * columns, isTransposed: true)
            return (0..<count).map { whole.columns($0 * columns..<($0 + 1) * columns) }
        }
        let whole = try matrix(name, stack: count, rows: count * rows, columns: columns, isTransposed: false)
        return (0..<count).map { whole.rows($0 * rows..<($0 + 1) * rows) }
    }

    /// - Parameter stack: how many matrices a tensor with three dimensions holds, one above the other.
    private func matrix(_ name: String, stack: Int, rows: Int, columns: Int, isTransposed: Bool) throws(AIError)
        -> WeightMatrix
    {
        let tensor = try find(name, stack: stack)
        let file = files[tensor.file]
        if isPacked(name) { return try packed(tensor, stack, rows, columns) }
        guard let format = WeightFormats.named[tensor.type] else {
            throw .unsupported(file.path, "\(tensor.type) weights (tensor \"\(name)\") cannot be run yet")
        }
        // A matrix of one row may be a vector.
        if rows > 1 || tensor.shape != [columns] {
            try check(tensor, isTransposed ? [columns, rows] : [rows, columns])
        }
        // PyTorch stores a matrix that was transposed without a copy in the order of its columns.
        let isTransposed = isTransposed != tensor.isTransposed
        let info = hub_info(format)
        let (length, block) = (isTransposed ? rows : columns, Int(info.block))
        guard length % block == 0, !isTransposed || WeightFormats.isFloat(format) else {
            throw .malformed(
                file.path, "tensor \"\(name)\": rows of \(length) are not whole blocks of \(tensor.type)")
        }
        var layout = hub_matrix()
        layout.weights = UnsafeRawPointer(try address(tensor))
        layout.stride = length / block * Int(info.bytes)
        layout.rows = rows
        layout.columns = columns
        layout.format = format
        layout.transposed = isTransposed
        return WeightMatrix(layout, in: [file])
    }

    /// A vector as float32: norms and biases.
    func vector(_ name: String, _ count: Int) throws(AIError) -> FloatBuffer {
        let tensor = try find(name)
        guard let format = WeightFormats.named[tensor.type], WeightFormats.isFloat(format) else {
            throw .unsupported(
                files[tensor.file].path, "\(tensor.type) weights (tensor \"\(name)\") cannot be run yet")
        }
        try check(tensor, [count])
        let out = FloatBuffer(count)
        hub_widen(format, try address(tensor), count, out.start)
        return out
    }

    /// - Parameter stack: the matrices that one tensor may hold; then it is one above the other.
    private func find(_ name: String, stack: Int? = nil) throws(AIError) -> StoredTensor {
        guard let place = places[name] else { throw .malformed(path, "tensor \"\(name)\" is missing") }
        var tensor = weights.tensors[place]
        if let stack, tensor.shape.count == 3, tensor.shape[0] == stack {
            tensor.shape = [tensor.shape[0] * tensor.shape[1], tensor.shape[2]]
        }
        return tensor
    }

    private func check(_ tensor: StoredTensor, _ shape: [Int]) throws(AIError) {
        guard tensor.shape == shape else {
            throw .malformed(
                files[tensor.file].path,
                "tensor \"\(tensor.name)\" has the shape \(tensor.shape); the configuration says \(shape)")
        }
    }

    /// The header was read before the file was mapped: a shorter file may have replaced it since.
    private func address(_ tensor: StoredTensor) throws(AIError) -> UnsafeRawPointer {
        let file = files[tensor.file]
        guard let offset = tensor.offset, let base = file.bytes.baseAddress, offset >= 0,
            tensor.byteCount <= file.bytes.count, offset <= file.bytes.count - tensor.byteCount
        else { throw .malformed(file.path, "the file changed while it was being opened") }
        return base + offset
    }

    // MARK: MLX

    private func isPacked(_ name: String) -> Bool {
        guard name.hasSuffix(".weight"), let place = places[name] else { return false }
        return weights.tensors[place].type == TensorDataType.u32.rawValue
            && has(name.dropLast("weight".count) + "scales")
    }

    /// Weights in words of 32 bits, scales and biases by groups; the shapes say how many bits.
    private func packed(_ tensor: StoredTensor, _ stack: Int, _ rows: Int, _ columns: Int) throws(AIError)
        -> WeightMatrix
    {
        let stem = String(tensor.name.dropLast(".weight".count))
        let scales = try find(stem + ".scales", stack: stack)
        let biases = try find(stem + ".biases", stack: stack)
        let path = files[tensor.file].path
        guard tensor.shape.count == 2, tensor.shape[0] == rows, columns > 0, tensor.shape[1] * 32 % columns == 0,
            scales.shape.count == 2, scales.shape[0] == rows, scales.shape[1] > 0, columns % scales.shape[1] == 0,
            biases.shape == scales.shape, biases.type == scales.type
        else {
            throw .malformed(
                path,
                "tensor \"\(tensor.name)\" has the shape \(tensor.shape) and scales of \(scales.shape); the configuration says [\(rows), \(columns)]"
            )
        }
        let bits = tensor.shape[1] * 32 / columns
        let group = columns / scales.shape[1]
        guard QuantizationConfiguration.mlxBits.contains(bits), group % 8 == 0, group <= Int(UInt16.max),
            let format = WeightFormats.named[scales.type], WeightFormats.isFloat(format)
        else {
            throw .unsupported(
                path, "\(bits)-bit weights in groups of \(group) (tensor \"\(tensor.name)\") cannot be run yet")
        }
        var layout = hub_matrix()
        layout.weights = UnsafeRawPointer(try address(tensor))
        layout.stride = tensor.shape[1] * 4
        layout.rows = rows
        layout.columns = columns
        layout.format = HUB_MLX
        layout.bits = UInt8(bits)
        layout.group = UInt16(group)
        layout.scale_format = format
        layout.scales = UnsafeRawPointer(try address(scales))
        layout.biases = UnsafeRawPointer(try address(biases))
        return WeightMatrix(layout, in: [tensor, scales, biases].map { files[$0.file] })
    }
}
