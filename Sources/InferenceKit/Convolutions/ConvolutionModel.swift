import CKernels
import HubCore
import ModelFormats

/// A convolutional net with its weights. Planes go through it one after the other, so what comes out of a picture does not
/// depend on those beside it.
struct ConvolutionModel: Sendable {
    /// What is done to a plane, with its weights.
    enum Step: Sendable {
        case convolution(ConvolutionWeights)
        case pool(hub_pooling, ConvolutionNet.Window)
        case squeeze(reduce: ConvolutionWeights, expand: ConvolutionWeights)
        case norm(weight: FloatBuffer, bias: FloatBuffer, epsilon: Float)
        case response(weight: FloatBuffer, bias: FloatBuffer, epsilon: Float)
        case attention(ConvolutionNet.Attention)
        case reducedAttention(PlaneAttention)
        case squares(side: Int, [Block])
        case channelAttention(ConvolutionNet.ChannelAttention, factors: FloatBuffer)
        case shares([ConvolutionWeights])
        case places(channels: Int)
    }

    /// What makes one plane of several.
    enum Map: Sendable {
        case sum(MapSumWeights)
        case fusion(MapFusionWeights)
    }

    struct Block: Sendable {
        let steps: [Step]
        /// nil where nothing is added.
        let around: [Step]?
        let isJoined: Bool
        let activation: ConvolutionNet.Activation?
    }

    let net: ConvolutionNet
    let blocks: [Block]
    private let pooled: [Step]
    private let classifier: ConvolutionWeights?
    let map: Map?
    /// Bytes of the stored tensors that were read.
    let weightsBytes: Int64

    /// Reads the tensors, which are not needed after this.
    ///
    /// - Parameter isWhole: whether the files have nothing else.
    /// - Throws: ``ErrorCode/malformedModel`` for a tensor that is missing or has another shape,
    ///   ``ErrorCode/unsupportedModel`` for one that is not of this net or has a type without kernels.
    init(_ net: ConvolutionNet, _ source: TensorSource, isWhole: Bool = true) throws(AIError) {
        if isWhole { try net.checkBeside(source.list.names, source.path) }
        self.net = net
        blocks = try Self.blocks(net.blocks, net, source)
        pooled = try Self.steps(net.pooled, net, source)
        classifier = try net.classifier.map { classifier throws(AIError) in
            try ConvolutionWeights(classifier, prefix: "", source)
        }
        map = try Self.map(net, source)
        weightsBytes = source.readBytes
        try source.files.checkIntact()
    }

    private static func map(_ net: ConvolutionNet, _ source: TensorSource) throws(AIError) -> Map? {
        switch net.map {
        case .sum(let sum, _): return .sum(try MapSumWeights(sum, source))
        case .fusion(let fusion):
            guard let tower = net.tower else { preconditionFailure("a tower's planes without a tower") }
            return .fusion(try MapFusionWeights(fusion, tower, source))
        case nil: return nil
        }
    }

    private static func blocks(
        _ blocks: [ConvolutionNet.Block], _ net: ConvolutionNet, _ source: TensorSource
    ) throws(AIError) -> [Block] {
        var found: [Block] = []
        for block in blocks {
            let around = try block.around.map { layers throws(AIError) in try steps(layers, net, source) }
            found.append(
                Block(
                    steps: try steps(block.layers, net, source), around: around, isJoined: block.isJoined,
                    activation: block.activation))
        }
        return found
    }

    private static func steps(
        _ layers: [ConvolutionNet.Layer], _ net: ConvolutionNet, _ source: TensorSource
    ) throws(AIError) -> [Step] {
        func weights(_ convolution: ConvolutionNet.Convolution) throws(AIError) -> ConvolutionWeights {
            try ConvolutionWeights(convolution, prefix: net.prefix, source)
        }
        var steps: [Step] = []
        for layer in layers {
            switch layer {
            case .convolution(let convolution): steps.append(.convolution(try weights(convolution)))
            case .largest(let window): steps.append(.pool(HUB_LARGEST, window))
            case .mean(let window): steps.append(.pool(HUB_MEAN, window))
            case .squeeze(let squeeze):
                steps.append(.squeeze(reduce: try weights(squeeze.reduce), expand: try weights(squeeze.expand)))
            case .norm(let norm):
                steps.append(
                    .norm(
                        weight: try source.vector("\(net.prefix)\(norm.name).weight", norm.channels),
                        bias: try source.vector("\(net.prefix)\(norm.name).bias", norm.channels),
                        epsilon: Float(norm.epsilon)))
            case .response(let norm):
                steps.append(
                    .response(
                        weight: try source.numbers(net.prefix + norm.weight, norm.shape),
                        bias: try source.numbers(net.prefix + norm.bias, norm.shape),
                        epsilon: Float(norm.epsilon)))
            case .attention(let attention): steps.append(.attention(attention))
            case .reducedAttention(let attention):
                steps.append(.reducedAttention(try PlaneAttention(attention, prefix: net.prefix, source)))
            case .squares(let squares):
                steps.append(.squares(side: squares.side, try blocks(squares.blocks, net, source)))
            case .channelAttention(let attention):
                let factors = try source.numbers(net.prefix + attention.factors, [attention.heads, 1, 1])
                steps.append(.channelAttention(attention, factors: factors))
            case .shares(let shares):
                var convolutions: [ConvolutionWeights] = []
                for convolution in shares.convolutions { convolutions.append(try weights(convolution)) }
                steps.append(.shares(convolutions))
            case .places(let channels): steps.append(.places(channels: channels))
            }
        }
        return steps
    }

    /// A picture's features, and what the classifier makes of them.
    ///
    /// - Parameters:
    ///   - pixels: `[height][width][3]`.
    ///   - classifies: whether outputs are wanted, if there is a classifier.
    /// - Precondition: the scratch memory has room for it.
    func run(_ pixels: [Float], height: Int, width: Int, classifies: Bool, _ space: ConvolutionSpace) -> [Float] {
        var plane = self.plane(pixels, height: height, width: width, space)
        let mean = space.plane(.init(height: 1, width: 1, channels: plane.size.channels))
        Self.mean(plane, into: mean.start, space.team)
        space.give(back: plane)
        plane = Self.apply(pooled, to: mean, keepsFirst: false, space)
        if classifies, let classifier { plane = classifier.apply(plane, space) }
        return Array(UnsafeBufferPointer(start: plane.start, count: plane.size.count))
    }

    /// The last plane of a picture.
    func plane(_ pixels: [Float], height: Int, width: Int, _ space: ConvolutionSpace) -> ConvolutionPlane {
        var plane = Self.first(pixels, height: height, width: width, space)
        for block in blocks { plane = Self.apply(block, to: plane, space) }
        return plane
    }

    /// A picture as the only plane.
    static func first(
        _ pixels: [Float], height: Int, width: Int, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        space.clear()
        let plane = space.plane(.init(height: height, width: width, channels: 3))
        pixels.withUnsafeBufferPointer { plane.start.update(from: $0.baseAddress!, count: plane.size.count) }
        return plane
    }

    /// - Parameter keepsFirst: whether the plane is read again after this.
    static func apply(
        _ block: Block, to plane: ConvolutionPlane, keepsFirst: Bool = false, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        var sum = apply(block.steps, to: plane, keepsFirst: keepsFirst || block.around != nil, space)
        let team = space.team.team
        if let around = block.around {
            let added = apply(around, to: plane, keepsFirst: keepsFirst, space)
            if block.isJoined {
                sum = join(added, sum, space)
            } else {
                precondition(added.size == sum.size)
                hub_add(team, sum.start, added.start, 1, sum.size.count)
            }
            // Without layers it is the plane itself.
            if !keepsFirst || !around.isEmpty { space.give(back: added) }
        }
        if let activation = block.activation {
            let channels = sum.size.channels
            hub_activate(
                team, activation.kernel, sum.start, nil, channels, sum.size.places, channels, sum.start)
        }
        return sum
    }

    /// The channels of one plane, then those of another, which is given back.
    private static func join(
        _ first: ConvolutionPlane, _ second: ConvolutionPlane, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        let (before, behind) = (first.size.channels, second.size.channels)
        let joined = space.plane(first.size.with(channels: before + behind))
        for place in 0..<joined.size.places {
            let target = joined.start + place * (before + behind)
            target.update(from: first.start + place * before, count: before)
            (target + before).update(from: second.start + place * behind, count: behind)
        }
        space.give(back: second)
        return joined
    }

    /// - Parameter keepsFirst: whether the plane is read again after this.
    private static func apply(
        _ steps: [Step], to first: ConvolutionPlane, keepsFirst: Bool, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        var (plane, isFirst) = (first, keepsFirst)
        for step in steps {
            if case .squares(let side, let blocks) = step {
                (plane, isFirst) = (Self.apply(blocks, side: side, to: plane, isKept: isFirst, space), false)
                continue
            }
            let made = step.apply(plane, isKept: isFirst, space)
            guard let made else { continue }
            if !isFirst { space.give(back: plane) }
            (plane, isFirst) = (made, false)
        }
        return plane
    }

    /// The mean of all places.
    static func mean(_ plane: ConvolutionPlane, into out: UnsafeMutablePointer<Float>, _ team: ComputeTeam) {
        let size = plane.size
        hub_sum_places(team.team, plane.start, size.height, size.width, size.channels, false, out)
        for channel in 0..<size.channels { out[channel] /= Float(size.places) }
    }
}

extension ConvolutionModel.Step {
    /// The plane that is made of one; nil where it was changed in its place.
    ///
    /// - Parameter isKept: whether the plane must stay as it is.
    fileprivate func apply(_ plane: ConvolutionPlane, isKept: Bool, _ space: ConvolutionSpace) -> ConvolutionPlane?
    {
        let (size, team) = (plane.size, space.team.team)
        switch self {
        case .convolution(let weights): return weights.apply(plane, space)
        case .pool(let pooling, let window):
            let out = space.plane(window.plane(of: size))
            var seen = hub_window(window, size, out.size)
            hub_pool(team, pooling, plane.start, &seen, out.start)
            return out
        case .squeeze(let reduce, let expand):
            let out = isKept ? space.plane(size) : plane
            let factors = Self.factors(plane, reduce, expand, space)
            let zeros = FloatBuffer(Array(repeating: 0, count: size.channels))
            hub_affine(
                team, plane.start, size.places, size.channels, factors.start, zeros.start, out.start)
            return isKept ? out : nil
        case .norm(let weight, let bias, let epsilon):
            let out = isKept ? space.plane(size) : plane
            hub_layer_norm(
                team, plane.start, size.channels, size.places, size.channels, weight.start, bias.start, epsilon,
                out.start, size.channels)
            return isKept ? out : nil
        case .response(let weight, let bias, let epsilon):
            let out = isKept ? space.plane(size) : plane
            let factors = Self.responses(plane, weight, epsilon, space.team)
            hub_affine(
                team, plane.start, size.places, size.channels, factors.start, bias.start, out.start)
            return isKept ? out : nil
        case .attention(let attention): return attention.apply(plane, space)
        case .reducedAttention(let attention): return attention.apply(plane, space)
        case .channelAttention(let attention, let factors): return attention.apply(plane, factors, space)
        case .shares(let convolutions): return Self.shares(convolutions, plane, space)
        case .places(let channels): return Self.places(channels, plane.size, space)
        case .squares: preconditionFailure("squares have blocks of their own")
        }
    }

    /// What channels are multiplied with, made of their means.
    private static func factors(
        _ plane: ConvolutionPlane, _ reduce: ConvolutionWeights, _ expand: ConvolutionWeights,
        _ space: ConvolutionSpace
    ) -> FloatBuffer {
        let mean = FloatBuffer(plane.size.channels)
        ConvolutionModel.mean(plane, into: mean.start, space.team)
        return expand.apply(row: reduce.apply(row: mean, space), space)
    }

    /// 1 + w · length / mean length, of each channel.
    private static func responses(
        _ plane: ConvolutionPlane, _ weight: FloatBuffer, _ epsilon: Float, _ team: ComputeTeam
    ) -> FloatBuffer {
        let size = plane.size
        let factors = FloatBuffer(size.channels)
        hub_sum_places(team.team, plane.start, size.height, size.width, size.channels, true, factors.start)
        var sum: Float = 0
        for channel in 0..<size.channels {
            factors.start[channel] = factors.start[channel].squareRoot()
            sum += factors.start[channel]
        }
        let mean = sum / Float(size.channels) + epsilon
        for channel in 0..<size.channels {
            factors.start[channel] = 1 + weight.start[channel] * (factors.start[channel] / mean)
        }
        return factors
    }
}
