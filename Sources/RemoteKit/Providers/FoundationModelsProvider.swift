public import HubChatTemplates
public import HubCore
public import InferenceKit

#if canImport(FoundationModels)
import FoundationModels
#endif

/// Apple's own language model on a Mac with Apple Intelligence (macOS 26 and later). Elsewhere it is unavailable.
///
/// Written by Apple's documentation, https://developer.apple.com/documentation/foundationmodels; it was compiled and run
/// on no Mac yet.
public final class FoundationModelsProvider: TextGenerator {
    /// `apple-foundation-models`
    public let identifier = "apple-foundation-models"
    /// The name shown to people.
    public let displayName = "Apple Foundation Models"
    /// Always true.
    public var isOnDevice: Bool { true }
    /// Apple's own limit of a session.
    public var maxContextLength: Int? { get async { 4096 } }

    /// A provider of the system's model.
    public init() {}

    /// Whether the system has the model, and it is switched on.
    public var availability: ProviderAvailability {
        get async {
            #if canImport(FoundationModels)
            if #available(macOS 26, iOS 26, *) {
                switch SystemLanguageModel.default.availability {
                case .available: return .available
                case .unavailable(let reason): return .unavailable(.unknown("the system's model is off: \(reason)"))
                @unknown default: return .unavailable(.unsupportedPlatform)
                }
            }
            #endif
            return .unavailable(.unsupportedPlatform)
        }
    }

    /// Does nothing: the system loads its model by itself.
    public func prepare() async throws(AIError) { try await require() }
    /// Does nothing.
    public func cleanup() async {}

    /// Generates from a prompt.
    public func generate(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationResult {
        try await stream(prompt: prompt, config: config).collectWithMetadata()
    }

    /// The same as a stream.
    public func stream(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationStream {
        try await stream(messages: [.user(prompt)], ChatTemplate.Options(), config: config)
    }

    /// The assistant's next turn. System turns become instructions; tools and a template's variables are refused.
    public func stream(
        messages: [Message], _ options: ChatTemplate.Options, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        try config.require(only: config.topK == nil ? ["topP", "seed"] : ["topK", "seed"], at: displayName)
        guard try ChatOptions(options).tools.isEmpty,
            messages.allSatisfy({ $0.toolCalls.isEmpty && $0.images.isEmpty })
        else { throw AIError(.invalidInput, "\(displayName) takes no tools and no pictures here") }
        guard messages.last?.role == .user else {
            throw AIError(.invalidInput, "the conversation does not end with a user's message")
        }
        try await require()
        #if canImport(FoundationModels)
        if #available(macOS 26, iOS 26, *) { return Self.answer(messages, config) }
        #endif
        throw Self.absence
    }

    private func require() async throws(AIError) {
        switch await availability {
        case .available: return
        case .unavailable(.unknown(let why)): throw AIError(.unsupportedModel, why)
        case .unavailable: throw Self.absence
        }
    }

    private static let absence = AIError(
        .unsupportedModel, "Apple's language model exists on macOS 26 and later alone",
        advice: "use a model in the cache, or an inference provider")

    #if canImport(FoundationModels)
    @available(macOS 26, iOS 26, *)
    private static func answer(_ messages: [Message], _ config: GenerateConfig) -> GenerationStream {
        let seed = config.seed ?? UInt64.random(in: .min ... .max)
        let sampling: GenerationOptions.SamplingMode =
            if config.isGreedy { .greedy } else if let k = config.topK { .random(top: k, seed: seed) } else {
                .random(probabilityThreshold: config.topP ?? 1, seed: seed)
            }
        let options = GenerationOptions(
            sampling: sampling, temperature: config.isGreedy ? nil : config.temperature,
            maximumResponseTokens: config.maxTokens)
        return GenerationStream {
            AsyncThrowingStream { continuation in
                let task = Task {
                    do {
                        let session = LanguageModelSession(transcript: transcript(messages.dropLast()))
                        var shown = ""
                        for try await snapshot in session.streamResponse(
                            to: messages.last?.content ?? "", options: options)
                        {
                            // Each snapshot is the whole text so far.
                            continuation.yield(
                                GenerationChunk(
                                    text: String(snapshot.content.dropFirst(shown.count)), tokenCount: 0))
                            shown = snapshot.content
                        }
                        let result = GenerationResult(text: shown, finishReason: .stop, seed: seed)
                        continuation.yield(GenerationChunk(text: "", finishReason: .stop, result: result))
                        continuation.finish()
                    } catch { continuation.finish(throwing: error) }
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }
    }

    /// InferenceKit has one, too.
    @available(macOS 26, iOS 26, *)
    private typealias AppleTranscript = FoundationModels.Transcript

    @available(macOS 26, iOS 26, *)
    private static func transcript(_ messages: some Sequence<Message>) -> AppleTranscript {
        AppleTranscript(
            entries: messages.map { message in
                let text = [
                    AppleTranscript.Segment.text(AppleTranscript.TextSegment(content: message.content ?? ""))
                ]
                return switch message.role {
                case .system: .instructions(AppleTranscript.Instructions(segments: text, toolDefinitions: []))
                case .assistant: .response(AppleTranscript.Response(assetIDs: [], segments: text))
                case .user, .tool: .prompt(AppleTranscript.Prompt(segments: text))
                }
            })
    }
    #endif
}
