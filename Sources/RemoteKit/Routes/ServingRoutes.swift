import HubCore

/// The routes of an inference provider, the same at the Hub's router (below `/<name>`) and at its own host.
struct ServingRoutes: Sendable {
    /// The provider's name on the Hub.
    let name: String
    /// Its own host, for its own keys; nil if the Hub is the only way.
    let host: String?
    var scheme = "Bearer"
    /// The path of chat completions; nil if it holds no conversations.
    var chat: String?
    var schemaForm = ChatBody.SchemaForm.openAI
    var embeddings: Embeddings?
    var speech: Speech?
    var images: Images?

    enum Embeddings: Sendable, Hashable {
        /// The Hub's own: `/models/{id}/pipeline/feature-extraction`.
        case pipeline
        /// OpenAI's protocol at a path.
        case openAI(String)
    }

    enum Speech: Sendable, Hashable {
        /// The Hub's own: bytes as they are, or base64 beside parameters.
        case hub
        case fal
        case replicate
        /// OpenAI's form at a path.
        case form(String)
    }

    enum Images: Sendable, Hashable {
        /// The Hub's own: the picture is the answer.
        case hub
        case fal
        case replicate
        /// OpenAI's protocol at a path, with the provider's names of fields.
        case openAI(String, OpenAIImageForm)
        case wavespeed
        case zai
    }

    func serves(_ task: InferenceTask) -> Bool {
        switch task {
        case .conversation: chat != nil
        case .embedding: embeddings != nil
        case .speech: speech != nil
        case .image: images != nil
        }
    }

    private static let completions = "/v1/chat/completions"

    /// The routes of a provider; nil for one that hub does not know.
    static func of(_ name: String) -> ServingRoutes? { all.first { $0.name == name } }

    /// Every provider known. Sources: the routes of huggingface_hub's `inference/_providers`, one file each.
    static let all = [
        ServingRoutes(name: "baseten", host: "https://inference.baseten.co", chat: completions),
        ServingRoutes(name: "cerebras", host: "https://api.cerebras.ai", chat: completions),
        ServingRoutes(
            name: "cohere", host: "https://api.cohere.com", chat: "/compatibility" + completions,
            schemaForm: .schemaInObject),
        ServingRoutes(
            name: "deepinfra", host: "https://api.deepinfra.com", chat: "/v1/openai/chat/completions",
            embeddings: .openAI("/v1/openai/embeddings"), speech: .form("/v1/openai/audio/transcriptions")),
        ServingRoutes(name: "fal-ai", host: "https://fal.run", scheme: "Key", speech: .fal, images: .fal),
        ServingRoutes(name: "featherless-ai", host: "https://api.featherless.ai", chat: completions),
        ServingRoutes(
            name: "fireworks-ai", host: "https://api.fireworks.ai", chat: "/inference" + completions,
            schemaForm: .schemaInObject),
        ServingRoutes(name: "groq", host: "https://api.groq.com", chat: "/openai" + completions),
        ServingRoutes(
            name: "hf-inference", host: nil, chat: completions, schemaForm: .value, embeddings: .pipeline,
            speech: .hub,
            images: .hub),
        ServingRoutes(name: "novita", host: "https://api.novita.ai", chat: "/v3/openai/chat/completions"),
        ServingRoutes(
            name: "nscale", host: "https://inference.api.nscale.com", chat: completions,
            images: .openAI("/v1/images/generations", .nscale)),
        ServingRoutes(name: "openai", host: "https://api.openai.com", chat: completions),
        ServingRoutes(name: "ovhcloud", host: "https://oai.endpoints.kepler.ai.cloud.ovh.net", chat: completions),
        ServingRoutes(name: "publicai", host: "https://api.publicai.co", chat: completions),
        ServingRoutes(name: "replicate", host: "https://api.replicate.com", speech: .replicate, images: .replicate),
        ServingRoutes(
            name: "scaleway", host: "https://api.scaleway.ai", chat: completions,
            embeddings: .openAI("/v1/embeddings")),
        ServingRoutes(
            name: "together", host: "https://api.together.xyz", chat: completions, schemaForm: .together,
            embeddings: .openAI("/v1/embeddings"), speech: .form("/v1/audio/transcriptions"),
            images: .openAI("/v1/images/generations", .together)),
        ServingRoutes(name: "wavespeed", host: "https://api.wavespeed.ai", images: .wavespeed),
        ServingRoutes(
            name: "zai-org", host: "https://api.z.ai", chat: "/api/paas/v4/chat/completions", images: .zai),
    ]
}

/// The names that a provider gives the fields of OpenAI's request for a picture. What has no name is refused.
struct OpenAIImageForm: Sendable, Hashable {
    /// The value of `response_format` for base64; nil if none may be sent.
    var base64: String?
    /// Whether width and height go as `size`: `512x512`.
    var joinsSize: Bool
    var steps: String?
    var guidance: String?
    var negative: String?
    var seed: String?

    static let together = OpenAIImageForm(
        base64: "base64", joinsSize: false, steps: "steps", guidance: "guidance_scale", negative: "negative_prompt",
        seed: "seed")
    static let nscale = OpenAIImageForm(
        base64: "b64_json", joinsSize: true, negative: "negative_prompt", seed: "seed")
    static let openAI = OpenAIImageForm(joinsSize: true)
}
