package import HubChatTemplates
package import HubCore
package import InferenceKit

/// A model of this machine for who holds a conversation in this process. Each of its turns waits for a place, as the
/// requests of the API do, so that nothing is held while a tool runs or a person is asked.
package struct SharedModel: Sendable {
    private let cached: CachedModel
    private let runner: TurnRunner

    init(_ cached: CachedModel, _ runner: TurnRunner) { (self.cached, self.runner) = (cached, runner) }

    /// The folder, or the file.
    package var path: String { cached.path }
    /// As clients call it.
    package var name: String { cached.id }

    /// The positions that a conversation may have; nil if the model does not open, and then the next turn says why.
    package var context: Int? {
        get async { try? await runner.pool.with(cached, keepAlive: nil) { $0.texts?.context } }
    }

    /// Tokens of the prompt that a conversation makes.
    package func promptTokens(_ messages: [Message], _ options: ChatOptions) async throws(AIError) -> Int? {
        do {
            return try await runner.pool.with(cached, keepAlive: nil) {
                try await $0.chat.promptTokens(messages: messages, options: options)
            }
        } catch { throw AIError(served: error) }
    }

    /// The next turn; it waits for its place when it is read.
    package func stream(
        _ messages: [Message], _ options: ChatOptions, _ config: GenerateConfig
    ) -> GenerationStream {
        let turn = Turn(cached, config, count: 1) { model, config in
            try await model.chat.stream(messages: messages, options: options, config: config)
        }
        return GenerationStream { [runner] in
            AsyncThrowingStream<GenerationChunk, any Error> { pieces in
                let task = Task {
                    do {
                        _ = try await runner.run(turn) { _, _, chunk in pieces.yield(chunk) }
                        pieces.finish()
                    } catch { pieces.finish(throwing: AIError(served: error)) }
                }
                pieces.onTermination = { _ in task.cancel() }
            }
        }
    }
}

extension AIError {
    /// A failure of the API's for who does not speak its protocols; ``APIFault`` finds itself again in it.
    fileprivate init(served error: any Error) {
        guard let fault = error as? APIFault else {
            self = .wrapping(error)
            return
        }
        let code: ErrorCode =
            switch fault.status {
            case _ where fault.code == "context_length_exceeded": .contextFull
            case 404: .notCached
            case 503: .serviceUnavailable
            case 400..<500: .invalidInput
            default: .generationFailed
            }
        self.init(code, fault.message, cause: fault)
    }
}
