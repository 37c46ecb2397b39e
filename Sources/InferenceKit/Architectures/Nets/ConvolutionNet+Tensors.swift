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
        let layers = blocks.flatMap(\.all) + pooled
        let own = layers.flatMap(\.tensors).map { Tensor(name: prefix + $0.name, shape: $0.shape) }
        return own + (classifier?.tensors ?? []) + (map?.tensors ?? [])
    }

    /// Makes sure that what follows from the settings is a net: sizes that fit each other, and no tensor too large to be
    /// counted.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    func check(_ path: String) throws(AIError) {
        try check(pooled, try check(blocks, 3, path), path)
        try tower?.description.check(path)
        try checkSizes(path)
    }

    /// - Returns: the channels of what is made.
    private func check(_ blocks: [Block], _ channels: Int, _ path: String) throws(AIError) -> Int {
        var channels = channels
        for block in blocks {
            try check(block.layers, channels, path)
            if let around = block.around {
                try check(around, channels, path)
                let (sum, added) = (
                    Self.channels(after: block.layers, of: channels), Self.channels(after: around, of: channels)
                )
                guard sum == added || block.isJoined else {
                    throw .malformed(path, "\(added) channels would be added to \(sum)")
                }
            }
            channels = block.channels(of: channels)
        }
        return channels
    }

    private func check(_ layers: [Layer], _ channels: Int, _ path: String) throws(AIError) {
        var channels = channels
        for layer in layers {
            switch layer {
            case .convolution(let convolution): try check(convolution, channels, path)
            case .attention(let attention): try check(attention, channels, path)
            case .reducedAttention(let attention): try check(attention, channels, path)
            case .squares(let squares): _ = try check(squares.blocks, channels, path)
            case .channelAttention(let attention):
                guard channels == 3 * attention.channels, attention.channels % attention.heads == 0 else {
                    throw .malformed(
                        path, "\(attention.channels) channels do not make \(attention.heads) heads of attention")
                }
            case .shares(let shares):
                guard shares.channels == channels, shares.width > 0,
                    shares.width * shares.convolutions.count < channels
                else { throw .malformed(path, "\(channels) channels do not make shares of \(shares.width)") }
            case .largest, .mean, .squeeze, .norm, .response, .places: break
            }
            channels = Self.channels(after: [layer], of: channels)
        }
    }

    private func check(_ attention: Attention, _ channels: Int, _ path: String) throws(AIError) {
        let (width, heads) = (attention.channels, attention.heads)
        guard channels == 3 * width, width % heads == 0, width / heads <= 1024 else {
            throw .malformed(path, "\(width) channels do not make \(heads) heads of attention")
        }
    }

    private func check(_ attention: ReducedAttention, _ channels: Int, _ path: String) throws(AIError) {
        guard attention.heads > 0, attention.query.outputs % attention.heads == 0, attention.headSize <= 1024 else {
            throw .malformed(
                path, "\(attention.query.outputs) channels are not divided among \(attention.heads) heads")
        }
        for convolution in [attention.query, attention.reduction?.convolution ?? attention.key] {
            try check(convolution, channels, path)
        }
    }

    private func check(_ convolution: Convolution, _ channels: Int, _ path: String) throws(AIError) {
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
    }

    /// Whether a stored tensor may be there though none needs it: counters of training, and heads that are not run.
    func isBeside(_ name: String) -> Bool {
        TensorPart(name) == .buffer || unread.contains { name.hasPrefix($0) }
            // What of these is too much is told when the tower is read.
            || tower.map { name.hasPrefix($0.names.prefix) } ?? false
    }
}

extension ConvolutionNet.Layer {
    var tensors: [ConvolutionNet.Tensor] {
        switch self {
        case .convolution(let convolution): convolution.tensors
        case .squeeze(let squeeze): squeeze.reduce.tensors + squeeze.expand.tensors
        case .norm(let norm): ["weight", "bias"].map { .init(name: "\(norm.name).\($0)", shape: [norm.channels]) }
        case .response(let norm): [norm.weight, norm.bias].map { .init(name: $0, shape: norm.shape) }
        case .squares(let squares): squares.blocks.flatMap(\.all).flatMap(\.tensors)
        case .reducedAttention(let attention): attention.tensors
        case .channelAttention(let attention): [.init(name: attention.factors, shape: [attention.heads, 1, 1])]
        case .shares(let shares): shares.convolutions.flatMap(\.tensors)
        case .largest, .mean, .attention, .places: []
        }
    }
}

extension ConvolutionNet.Convolution {
    /// Of the stored weights: outputs, inputs of a group, rows, columns.
    var shape: [Int] {
        isMatrix ? [outputs, inputs] : [outputs, inputs / max(1, groups), window.side, window.side]
    }

    /// Before `.weight` and `.bias` of each tensor that has its share of the outputs.
    var names: [String] { parts.isEmpty ? [name] : parts.map { name + $0 } }

    /// Of the stored weights that have a share of the outputs.
    var partShape: [Int] { [outputs / names.count] + shape.dropFirst() }

    var tensors: [ConvolutionNet.Tensor] {
        var found: [ConvolutionNet.Tensor] = []
        for name in names {
            found.append(.init(name: name + ".weight", shape: partShape))
            if hasBias { found.append(.init(name: name + ".bias", shape: [partShape[0]])) }
        }
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
