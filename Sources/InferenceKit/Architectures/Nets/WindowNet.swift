import HubCore
import ModelFormats

/// A transformer of pictures whose rows see those of their window alone, in stages of fewer and wider rows, as a value:
/// Swin (https://arxiv.org/abs/2103.14030) and Swin 2 (https://arxiv.org/abs/2111.09883). Every second layer's windows are
/// shifted. Loading, the check of tensors, the estimate of memory and computing read this.
struct WindowNet: Sendable, Hashable {
    /// Rows and columns of a window, or of a shift.
    struct Extent: Sendable, Hashable {
        var height: Int
        var width: Int

        static let none = Extent(height: 0, width: 0)

        var area: Int { height * width }
        /// Distances of two places in it.
        var distances: Int { (2 * height - 1) * (2 * width - 1) }
        var half: Extent { Extent(height: height / 2, width: width / 2) }
    }

    struct Stage: Sendable, Hashable {
        /// Numbers of a row.
        var channels: Int
        /// Layers.
        var depth: Int
        var heads: Int
        /// Outputs of a feed-forward block's first matrix.
        var inner: Int
        var window: Extent
        /// Of every second layer's windows.
        var shift: Extent
        /// The window by which distances are counted, where what they add is made of them; none for ``window``.
        var counted = Extent.none

        var headSize: Int { channels / heads }
    }

    /// What scores of two rows are, and where norms stand.
    enum Version: Sendable, Hashable {
        /// Products of queries and keys, with a table of what distances add; norms before the halves of layers.
        case first
        /// Cosines times a factor of each head, with what a small net makes of distances; norms behind the halves.
        case second
    }

    /// How files name tensors.
    enum Naming: Sendable, Hashable {
        /// transformers',
        case transformers
        /// with the names that its first Swin has since 5.
        case newer
        case timm
        /// The authors' own, which count merging to the stage before it.
        case original

        var isTransformers: Bool { self == .transformers || self == .newer }
    }

    var version: Version
    /// Rows and columns of the pictures that it was made for.
    var height = 224, width = 224
    /// Whether it takes no others.
    var takesOneSize = false
    /// Pixels along a side of a square.
    var patch: Int
    /// Whether a square that is begun is filled up; otherwise it is left out.
    var fillsSquares: Bool
    var stages: [Stage]
    /// Whether rows are filled up to whole windows before they are shifted.
    var fillsFirst: Bool
    /// Whether windows are shifted only where both sides have more rows than one.
    var shiftsWithRoom: Bool
    /// What is added to scores of rows that a shift brought together.
    var otherSide: Float = -100
    /// Of the norms of layers, and of the last.
    var epsilon: Double
    var activation: ModelDescription.Activation
    /// Whether queries and values have biases; in the first version keys too.
    var hasInputBias: Bool
    /// Whether there is a norm behind the last layer.
    var hasFinalNorm = true
    var naming: Naming
    /// The name of the classifier's tensors; nil for a model without labels.
    var classifier: String?
    var labels: LabelSettings?
    /// Before the names of all tensors but the classifier's.
    var prefix = ""
    /// Starts of names that are not read.
    var unread: [String] = []

    /// Of the norms of squares and of merged rows.
    static let usualEpsilon: Float = 1e-5
    /// Inputs and outputs of the net that makes something of distances.
    static let distanceInputs = 2, distanceWidth = 512

    /// Numbers of a picture's vector.
    var features: Int { stages.last?.channels ?? 0 }
    /// Numbers of a square.
    var squareCount: Int { 3 * patch * patch }
}

extension WindowNet {
    private static let mostStages = 8, mostSide = 64

    /// Makes sure that what follows from the settings is a net.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    func check(_ path: String) throws(AIError) {
        guard !stages.isEmpty, stages.count <= Self.mostStages else {
            throw .malformed(path, "it has \(stages.count) stages")
        }
        for stage in stages {
            guard stage.heads > 0, stage.channels % stage.heads == 0 else {
                throw .malformed(path, "\(stage.channels) channels are not \(stage.heads) heads")
            }
            guard (1...Self.mostSide).contains(stage.window.height),
                (1...Self.mostSide).contains(stage.window.width)
            else {
                throw .malformed(
                    path,
                    "windows of \(stage.window.height) by \(stage.window.width) are not of 1 to \(Self.mostSide)"
                )
            }
        }
        try checkSizes(path)
        guard WindowPlan(self, height: height, width: width) != nil else {
            throw .malformed(path, "pictures of \(height) by \(width) pixels are too small for its windows")
        }
    }
}
