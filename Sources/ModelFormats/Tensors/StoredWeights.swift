import HubCore

/// One tensor as it is stored, whatever the format.
package struct StoredTensor: Sendable, Hashable {
    /// Without ``StoredWeights/wrapper``.
    package let name: String
    /// `BF16`, `Q4_K`, …
    package let type: String
    /// In Python's order: the last dimension is contiguous.
    package var shape: [Int]
    package let elementCount: Int
    /// Bytes in the file.
    package let byteCount: Int
    /// Their offset in the file; nil if they are not in one piece.
    package let offset: Int?
    /// Its index in ``StoredWeights/files``.
    package let file: Int
    /// Whether the bytes are in the order of the columns of a matrix of `shape`.
    package var isTransposed = false
    /// Whether its bytes are those of an earlier tensor: PyTorch lists tied weights under every name.
    package var isTied = false
}

/// The tensors of a model over all its files, as their headers list them.
package struct StoredWeights: Sendable {
    package struct File: Sendable, Hashable {
        package let path: String
        package let size: Int64
        package let format: WeightFormat
        /// The end of the last tensor, without and with padding; nil if the header was already checked against the file
        /// size.
        package var ends: ClosedRange<Int64>?
    }

    package let files: [File]
    package let tensors: [StoredTensor]
    /// What stands before the names of all tensors in the files, and is left out here: PyTorch's wrappers.
    package let wrapper: String

    package init(_ folder: SafetensorsFolder) { self.init(safetensors: folder.shards) }

    /// Also for files without an index.
    package init(safetensors shards: [SafetensorsFolder.Shard]) {
        files = shards.map { File(path: $0.path, size: $0.fileSize, format: .safetensors) }
        let wrapper = WrappedNames.prefix(shards.flatMap { $0.header.tensors.map(\.name) })
        self.wrapper = wrapper
        tensors = shards.enumerated().flatMap { index, shard in
            shard.header.tensors.map { tensor in
                StoredTensor(
                    name: Self.name(tensor.name, without: wrapper), type: tensor.dataType.rawValue,
                    shape: tensor.shape,
                    elementCount: tensor.elementCount, byteCount: tensor.byteRange.count,
                    offset: tensor.byteRange.lowerBound, file: index)
            }
        }
    }

    package init(_ model: GGUFModel) {
        files = model.shards.map {
            File(path: $0.path, size: $0.fileSize, format: .gguf, ends: $0.header.ends)
        }
        wrapper = ""
        tensors = model.shards.enumerated().flatMap { index, shard in
            shard.header.tensors.map { tensor in
                StoredTensor(
                    name: tensor.name, type: tensor.type.name, shape: tensor.dimensions.reversed(),
                    elementCount: tensor.elementCount, byteCount: tensor.byteRange.count,
                    offset: tensor.byteRange.lowerBound, file: index)
            }
        }
    }

    package init(_ checkpoints: [TorchFile]) {
        files = checkpoints.map { File(path: $0.path, size: $0.fileSize, format: .pickle) }
        let wrapper = WrappedNames.prefix(checkpoints.flatMap { $0.tensors.map(\.name) })
        self.wrapper = wrapper
        var places = checkpoints.map { _ in Set<Range<Int>>() }
        tensors = checkpoints.enumerated().flatMap { index, file in
            file.tensors.map { tensor in
                let bits = TensorDataType(rawValue: tensor.dataType)?.bits ?? 8
                let (all, overflow) = tensor.elementCount.multipliedReportingOverflow(by: bits)
                return StoredTensor(
                    name: Self.name(tensor.name, without: wrapper), type: tensor.dataType, shape: tensor.shape,
                    elementCount: tensor.elementCount,
                    byteCount: overflow ? .max : all / 8, offset: tensor.byteRange?.lowerBound, file: index,
                    isTransposed: tensor.isTransposed,
                    isTied: tensor.byteRange.map { !$0.isEmpty && !places[index].insert($0).inserted } ?? false)
            }
        }
    }

    /// The name as the file has it.
    package func storedName(_ tensor: StoredTensor) -> String { wrapper + tensor.name }

    private static func name(_ stored: String, without wrapper: String) -> String {
        wrapper.isEmpty ? stored : String(stored.dropFirst(wrapper.count))
    }

    /// Bytes of all tensors, tied ones once.
    package var tensorBytes: Int64 {
        tensors.lazy.filter { !$0.isTied }.reduce(ByteCount(0)) { $0 + ByteCount(Int64($1.byteCount)) }.bytes
    }

    /// Elements by type, packed weights counted as words: `["BF16": 1115264]`.
    package var dataTypes: [String: Int64] {
        tensors.lazy.filter { !$0.isTied }.reduce(into: [:]) { counts, tensor in
            let sum = ByteCount(counts[tensor.type] ?? 0) + ByteCount(Int64(tensor.elementCount))
            counts[tensor.type] = sum.bytes
        }
    }
}
