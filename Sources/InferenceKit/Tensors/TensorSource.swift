import CKernels
import HubCore
import ModelFormats

/// The tensors of a model in its mapped files: safetensors, with packed matrices as ``Packing`` says, or GGUF.
struct TensorSource: Sendable {
    private let weights: StoredWeights
    let files: [MappedFile]
    private let places: [String: Int]
    let quantization: QuantizationConfiguration?
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

    /// Names as of today, and those of packed weights as if they were not: early checkpoints of BERT call a LayerNorm's
    /// parameters gamma and beta; a matrix to which torch.nn.utils.parametrize adds something is stored as an original.
    static func plain(_ name: String) -> String {
        for ending in weights where name.hasSuffix(ending) { return name.dropLast(ending.count) + ".weight" }
        guard name.hasSuffix("gamma") || name.hasSuffix("beta") else { return name }
        return name.replacing("LayerNorm.gamma", with: "LayerNorm.weight")
            .replacing("LayerNorm.beta", with: "LayerNorm.bias")
    }

    private static let weights = [".parametrizations.weight.original", ".qweight", ".weight_packed"]

    var names: some Sequence<String> { places.keys }
    func has(_ name: String) -> Bool { places[name] != nil }
    func shape(_ name: String) throws(AIError) -> [Int] { try find(name).shape }

    /// Those of the named tensors that have the bytes of one of the others: PyTorch lists tied weights under every name.
    func tied(_ names: Set<String>, to others: Set<String>) -> Set<String> {
        func place(_ name: String) -> Place? {
            guard let number = places[name], let offset = weights.tensors[number].offset else { return nil }
            let tensor = weights.tensors[number]
            return tensor.byteCount > 0 ? Place(file: tensor.file, offset: offset, count: tensor.byteCount) : nil
        }
        let used = Set(others.compactMap(place))
        return names.filter { place($0).map(used.contains) ?? false }
    }

    /// Where the bytes of a stored tensor are.
    private struct Place: Hashable {
        let file: Int
        let offset: Int
        let count: Int
    }

    /// The names of stored tensors that belong to one of this name: its packed weights, their scales, and the like.
    func members(_ name: String) -> [String] {
        hasBlocks(name)
            ? [name + "_blocks", name + "_scales"] : [name] + (Packing(name, in: self)?.companions ?? [])
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
        if hasBlocks(name) { return try blocks(name, count: count, rows: rows, columns: columns) }
        if isTransposed {
            let whole = try matrix(name, stack: count, rows: rows, columns: count * columns, isTransposed: true)
            return (0..<count).map { whole.columns($0 * columns..<($0 + 1) * columns) }
        }
        let whole = try matrix(name, stack: count, rows: count * rows, columns: columns, isTransposed: false)
        return try whole.parts(count)
    }

    /// - Parameter stack: how many matrices a tensor with three dimensions holds, one above the other.
    private func matrix(_ name: String, stack: Int, rows: Int, columns: Int, isTransposed: Bool) throws(AIError)
        -> WeightMatrix
    {
        let tensor = try find(name, stack: stack)
        let file = files[tensor.file]
        if let packing = Packing(name, in: self) {
            guard !isTransposed, !tensor.isTransposed else {
                throw .unsupported(file.path, "turned packed weights (tensor \"\(name)\") cannot be run yet")
            }
            return try packed(tensor, packing, stack, rows: rows, columns: columns)
        }
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
    func vector(_ name: String, _ count: Int) throws(AIError) -> FloatBuffer { try numbers(name, [count]) }

    /// All numbers of a tensor of this shape as float32, row after row.
    func numbers(_ name: String, _ shape: [Int]) throws(AIError) -> FloatBuffer {
        let tensor = try find(name)
        guard let format = WeightFormats.named[tensor.type], WeightFormats.isFloat(format) else {
            throw .unsupported(
                files[tensor.file].path, "\(tensor.type) weights (tensor \"\(name)\") cannot be run yet")
        }
        // BART's bias of logits is a matrix of one row, and ggml drops outer dimensions of one.
        let isSame = tensor.shape.drop { $0 == 1 } == shape.drop { $0 == 1 }
        if !isSame { try check(tensor, shape) }
        let count = shape.reduce(1, *)
        let out = FloatBuffer(count)
        hub_widen(format, try address(tensor), count, out.start)
        return out
    }

    /// - Parameter stack: the matrices that one tensor may hold; then it is one above the other.
    func find(_ name: String, stack: Int? = nil) throws(AIError) -> StoredTensor {
        guard let place = places[name] else { throw .malformed(path, "tensor \"\(name)\" is missing") }
        var tensor = weights.tensors[place]
        if let stack, tensor.shape.count == 3, tensor.shape[0] == stack {
            tensor.shape = [tensor.shape[0] * tensor.shape[1], tensor.shape[2]]
        }
        return tensor
    }

    func check(_ tensor: StoredTensor, _ shape: [Int]) throws(AIError) {
        guard tensor.shape == shape else {
            throw .malformed(
                files[tensor.file].path,
                "tensor \"\(tensor.name)\" has the shape \(tensor.shape); the configuration says \(shape)")
        }
    }

    /// The path of a tensor's file.
    func path(_ tensor: StoredTensor) -> String { files[tensor.file].path }

    /// A matrix that lies in several tensors.
    func matrix(_ layout: hub_matrix, of tensors: [StoredTensor]) -> WeightMatrix {
        WeightMatrix(layout, in: Set(tensors.map(\.file)).map { files[$0] })
    }

    /// The header was read before the file was mapped: a shorter file may have replaced it since.
    func address(_ tensor: StoredTensor) throws(AIError) -> UnsafeRawPointer {
        let file = files[tensor.file]
        guard let offset = tensor.offset, let base = file.bytes.baseAddress, offset >= 0,
            tensor.byteCount <= file.bytes.count, offset <= file.bytes.count - tensor.byteCount
        else { throw .malformed(file.path, "the file changed while it was being opened") }
        return base + offset
    }
}

extension [MappedFile] {
    /// - Throws: ``ErrorCode/fileChanged`` if one of them could not be read.
    func checkIntact() throws(AIError) { for file in self { try file.checkIntact() } }
}
