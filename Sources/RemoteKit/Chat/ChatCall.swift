import HubChatTemplates
import HubCore
import InferenceKit

/// A request for the next turn, ready to be sent.
struct ChatCall: Sendable {
    let client: RemoteClient
    let address: String
    let body: ChatBody
    /// Who serves, if the call says so.
    var servedBy: String?

    /// The turn as a stream; each iteration sends the request.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for what cannot be sent.
    func stream() throws(AIError) -> GenerationStream {
        let chunks = try chunks(isStream: true)
        return GenerationStream { chunks }
    }

    /// The turn in one piece.
    func respond() async throws(AIError) -> GenerationResult {
        var reader = ChatReader(try chunks(isStream: false))
        while let chunk = try await reader.next() {
            guard let result = chunk.result else { continue }
            if result.finishReason == .cancelled {
                throw AIError(.cancelled, "interrupted", cause: PartialAnswer(result))
            }
            return result
        }
        throw AIError(.streamInterrupted, "\(client.name) gave no answer")
    }

    private func chunks(isStream: Bool) throws(AIError) -> ChatChunks {
        var call = RemoteCall.post(address, try body.json(isStream: isStream), model: body.model)
        if isStream { call.accepts = "text/event-stream" }
        return ChatChunks(client: client, call: call, seed: body.config.seed, servedBy: servedBy)
    }
}

extension ChatOptions {
    /// Of a template's options those that a provider can be asked for.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for the others.
    init(_ options: ChatTemplate.Options) throws(AIError) {
        func refuse(_ what: String) throws(AIError) {
            throw AIError(
                .invalidInput, "a remote model cannot be given \(what)",
                advice: "leave it out, or run the model on this machine")
        }
        if options.documents != nil { try refuse("documents") }
        if !options.addsGenerationPrompt { try refuse("a conversation without the assistant's turn") }
        var effort: ReasoningEffort?
        for (name, value) in options.variables.members {
            effort = name == "reasoning_effort" ? value.string.flatMap { ReasoningEffort(rawValue: $0) } : nil
            if effort == nil { try refuse("the template's variable \"\(name.printable)\"") }
        }
        self.init(tools: options.tools ?? [], reasoningEffort: effort)
    }
}
