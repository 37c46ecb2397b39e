import HubChatTemplates
import HubCore
import InferenceKit

/// What was said so far between a person and a model, and the model's next answer.
struct Conversation {
    private let model: LanguageModel
    private let templates: ChatTemplates
    private let config: GenerateConfig
    /// The system message; nil for none.
    var system: String?
    /// The turns, the person's first.
    private(set) var turns: [Message] = []
    /// How the last answer was made.
    private(set) var last: GenerationResult?
    /// Answers that were asked for again: with one seed each must be another.
    private var retries: UInt64 = 0

    init(_ model: LanguageModel, _ templates: ChatTemplates, _ config: GenerateConfig, system: String?) {
        (self.model, self.templates, self.config, self.system) = (model, templates, config, system)
    }

    /// The positions that a conversation may have.
    var context: Int { model.context }

    /// Answers a message. If that fails the message was never said; if the task is cancelled, what there is of the
    /// answer was said.
    ///
    /// - Parameter each: called with each piece of the answer.
    mutating func answer(_ text: String, each: (String) -> Void) async throws -> GenerationResult {
        turns.append(.user(text))
        do { return try await answer(each) } catch {
            turns.removeLast()
            throw error
        }
    }

    /// Answers the last message again; nil if there is none.
    mutating func retry(each: (String) -> Void) async throws -> GenerationResult? {
        guard let earlier = turns.popLast() else { return nil }
        retries += 1
        do { return try await answer(each) } catch {
            turns.append(earlier)
            throw error
        }
    }

    private mutating func answer(_ each: (String) -> Void) async throws -> GenerationResult {
        let messages = (system.map { [Message.system($0)] } ?? []) + turns
        let prompt = try await Blocking.run { [templates] in try templates.render(json: messages.map(\.json)).text }
        let config = self.config.seed(self.config.seed.map { $0 &+ retries })
        let result = try await model.generate(prompt: prompt, addsSpecialTokens: false, config: config)
            .collectWithMetadata { if !$0.text.isEmpty { each($0.text) } }
        turns.append(.assistant(result.text))
        last = result
        return result
    }
}
