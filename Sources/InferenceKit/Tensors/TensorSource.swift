import CKernels
import HubCore
import ModelFormats

/// The tensors of a model in its mapped files: safetensors, with packed matrices as ``Packing`` says, or GGUF.
struct TensorSource: Sendable {
    let list: TensorList
    let files: [MappedFile]
    let quantization: QuantizationConfiguration?
    /// Where the tensors are that were asked for.
    private let read = Lock<Set<StoredTensor.Place>>([])

    /// Maps the files.
    ///
    /// - Throws: The error of the failed system call.
    init(_ weights: StoredWeights, _ quantization: QuantizationConfiguration?) throws(AIError) {
        list = TensorList(weights)
        self.quantization = quantization
        var files: [MappedFile] = []
        for file in weights.files { files.append(try MappedFile(file.path)) }
        self.files = files
    }

    /// The first file, for errors about what is not there.
    var path: String { list.path }
    /// Bytes of the tensors that were asked for, each once.
    var readBytes: Int64 { read.withLock { $0.bytes } }

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
        if list.hasBlocks(name) { return try blocks(name, count: count, rows: rows, columns: columns) }
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
        let tensor = try list.find(name, stack: stack)
        let file = files[tensor.file]
        if let packing = Packing(name, in: list) {
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
        guard !isTransposed || WeightFormats.isFloat(format) else {
            throw .unsupported(file.path, "turned \(tensor.type) weights (tensor \"\(name)\") cannot be run yet")
        }
        var layout = try blocks(
            tensor, format, rows: isTransposed ? columns : rows, columns: isTransposed ? rows : columns)
        (layout.rows, layout.columns, layout.transposed) = (rows, columns, isTransposed)
        return WeightMatrix(layout, in: [file])
    }

    /// Stored rows of whole blocks; numbers of a float format are blocks of one.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for rows that end in the midst of a block.
    func blocks(_ tensor: StoredTensor, _ format: hub_format, rows: Int, columns: Int) throws(AIError) -> hub_matrix
    {
        let info = hub_info(format)
        guard columns % Int(info.block) == 0 else {
            throw .malformed(
                path(tensor),
                "tensor \"\(tensor.name)\": rows of \(columns) are not whole blocks of \(tensor.type)")
        }
        var layout = hub_matrix()
        layout.weights = UnsafeRawPointer(try address(tensor))
        layout.stride = columns / Int(info.block) * Int(info.bytes)
        (layout.rows, layout.columns, layout.format, layout.factor) = (rows, columns, format, 1)
        return layout
    }

    /// A tensor of this shape as a matrix, its first dimension by the others.
    ///
    /// - Throws: as ``matrix(_:rows:columns:isTransposed:)`` does.
    func kernel(_ name: String, _ shape: [Int]) throws(AIError) -> WeightMatrix {
        let tensor = try list.find(name)
        if tensor.shape.count != 2 { try check(tensor, shape) }
        guard tensor.shape.count > 2 else {
            return try matrix(name, rows: shape[0], columns: shape[1...].reduce(1, *))
        }
        guard !tensor.isTransposed, let format = WeightFormats.named[tensor.type], WeightFormats.isFloat(format)
        else { throw .unsupported(path(tensor), "\(tensor.type) weights (tensor \"\(name)\") cannot be run yet") }
        var layout = hub_matrix()
        layout.weights = UnsafeRawPointer(try address(tensor))
        (layout.rows, layout.columns, layout.format) = (shape[0], shape[1...].reduce(1, *), format)
        layout.stride = layout.columns * Int(hub_info(format).bytes)
        return matrix(layout, of: [tensor])
    }

    /// A vector as float32: norms and biases.
    func vector(_ name: String, _ count: Int) throws(AIError) -> FloatBuffer { try numbers(name, [count]) }

    /// All numbers of a tensor of this shape as float32, row after row.
    func numbers(_ name: String, _ shape: [Int]) throws(AIError) -> FloatBuffer {
        let tensor = try list.find(name)
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
        read.withLock { _ = $0.insert(tensor.place) }
        return base + offset
    }
}

extension [MappedFile] {
    /// - Throws: ``ErrorCode/fileChanged`` if one of them could not be read.
    func checkIntact() throws(AIError) { for file in self { try file.checkIntact() } }
}
