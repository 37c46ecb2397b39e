import HubCore

/// The labels of a classifier.
struct LabelSettings: Sendable, Hashable {
    /// By their numbers.
    var names: [String]
    /// `problem_type`; nil if config.json does not say.
    var problem: Problem?

    enum Problem: String, Sendable, Hashable {
        case regression
        case single = "single_label_classification"
        case several = "multi_label_classification"
    }

    var count: Int { names.count }
}

/// What models have that find objects (DETR, https://arxiv.org/abs/2005.12872).
extension ModelDescription {
    /// Some rows look for an object each: layers make of one the logits of its labels, and three others make its box.
    struct Detection: Sendable, Hashable {
        /// The rows that look for an object.
        var queries: Int
        /// The labels of objects. Behind their logits stands that of no object.
        var labels: LabelSettings
        /// Matrices from a row to its logits, with ReLU between them.
        var labelLayers: Int

        /// Matrices from a row to its box.
        static let boxLayers = 3
        /// Numbers of a box: the middle across and down, width and height, as shares of the picture's.
        static let boxNumbers = 4
        /// Logits of a row.
        var logits: Int { labels.count + 1 }

        /// Those of the layers, for rows of a width.
        func tensors(_ width: Int) -> [TensorNeed] {
            func layers(_ count: Int, _ outputs: Int, _ role: (Int) -> TensorRole) -> [TensorNeed] {
                (0..<count).flatMap { layer in
                    let rows = layer + 1 == count ? outputs : width
                    return [
                        TensorNeed(role: role(layer), shape: [rows, width]),
                        TensorNeed(role: role(layer), isBias: true, shape: [rows]),
                    ]
                }
            }
            return layers(labelLayers, logits, TensorRole.objectLabels)
                + layers(Self.boxLayers, Self.boxNumbers, TensorRole.objectBoxes)
        }
    }

    /// Where the numbers come from that a layer adds to its queries and keys.
    enum Placing: Sendable, Hashable {
        /// Sines of how far down and across a square is.
        case squares
        /// The table of tokens; rows begin with zeros.
        case tokens
    }
}

extension ModelClass {
    /// Finds objects, by what the family describes.
    ///
    /// - Parameter labelLayers: the names of the matrices that make logits of labels.
    static func detector(_ name: String, labelLayers: [String]) -> ModelClass {
        var outside: [TensorRole: String] = [:]
        for (place, stem) in labelLayers.enumerated() { outside[.objectLabels(place)] = stem }
        for place in 0..<ModelDescription.Detection.boxLayers {
            outside[.objectBoxes(place)] = "bbox_predictor.layers.\(place)"
        }
        return ModelClass(name, .objectDetection, outside) { settings, d throws(AIError) in nil }
    }
}
