import HubCore
import ModelFormats

extension ConvolutionNet {
    /// A tensor by its stored name.
    struct Tensor: Sendable, Hashable {
        var name: String
        var shape: [Int]
    }

    /// All tensors that are read.
    var tensors: [Tensor] {
        let layers = blocks.flatMap { $0.layers + ($0.around ?? []) } + pooled
        let own = layers.flatMap(\.tensors).map { Tensor(name: prefix + $0.name, shape: $0.shape) }
        return own + (classifier?.tensors ?? [])
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
        try checkSizes(path)
    }

    private func check(_ layers: [Layer], _ channels: Int, _ path: String) throws(AIError) {
        var channels = channels
        for case .convolution(let convolution) in layers {
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

    func isBeside(_ name: String) -> Bool {
        TensorPart(name) == .buffer || unread.contains { name.hasPrefix($0) }
    }
}

extension ConvolutionNet.Layer {
    var tensors: [ConvolutionNet.Tensor] {
        switch self {
        case .convolution(let convolution): convolution.tensors
        case .squeeze(let squeeze): squeeze.reduce.tensors + squeeze.expand.tensors
        case .norm(let norm): ["weight", "bias"].map { .init(name: "\(norm.name).\($0)", shape: [norm.channels]) }
        case .response(let norm): [norm.weight, norm.bias].map { .init(name: $0, shape: norm.shape) }
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
