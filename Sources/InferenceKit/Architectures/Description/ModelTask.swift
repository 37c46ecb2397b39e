/// What a model is for. The raw values are the Hub's pipeline tags (https://huggingface.co/tasks).
public enum ModelTask: String, Sendable, Hashable, CaseIterable, Codable {
    /// Continues a text.
    case textGeneration = "text-generation"
    /// Turns a text into a vector.
    case embedding = "feature-extraction"
    /// Says how well a text answers a query: a classifier of pairs with one label.
    case ranking = "text-ranking"
    /// Gives a text labels.
    case classification = "text-classification"
    /// Gives each token a label.
    case tokenClassification = "token-classification"
    /// Finds the words behind masks.
    case fillMask = "fill-mask"
    /// Says how a series of numbers goes on.
    case forecasting = "time-series-forecasting"
    /// Gives a picture labels.
    case imageClassification = "image-classification"
    /// Turns a picture into a vector.
    case imageEmbedding = "image-feature-extraction"

    /// Tells which of some texts fits a picture, by vectors of both in one space.
    case zeroShotImages = "zero-shot-image-classification"

    /// Finds objects in a picture: what they are, and where.
    case objectDetection = "object-detection"
    /// Says how far away each pixel of a picture is.
    case depthEstimation = "depth-estimation"
    /// Gives the pixels of a picture labels.
    case imageSegmentation = "image-segmentation"

    /// Whether it is done with pictures.
    public var sees: Bool { seesAlone || self == .zeroShotImages }
    /// Whether something is said of parts of a picture, and nothing of the whole.
    public var seesParts: Bool { [.objectDetection, .depthEstimation, .imageSegmentation].contains(self) }
    /// Whether it is done with texts.
    public var reads: Bool { !seesAlone && self != .forecasting }
    /// Whether it is done with pictures, and without texts.
    private var seesAlone: Bool { seesParts || self == .imageClassification || self == .imageEmbedding }
}
