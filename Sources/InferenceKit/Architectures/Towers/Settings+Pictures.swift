import HubCore
import ModelFormats

extension Settings {
    /// How pictures become rows: `image_size` and `patch_size`, each a number or height and width.
    ///
    /// - Parameters:
    ///   - size: `image_size` where the file says nothing, in pixels,
    ///   - width: of pictures that are not square,
    ///   - patch: and `patch_size`.
    ///   - key: what the file calls `image_size`.
    /// - Throws: ``ErrorCode/malformedModel`` for sizes that contradict each other.
    mutating func pixels(size: Int, width: Int? = nil, patch: Int, key: String = "image_size") throws(AIError)
        -> ModelDescription.Pixels
    {
        let (height, width) = try sides(key) ?? (size, width ?? size)
        let side = try squareSide(usual: patch)
        guard height >= side, width >= side else {
            throw .malformed(path, "patch_size \(side) is larger than \(key) \(height) by \(width)")
        }
        guard SettingLimits.sizes.contains((height / side) * (width / side)) else {
            throw .malformed(path, "\(key) \(height) by \(width) has too many squares of \(side)")
        }
        return .init(channels: colors(), patch: side, rows: height / side, columns: width / side)
    }

    /// How pictures of any size become rows: `patch_size`, and `num_patches` of a square picture that has a learned
    /// position for each. Rows of pixels are multiplied with a matrix, and positions are averaged.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a number of squares that makes no square.
    mutating func nativePixels(squares: Int, patch: Int) throws(AIError) -> ModelDescription.Pixels {
        let all = count("num_patches") ?? squares
        let side = Int(Double(all).squareRoot().rounded())
        guard side * side == all else { throw .malformed(path, "num_patches is \(all), not a square number") }
        return .init(
            channels: colors(), patch: try squareSide(usual: patch), rows: side, columns: side, isMatrix: true,
            first: [], positions: .init(leading: 0, hasAntialias: true, isBilinear: true))
    }

    /// Pixels along a side of a square.
    private func squareSide(usual: Int) throws(AIError) -> Int {
        let (down, across) = try sides("patch_size") ?? (usual, usual)
        guard down == across else { throw .malformed(path, "patch_size is \(down) by \(across), not a square") }
        return down
    }

    private mutating func colors() -> Int {
        let channels = count("num_channels") ?? 3
        if channels != 3 { refuse("num_channels", "\(channels)") }
        return channels
    }

    /// A side, or height and width, in pixels; nil if the file has none.
    func sides(_ key: String) throws(AIError) -> (height: Int, width: Int)? {
        guard let value = value(key) else { return nil }
        guard let list = value.array else { return try size(value, key).map { ($0, $0) } }
        guard list.count == 2, let height = try size(list[0], key), let width = try size(list[1], key) else {
            throw .malformed(path, "\(key) is not a size")
        }
        return (height, width)
    }

    /// A vision transformer: norms before each half and after the last layer, biases everywhere, exact GELU. Families
    /// change what differs.
    ///
    /// - Parameter inner: the width of feed-forward blocks; nil for `intermediate_size`.
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    mutating func vision(
        _ pixels: ModelDescription.Pixels, inner: Int? = nil, epsilon usual: Double,
        activation: ModelDescription.Activation = .gelu
    ) throws(AIError) -> ModelDescription {
        let width = try need(configuration.hiddenSize, "hidden_size")
        let layer = try transformer(inner: inner, epsilon: usual, activation)
        return ModelDescription(
            vocabulary: pixels.firstCount, width: width, maxPositions: pixels.rowCount, pixels: pixels,
            layers: Array(repeating: layer, count: try layerCount("num_hidden_layers")),
            finalNorm: layer.norm, head: nil, isCausal: false)
    }

    /// A layer with norms before each half and biases everywhere.
    ///
    /// - Parameter inner: the width of feed-forward blocks; nil for `intermediate_size`.
    mutating func transformer(
        inner: Int? = nil, epsilon usual: Double, _ activation: ModelDescription.Activation
    ) throws(AIError) -> ModelDescription.Layer {
        let c = configuration
        let heads = try need(c.heads, "num_attention_heads")
        let headSize = try need(c.headSize, "head_dim")
        let norm = ModelDescription.Norm(
            kind: .layer(hasBias: true), epsilon: Float(epsilon("layer_norm_eps") ?? usual))
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: heads, headSize: headSize, scale: 1 / Float(headSize).squareRoot(),
            hasInputBias: flag("qkv_bias") ?? true, hasOutputBias: true)
        let feedForward = ModelDescription.FeedForward(
            width: try need(inner ?? c.intermediateSize, "intermediate_size"),
            activation: self.activation(c.activation, default: activation), isGated: false, hasBias: true)
        return ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: .before, norm: norm)
    }
}

extension ModelClass {
    /// The rows of a picture without a head.
    static func pictures(_ name: String) -> ModelClass {
        ModelClass(name, .imageEmbedding) { settings, d throws(AIError) in nil }
    }

    /// Labels of a picture.
    static func pictureLabels(
        _ name: String, rows: ModelDescription.Head.Rows = .first, head: String = "classifier", side: Side = .both
    ) -> ModelClass {
        ModelClass(name, .imageClassification, [.head: head], side: side) { settings, d throws(AIError) in
            Head(rows: rows, hasBias: true, outputs: .labels(try settings.labels()))
        }
    }
}
