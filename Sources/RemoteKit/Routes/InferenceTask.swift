/// What a model is asked to do, by the Hub's word.
enum InferenceTask: String, Sendable, Hashable {
    case conversation = "conversational"
    case embedding = "feature-extraction"
    case speech = "automatic-speech-recognition"
    case image = "text-to-image"

    /// The Hub also calls the work of such models so.
    var synonyms: Set<String> { self == .embedding ? [rawValue, "sentence-similarity"] : [rawValue] }

    /// For messages: `the provider groq does not ...`.
    var verb: String {
        switch self {
        case .conversation: "hold conversations"
        case .embedding: "make vectors of texts"
        case .speech: "write down speech"
        case .image: "make pictures"
        }
    }
}
