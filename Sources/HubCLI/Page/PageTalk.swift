import HubAPI
import HubChatTemplates
import HubCore
import InferenceKit
import MemoryKit
import RemoteKit

/// What a chat on the page may use: the models of the API, and what the server was started with. A browser adds nothing.
struct PageTalk: Sendable {
    let api: APIRoom
    /// Those of `--tool` and `--web`; nil without any.
    var tools: ChatTools?
    /// The documents of `--with`; nil without.
    var memory: MemoryContext?
    /// Who else may answer; nil for this machine alone.
    var provider: ProviderChoice?
    let questions = PageQuestions()

    init(api: APIRoom) { self.api = api }
}

/// A model of this machine that the page shares with the API's clients.
struct PageModel: ChatModel {
    let shared: SharedModel

    var identifier: String { shared.path }
    var displayName: String { shared.name }
    var isOnDevice: Bool { true }
    // A model that does not open says why in its first turn.
    var availability: ProviderAvailability { get async { .available } }
    var maxContextLength: Int? { get async { await shared.context } }
    // The API opens models when they are asked, and closes them.
    func prepare() async throws(AIError) {}
    func cleanup() async {}

    func stream(
        messages: [Message], options: ChatOptions, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream { shared.stream(messages, options, config) }

    func promptTokens(messages: [Message], options: ChatOptions) async throws(AIError) -> Int? {
        try await shared.promptTokens(messages, options)
    }
}

/// The turns of a conversation as the page has them: OpenAI's messages, each answer with its model and provider.
enum PageTurns {
    /// - Parameter model: whose answers those without a model are.
    static func read(_ list: [JSON], model: String) throws(AIError) -> [KeptConversation.Turn] {
        guard !list.isEmpty else { throw AIError(.invalidInput, "the conversation is empty") }
        return zip(try APIRoom.messages(list), list).map { message, json in
            let isAnswer = message.role == .assistant
            return KeptConversation.Turn(
                message, at: Timestamp.now, model: isAnswer ? json["model"]?.string ?? model : nil,
                provider: isAnswer ? json["provider"]?.string ?? ProviderChoice.local.text : nil,
                sources: json["sources"]?.array?.compactMap(\.string) ?? [])
        }
    }
}
