import HubCore
import ModelFormats

/// YOLOS (https://arxiv.org/abs/2106.00666): a ViT with rows that look for an object each. Here they stand before those of
/// squares, and not behind them as in the reference: where rows stand changes nothing.
extension Architecture {
    static let yolos = Architecture(
        "YOLOS", ["yolos"], gguf: [],
        classes: [
            .detector(
                "YolosForObjectDetection", labelLayers: (0..<3).map { "class_labels_classifier.layers.\($0)" })
        ],
        names: {
            var names = TensorNames.vit("vit.").with([
                .detectionTokens: "embeddings.detection_tokens",
                .layerPositions: "encoder.mid_position_embeddings",
            ])
            names.plain.formUnion([.detectionTokens, .layerPositions])
            return names
        }()
    ) { settings throws(AIError) in try settings.yolos() }
}

extension Settings {
    fileprivate mutating func yolos() throws(AIError) -> ModelDescription {
        let queries = count("num_detection_tokens") ?? 100
        var pixels = try pixels(size: 512, width: 864, patch: 16)
        pixels.first.append(.detections(queries))
        let areInLayers = flag("use_mid_position_embeddings") ?? true
        pixels.positions = .init(leading: 1, trailing: queries, areInLayers: areInLayers)
        if areInLayers, let size = places("image_size"), size.count == 2,
            size[0] * size[1] / (pixels.patch * pixels.patch) != pixels.rows * pixels.columns
        {
            throw .malformed(
                path, "use_mid_position_embeddings needs an image_size of whole squares of \(pixels.patch)")
        }
        var model = try vision(pixels, epsilon: 1e-12)
        model.detection = .init(queries: queries, labels: try labels(), labelLayers: 3)
        return model
    }
}
