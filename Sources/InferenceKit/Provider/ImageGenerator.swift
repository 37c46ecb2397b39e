public import HubCore

/// A provider that makes pictures of descriptions.
public protocol ImageGenerator: AIModelProvider {
    /// A picture of what a prompt describes.
    func generateImage(prompt: String, options: ImageOptions) async throws(AIError) -> GeneratedImage
}

extension ImageGenerator {
    /// A picture of what a prompt describes, as the model usually makes it.
    public func generateImage(prompt: String) async throws(AIError) -> GeneratedImage {
        try await generateImage(prompt: prompt, options: ImageOptions())
    }
}

/// How a picture is made. A field that a provider cannot pass on is ``ErrorCode/invalidInput``.
public struct ImageOptions: Sendable, Hashable {
    /// Pixels; nil for the model's own size.
    public var width: Int?
    /// Pixels; nil for the model's own size.
    public var height: Int?
    /// Steps of the diffusion.
    public var steps: Int?
    /// How closely the picture follows the prompt.
    public var guidanceScale: Double?
    /// What the picture must not show.
    public var negativePrompt: String?
    /// The random seed.
    public var seed: UInt64?

    /// Options; what is nil is the model's own.
    public init(
        width: Int? = nil, height: Int? = nil, steps: Int? = nil, guidanceScale: Double? = nil,
        negativePrompt: String? = nil, seed: UInt64? = nil
    ) {
        self.width = width
        self.height = height
        self.steps = steps
        self.guidanceScale = guidanceScale
        self.negativePrompt = negativePrompt
        self.seed = seed
    }
}

/// A picture as a file's bytes.
public struct GeneratedImage: Sendable, Hashable {
    /// The file.
    public var bytes: [UInt8]
    /// Its media type by its first bytes: `image/png`.
    public var mediaType: String
    /// Who made it, if the provider tells it.
    public var servedBy: String?

    /// A picture.
    public init(bytes: [UInt8], mediaType: String, servedBy: String? = nil) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.servedBy = servedBy
    }
}
