import HubCore
import ModelFormats

/// The tensors of a model by name, as the headers of its files list them. No weight is read.
struct TensorList: Sendable {
    private let weights: StoredWeights
    private let places: [String: Int]
    /// The first file, for errors about what is not there.
    let path: String

    init(_ weights: StoredWeights) {
        self.weights = weights
        places = Dictionary(
            weights.tensors.enumerated().map { (Self.plain($1.name), $0) }, uniquingKeysWith: { first, _ in first })
        path = weights.files.first?.path ?? ""
    }

    /// Names as of today, and those of packed weights as if they were not: early checkpoints of BERT call a LayerNorm's
    /// parameters gamma and beta; a matrix to which torch.nn.utils.parametrize adds something is stored as an original.
    static func plain(_ name: String) -> String {
        for ending in [original] + Packing.endings where name.hasSuffix(ending) {
            return name.dropLast(ending.count) + ".weight"
        }
        guard name.hasSuffix("gamma") || name.hasSuffix("beta") else { return name }
        return name.replacing("LayerNorm.gamma", with: "LayerNorm.weight")
            .replacing("LayerNorm.beta", with: "LayerNorm.bias")
    }

    private static let original = ".parametrizations.weight.original"

    var names: some Sequence<String> { places.keys }
    func has(_ name: String) -> Bool { places[name] != nil }
    func type(_ name: String) -> String? { places[name].map { weights.tensors[$0].type } }
    func shape(_ name: String) throws(AIError) -> [Int] { try find(name).shape }

    /// - Parameter stack: the matrices that one tensor may hold; then it is one above the other.
    func find(_ name: String, stack: Int? = nil) throws(AIError) -> StoredTensor {
        guard let place = places[name] else { throw .malformed(path, "tensor \"\(name)\" is missing") }
        var tensor = weights.tensors[place]
        if let stack, tensor.shape.count == 3, tensor.shape[0] == stack {
            tensor.shape = [tensor.shape[0] * tensor.shape[1], tensor.shape[2]]
        }
        return tensor
    }

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

    /// Whether a tensor of experts is stored as blocks and scales.
    func hasBlocks(_ name: String) -> Bool { !has(name) && has(name + "_blocks") }

    /// The names of stored tensors that belong to one of this name: its packed weights, their scales, and the like.
    func members(_ name: String) -> [String] {
        hasBlocks(name)
            ? [name + "_blocks", name + "_scales"] : [name] + (Packing(name, in: self)?.companions ?? [])
    }

    /// Bytes of the tensors that a model is loaded from; at most `Int64.max`.
    func bytes(of d: ModelDescription, _ names: TensorNames) -> Int64 {
        let prefix = names.prefix(in: self.names)
        var read = Set<StoredTensor.Place>()
        for tensor in names.stored(d, prefix: prefix) {
            for member in members(tensor.name) {
                if let place = places[member] { read.insert(weights.tensors[place].place) }
            }
        }
        return read.bytes
    }
}

extension StoredTensor {
    /// Where its bytes are: tied tensors have one place.
    struct Place: Hashable {
        let file: Int
        let offset: Int?
        let byteCount: Int
    }

    var place: Place { Place(file: file, offset: offset, byteCount: byteCount) }
}

extension Set<StoredTensor.Place> {
    /// Bytes in all; at most `Int64.max`.
    var bytes: Int64 { reduce(0) { $0.addedClamped(Int64($1.byteCount)) } }
}
