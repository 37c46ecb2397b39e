public import HubChatTemplates
public import HubCore
public import InferenceKit

#if canImport(MLXLMCommon) && canImport(MLXLLM)
import Foundation
import MLXLLM
import MLXLMCommon
#endif

/// A model in MLX's format on a Mac's GPU, in programs that also link mlx-swift-lm. hub itself depends on no package, so
/// that the provider is unavailable in it.
///
/// Written by the package's documentation, https://github.com/ml-explore/mlx-swift-lm; it was compiled and run on no Mac
/// yet.
public final class MLXProvider: TextGenerator {
    /// The folder.
    public let identifier: String
    /// The name shown to people.
    public let displayName: String
    /// Always true.
    public var isOnDevice: Bool { true }
    /// What the model's own files say.
    public var maxContextLength: Int? {
        get async { try? await ModelInspection.inspect(folder: identifier).contextLength }
    }

    /// A provider of a model folder; nothing is read yet.
    public init(folder: String, displayName: String? = nil) {
        identifier = folder
        self.displayName = displayName ?? Path.name(folder)
    }

    /// Whether MLX is there, and the folder.
    public var availability: ProviderAvailability {
        get async {
            #if canImport(MLXLMCommon) && canImport(MLXLLM)
            return FileSystem.exists(identifier) ? .available : .unavailable(.modelNotDownloaded)
            #else
            return .unavailable(.unsupportedPlatform)
            #endif
        }
    }

    /// Does nothing: a model is loaded by its first answer.
    public func prepare() async throws(AIError) { try await require() }
    /// Does nothing.
    public func cleanup() async {}

    /// Generates from a prompt, which is sent as a user's turn.
    public func generate(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationResult {
        try await stream(prompt: prompt, config: config).collectWithMetadata()
    }

    /// The same as a stream.
    public func stream(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationStream {
        try await stream(messages: [.user(prompt)], ChatTemplate.Options(), config: config)
    }

    /// The assistant's next turn. One user's message, after an optional system's; anything else is refused.
    public func stream(
        messages: [Message], _ options: ChatTemplate.Options, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        try config.require(only: ["topP"], at: displayName)
        let turns = messages.filter { $0.role != .system }
        guard try ChatOptions(options).tools.isEmpty, turns.count == 1, turns[0].role == .user,
            turns[0].images.isEmpty
        else {
            throw AIError(.invalidInput, "\(displayName) takes one user's message here, without tools and pictures")
        }
        try await require()
        #if canImport(MLXLMCommon) && canImport(MLXLLM)
        let instructions = messages.first { $0.role == .system }?.content
        return answer(turns[0].content ?? "", instructions, config)
        #else
        throw Self.absence
        #endif
    }

    private func require() async throws(AIError) {
        switch await availability {
        case .available: return
        case .unavailable(.modelNotDownloaded):
            throw AIError(.fileNotFound, "\(identifier) does not exist", context: .init(path: identifier))
        case .unavailable: throw Self.absence
        }
    }

    private static let absence = AIError(
        .unsupportedModel, "MLX runs on a Mac with Apple silicon, in programs that link mlx-swift-lm",
        advice: "hub try runs MLX's format on the processor")

    #if canImport(MLXLMCommon) && canImport(MLXLLM)
    private func answer(_ prompt: String, _ instructions: String?, _ config: GenerateConfig) -> GenerationStream {
        let folder = URL(filePath: identifier)
        let parameters = GenerateParameters(
            maxTokens: config.maxTokens, temperature: Float(config.temperature), topP: Float(config.topP ?? 1))
        return GenerationStream {
            AsyncThrowingStream { continuation in
                let task = Task {
                    do {
                        let model = try await loadModel(directory: folder)
                        let session = ChatSession(model, instructions: instructions, generateParameters: parameters)
                        var shown = ""
                        for try await piece in session.streamResponse(to: prompt) {
                            shown += piece
                            continuation.yield(GenerationChunk(text: piece, tokenCount: 0))
                        }
                        let result = GenerationResult(text: shown, finishReason: .stop)
                        continuation.yield(GenerationChunk(text: "", finishReason: .stop, result: result))
                        continuation.finish()
                    } catch { continuation.finish(throwing: error) }
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }
    }
    #endif
}
