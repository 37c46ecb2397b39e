import HubCore
import ModelFormats

extension ConvolutionNet {
    /// A tensor by its stored name.
    struct Tensor: Sendable, Hashable {
        var name: String
        var shape: [Int]
    }

    /// All tensors that are read, but for those of a tower.
    var tensors: [Tensor] {
        let layers = blocks.flatMap { $0.layers + ($0.around ?? []) } + pooled
        let own = layers.flatMap(\.tensors).map { Tensor(name: prefix + $0.name, shape: $0.shape) }
        return own + (classifier?.tensors ?? []) + (map?.tensors ?? [])
    }

    /// Makes sure that what follows from the settings is a net: sizes that fit each other, and no tensor too large to be
    /// counted.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    func check(_ path: String) throws(AIError) {
        var channels = 3
        for block in blocks {
            try check(block.layers, channels, path)
            if let around = block.around {
                try check(around, channels, path)
                let (sum, added) = (
                    Self.channels(after: block.layers, of: channels), Self.channels(after: around, of: channels)
                )
                guard sum == added else {
                    throw .malformed(path, "\(added) channels would be added to \(sum)")
                }
            }
            channels = Self.channels(after: block.layers, of: channels)
        }
        try check(pooled, channels, path)
        try tower?.description.check(path)
        for tensor in tensors {
            let elements = tensor.shape.reduce(Int64(1)) { $0.multipliedClamped(by: Int64($1)) }
            guard tensor.shape.allSatisfy({ $0 > 0 }), elements <= 1 << 31 else {
                throw .malformed(path, "tensor \"\(tensor.name)\" would have the shape \(tensor.shape)")
            }
        }
    }

    private func check(_ layers: [Layer], _ channels: Int, _ path: String) throws(AIError) {
        var channels = channels
        for layer in layers {
            if case .attention(let attention) = layer {
                guard attention.heads > 0, attention.query.outputs % attention.heads == 0,
                    attention.headSize <= 1024
                else {
                    throw .malformed(
                        path, "\(attention.query.outputs) channels are not divided among \(attention.heads) heads")
                }
            }
            guard case .convolution(let convolution) = layer else { continue }
            guard convolution.inputs == channels else {
                throw .malformed(
                    path, "\(convolution.name) would read \(convolution.inputs) of \(channels) channels")
            }
            guard convolution.groups > 0, convolution.inputs % convolution.groups == 0,
                convolution.outputs % convolution.groups == 0
            else {
                throw .malformed(
                    path,
                    "\(convolution.name) has \(convolution.groups) groups of \(convolution.inputs) and \(convolution.outputs) channels"
                )
            }
            channels = convolution.outputs
        }
    }

    /// Whether a stored tensor may be there though none needs it: counters of training, and heads that are not run.
    func isBeside(_ name: String) -> Bool {
        TensorPart(name) == .buffer || unread.contains { name.hasPrefix($0) }
            // What of these is too much is told when the tower is read.
            || tower.map { name.hasPrefix($0.names.prefix) } ?? false
    }

    /// - Throws: ``ErrorCode/unsupportedModel`` naming a stored tensor that this is not the net of.
    func checkBeside(_ names: some Sequence<String>, _ path: String) throws(AIError) {
        let left = Set(names).subtracting(tensors.map(\.name)).filter { !isBeside($0) }
        guard let name = left.min() else { return }
        let more = left.count > 1 ? " and \(left.count - 1) more" : ""
        throw .unsupported(path, "tensor \"\(name)\"\(more) is not part of this architecture")
    }
}

extension ConvolutionNet.Layer {
    var tensors: [ConvolutionNet.Tensor] {
        switch self {
        case .convolution(let convolution): convolution.tensors
        case .squeeze(let squeeze): squeeze.reduce.tensors + squeeze.expand.tensors
        case .norm(let norm): ["weight", "bias"].map { .init(name: "\(norm.name).\($0)", shape: [norm.channels]) }
        case .response(let norm): [norm.weight, norm.bias].map { .init(name: $0, shape: norm.shape) }
        case .attention(let attention): attention.tensors
        case .largest, .mean: []
        }
    }
}

extension ConvolutionNet.Convolution {
    /// Of the stored weights: outputs, inputs of a group, rows, columns.
    var shape: [Int] {
        isMatrix ? [outputs, inputs] : [outputs, inputs / max(1, groups), window.side, window.side]
    }

    var tensors: [ConvolutionNet.Tensor] {
        var found = [ConvolutionNet.Tensor(name: name + ".weight", shape: shape)]
        if hasBias { found.append(.init(name: name + ".bias", shape: [outputs])) }
        for part in norm.map({ _ in ["weight", "bias", "running_mean", "running_var"] }) ?? [] {
            found.append(.init(name: "\(norm?.name ?? "").\(part)", shape: [outputs]))
        }
        if let factors { found.append(.init(name: factors, shape: [outputs])) }
        return found
    }
}

extension ConvolutionNet.ResponseNorm {
    /// As it is stored.
    var shape: [Int] { isWide ? [1, 1, 1, channels] : [channels] }
}
