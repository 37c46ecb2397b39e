extension ConvolutionNet {
    /// Each place attends to all, or to fewer that are made of them (https://arxiv.org/abs/2105.15203, section 3.1).
    struct ReducedAttention: Sendable, Hashable {
        /// What keys and values are made of, in the place of the plane: a convolution and a norm.
        struct Reduction: Sendable, Hashable {
            var convolution: Convolution
            var norm: LayerNorm
        }

        var heads: Int
        var query: Convolution
        var key: Convolution
        var value: Convolution
        var output: Convolution
        /// nil where each place has a key.
        var reduction: Reduction?

        /// Numbers of a head.
        var headSize: Int { query.outputs / max(1, heads) }

        /// Places of keys.
        func keys(of plane: Plane) -> Plane { reduction?.convolution.plane(of: plane) ?? plane }
    }

    /// A vision transformer: its rows after some layers are planes, whose places are squares of pixels.
    struct Tower: Sendable, Hashable {
        var description: ModelDescription
        var names: TensorNames
        /// The layers after which rows are taken, by how many there are up to each, in ascending order.
        var taps: [Int]
        /// Whether those rows go through the last norm.
        var isNormed: Bool

        /// Pixels along a side of a square.
        var patch: Int { description.pixels?.patch ?? 1 }
        /// Rows before those of squares.
        var first: Int { description.pixels?.firstCount ?? 0 }
    }

    /// A plane that is made of several.
    enum Map: Sendable, Hashable {
        /// Of blocks, by their numbers.
        case sum(MapSum, blocks: [Int])
        /// Of a tower.
        case fusion(MapFusion)
    }

    /// Planes of several sizes become one of the first one's: each through a matrix, enlarged, side by side with the others
    /// through another, and to labels (https://arxiv.org/abs/2105.15203, section 3.2).
    struct MapSum: Sendable, Hashable {
        /// Of each plane, the first the largest.
        var projections: [Convolution]
        /// Reads the projections, the last one first.
        var fuse: Convolution
        var classifier: Convolution
    }

    /// Planes of a tower become large and small ones, which are added from the smallest on (https://arxiv.org/abs/2103.13413).
    struct MapFusion: Sendable, Hashable {
        /// How a plane of the tower gets another size.
        enum Resizing: Sendable, Hashable {
            case none
            case enlarged(Enlargement)
            case reduced(Convolution)
        }

        /// What the first row of the tower does to the others.
        enum Readout: Sendable, Hashable {
            case ignored, added
            /// It stands behind each, and this makes one of both.
            case projected(Convolution)
        }

        /// A plane of the tower.
        struct Stage: Sendable, Hashable {
            var readout = Readout.ignored
            var projection: Convolution
            var resizing: Resizing
            var output: Convolution
        }

        /// Two convolutions, each after an activation, that are added to what they read.
        struct Residual: Sendable, Hashable {
            /// Its activation is that before the second one.
            var first: Convolution
            var second: Convolution
        }

        /// What is done to the sum of what came before and a stage.
        struct Join: Sendable, Hashable {
            /// Of the stage; nil for the smallest, to which nothing is added.
            var side: Residual?
            var sum: Residual
            var projection: Convolution
        }

        /// What is made of the last sum.
        struct Head: Sendable, Hashable {
            /// Up to where the plane is enlarged,
            var before: [Convolution]
            /// and behind that.
            var after: [Convolution]
            /// Whether it gets as many rows and columns as the picture has pixels in squares; otherwise twice as many.
            var isOfPixels: Bool
            /// Of all numbers, in the end.
            var factor: Float = 1
        }

        /// From the largest to the smallest.
        var stages: [Stage]
        /// From the smallest to the largest.
        var joins: [Join]
        /// Whether a sum gets the size of the stage that is added to it; otherwise it doubles, and the stage is resized.
        var fitsStages: Bool
        var head: Head
    }

    /// A transposed convolution whose windows do not overlap: each place becomes a square of places.
    struct Enlargement: Sendable, Hashable {
        /// Before `.weight` and `.bias`.
        var name: String
        var channels: Int
        /// Places along a side of the square.
        var factor: Int
    }
}

extension ConvolutionNet.ReducedAttention {
    var convolutions: [ConvolutionNet.Convolution] {
        (reduction.map { [$0.convolution] } ?? []) + [query, key, value, output]
    }

    var tensors: [ConvolutionNet.Tensor] {
        convolutions.flatMap(\.tensors) + (reduction.map { ConvolutionNet.Layer.norm($0.norm).tensors } ?? [])
    }
}

extension ConvolutionNet.Map {
    /// All convolutions.
    var convolutions: [ConvolutionNet.Convolution] {
        switch self {
        case .sum(let sum, _): sum.projections + [sum.fuse, sum.classifier]
        case .fusion(let fusion):
            fusion.stages.flatMap(\.convolutions) + fusion.joins.flatMap(\.convolutions) + fusion.head.before
                + fusion.head.after
        }
    }

    var enlargements: [ConvolutionNet.Enlargement] {
        guard case .fusion(let fusion) = self else { return [] }
        return fusion.stages.compactMap { if case .enlarged(let made) = $0.resizing { made } else { nil } }
    }

    var tensors: [ConvolutionNet.Tensor] {
        convolutions.flatMap(\.tensors) + enlargements.flatMap(\.tensors)
    }
}

extension ConvolutionNet.MapFusion.Stage {
    fileprivate var convolutions: [ConvolutionNet.Convolution] {
        var all = [projection, output]
        if case .projected(let readout) = readout { all.append(readout) }
        if case .reduced(let reduced) = resizing { all.append(reduced) }
        return all
    }

    /// The plane that is made of one of the tower.
    func plane(of plane: ConvolutionNet.Plane) -> ConvolutionNet.Plane {
        var made = projection.plane(of: plane)
        switch resizing {
        case .none: break
        case .enlarged(let larger): made = larger.plane(of: made)
        case .reduced(let smaller): made = smaller.plane(of: made)
        }
        return output.plane(of: made)
    }
}

extension ConvolutionNet.MapFusion.Join {
    fileprivate var convolutions: [ConvolutionNet.Convolution] {
        (side.map { [$0.first, $0.second] } ?? []) + [sum.first, sum.second, projection]
    }
}

extension ConvolutionNet.Enlargement {
    /// Of the stored weights: inputs, outputs, rows, columns.
    var shape: [Int] { [channels, channels, factor, factor] }

    var tensors: [ConvolutionNet.Tensor] {
        [.init(name: name + ".weight", shape: shape), .init(name: name + ".bias", shape: [channels])]
    }

    func plane(of plane: ConvolutionNet.Plane) -> ConvolutionNet.Plane {
        .init(height: plane.height * factor, width: plane.width * factor, channels: plane.channels)
    }
}
