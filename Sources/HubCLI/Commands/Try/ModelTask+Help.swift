import InferenceKit

/// What people read about what models are for.
extension ModelTask {
    /// What a model does, as in `NAME finds the words behind masks`.
    var purpose: String {
        switch self {
        case .textGeneration: "continues texts"
        case .embedding: "turns texts into vectors"
        case .ranking: "ranks texts by how well they answer a query"
        case .classification: "gives texts labels"
        case .tokenClassification: "gives the tokens of a text labels"
        case .fillMask: "finds the words behind masks"
        case .forecasting: "forecasts series of numbers"
        case .imageClassification: "gives pictures labels"
        case .imageEmbedding: "turns pictures into vectors"
        case .depthEstimation: "says how far away each pixel of a picture is"
        case .imageSegmentation: "gives the pixels of a picture labels"
        case .zeroShotImages: "tells which of your labels fits a picture"
        case .objectDetection: "finds objects in pictures"
        }
    }

    /// A command to try a model with.
    ///
    /// - Parameters:
    ///   - model: as it was typed.
    ///   - mask: the model's own.
    func example(_ model: String, mask: String?) -> String {
        let model = ShellQuoting.word(model)
        return switch self {
        case .textGeneration: "hub try \(model) 'Once upon a time'"
        case .embedding: "hub rank \(model) sea ship loan"
        case .ranking: "hub rank \(model) 'Who wrote Hamlet?' --texts FILE"
        case .classification: "hub classify \(model) 'I like it.'"
        case .tokenClassification: "hub classify \(model) 'Anna lives in Lisbon.'"
        case .forecasting: "hub forecast \(model) FILE.csv"
        case .imageClassification: "hub classify \(model) --attach FILE.jpg"
        case .depthEstimation: "hub try \(model) --attach FILE.jpg -o depth.png"
        case .imageSegmentation: "hub try \(model) --attach FILE.jpg -o segments.png"
        case .imageEmbedding: "hub embed \(model) --attach FILE.jpg"
        case .objectDetection: "hub try \(model) --attach FILE.jpg"
        case .zeroShotImages: "hub classify \(model) --attach FILE.jpg --labels cat,dog"
        case .fillMask: "hub try \(model) 'Paris is the \(mask ?? "[MASK]") of France.'"
        }
    }
}
