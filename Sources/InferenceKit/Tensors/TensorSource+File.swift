import HubCore
import ModelFormats

extension TensorSource {
    /// The tensors of a single file, safetensors or a PyTorch checkpoint: a dense layer of a sentence model.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a broken file, ``ErrorCode/unsupportedModel`` for a checkpoint with
    ///   anything but tensors, or the error of the failed system call.
    init(file path: String) throws(AIError) { try self.init(try StoredWeights(file: path), nil) }

    /// A vector or matrix as float32, row by row.
    ///
    /// - Throws: as ``matrix(_:rows:columns:isTransposed:)`` does.
    func floats(_ name: String) throws(AIError) -> (shape: [Int], values: FloatBuffer) {
        let shape = try list.shape(name)
        switch shape.count {
        case 1: return (shape, try vector(name, shape[0]))
        case 2: return (shape, try matrix(name, rows: shape[0], columns: shape[1]).widened())
        default:
            throw .malformed(path, "tensor \"\(name)\" has the shape \(shape); a vector or a matrix was expected")
        }
    }
}

extension StoredWeights {
    /// The tensors of a single file, by its header.
    ///
    /// - Throws: as ``TensorSource/init(file:)`` does.
    init(file path: String) throws(AIError) {
        if WeightFormat(fileName: Path.name(path)) == .pickle {
            self.init([try TorchFile(weights: path)])
        } else {
            let size = try FileSystem.status(path)?.size ?? 0
            let header = try SafetensorsHeader(file: path)
            self.init(safetensors: [.init(path: path, fileSize: size, header: header)])
        }
    }
}
