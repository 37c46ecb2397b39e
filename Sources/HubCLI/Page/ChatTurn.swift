import Fetcher
import HubAPI
import HubChatTemplates
import HubCore
import InferenceKit
import MemoryKit
import RemoteKit

/// A turn of a conversation on the page, held as `hub chat` holds it: the same conversation, the same tools, the same
/// questions. What happens goes to the browser as it comes.
struct ChatTurn: Sendable {
    private let place: PagePlace
    private let talk: PageTalk
    private let asked: ConversationRequest
    private let send: @Sendable (JSON) -> Void
    private let person: PagePerson

    init(
        _ place: PagePlace, _ talk: PageTalk, _ asked: ConversationRequest,
        _ send: @escaping @Sendable (JSON) -> Void
    ) {
        (self.place, self.talk, self.asked, self.send) = (place, talk, asked, send)
        person = PagePerson(questions: talk.questions, send: send)
    }

    func run() async throws {
        let messages = asked.fields["messages"]?.array ?? []
        var turns = try PageTurns.read(messages, model: asked.model)
        var system: String?
        if let first = turns.first?.message, first.role == .system {
            system = first.content
            turns.removeFirst()
        }
        guard let last = turns.popLast()?.message, last.role == .user else {
            throw AIError(.invalidInput, "the conversation does not end with a message of yours")
        }
        let (speaker, names) = try await speaker(turns, last)
        let web = talk.tools?.web == nil ? nil : try WebTools(shared)
        var conversation = Conversation(
            speaker.using(talk.tools?.anew(web: web, person)), names: names, asked.config, system: system,
            turns: turns, memory: talk.memory)
        conversation.format = asked.format
        conversation.onTool = { send(Self.event($0)) }
        // What was typed in this browser; a text that was kept may have come from a pipe.
        let typed = messages.compactMap { $0["typed"]?.string }
        let result = try await conversation.answer(
            last, question: messages.last?["typed"]?.string, typed: typed.joined(separator: "\n")
        ) { chunk in
            if let event = Self.event(chunk) { send(event) }
        }
        for event in Self.end(result, conversation) { send(event) }
    }

    // MARK: Who answers

    private var shared: RemoteContext {
        let output = place.context.output
        return RemoteContext(workspace: place.workspace, log: { output.debug($0) }, notice: { output.note($0) })
    }

    /// Who answers, once a person has agreed to what is sent.
    private func speaker(
        _ turns: [KeptConversation.Turn], _ last: Message
    ) async throws -> (Speaker, (model: String, provider: String)) {
        let name = asked.fields["provider"]?.string ?? ProviderChoice.local.text
        guard name != ProviderChoice.local.text else {
            let model = PageModel(shared: try await talk.api.sharedModel(asked.model))
            return (.remote(model), (model.displayName, name))
        }
        guard let provider = talk.provider, provider.text == name else {
            throw AIError(
                .invalidInput, "the server was not started with --provider \(Secrets.address(name).printable)")
        }
        let context = await place.context.resolvingAliases([asked.model])
        let model = try context.remoteModel(asked.model, at: provider, timeout: nil, shared)
        if !provider.isOnThisMachine {
            try await agree(to: model, provider)
            try await allow(turns + [.init(last, at: Timestamp.now)], to: model)
        }
        return (.remote(model.provider), (model.name, model.label))
    }

    /// Asks once whether texts may go to who may charge for answers.
    private func agree(to model: RemoteModel, _ provider: ProviderChoice) async throws {
        let origin: Origin
        let who: String
        if case .server = provider {
            origin = try Endpoint(model.label).origin
            who = "\(origin)"
        } else {
            origin = try place.context.environment.inferenceEndpoint().origin
            who = "the Hub's inference providers (\(origin))"
        }
        let agreed = SendingAgreements(place.context.environment)
        if try await Blocking.run({ try agreed.date(of: origin) }) != nil { return }
        try await person.mustAllow("Send what you type to \(who), now and later? They may charge for it.")
        try await agreed.set(Timestamp.now, of: origin)
    }

    /// Asks before a provider sees files, or what was said to this machine alone.
    private func allow(_ turns: [KeptConversation.Turn], to model: RemoteModel) async throws {
        if let what = turns.unseen(by: model.label) {
            try await person.mustAllow("Send \(what) to \(model.label)?")
        }
        guard let memory = talk.memory, !turns.hasSources(shownTo: model.label) else { return }
        try await person.mustAllow("Send excerpts of \(memory.names.printable) to \(model.label)?")
    }

    // MARK: Events

    private static func event(_ chunk: GenerationChunk) -> JSON? {
        guard !chunk.text.isEmpty || !chunk.reasoning.isEmpty else { return nil }
        let delta: JSONObject = [
            "content": chunk.text.isEmpty ? nil : .string(chunk.text),
            "reasoning_content": chunk.reasoning.isEmpty ? nil : .string(chunk.reasoning),
        ]
        return .object(["choices": .array([.object(["delta": .object(delta)])])])
    }

    private static func event(_ step: ToolStep) -> JSON {
        switch step {
        case .call(let call):
            .object([
                "tool_call": .object([
                    "id": call.id.map { .string($0) }, "name": .string(call.name),
                    "arguments": .string(call.arguments),
                ])
            ])
        case .output(let output):
            .object([
                "tool_output": .object([
                    "id": .string(output.callID), "name": .string(output.name), "content": .string(output.text),
                    "failed": .bool(output.isError),
                ])
            ])
        }
    }

    private static func end(_ result: GenerationResult, _ conversation: Conversation) -> [JSON] {
        let reason = JSON.object(["delta": .object([:]), "finish_reason": .string(result.finishReason.rawValue)])
        let (prompt, answer) = (Int64(result.promptTokens ?? 0), Int64(result.answerTokens ?? 0))
        var last: JSONObject = [
            "choices": .array([]),
            "provider": .string(RemoteModel.label(conversation.names.provider, servedBy: result.servedBy)),
            "sources": .array(conversation.sources.map { .string($0.citation) }),
        ]
        if result.answerTokens != nil {
            last["usage"] = .object([
                "prompt_tokens": .int(prompt), "completion_tokens": .int(answer),
                "total_tokens": .int(prompt + answer),
            ])
        }
        return [.object(["choices": .array([reason])]), .object(last)]
    }
}

extension [KeptConversation.Turn] {
    /// Whether an answer of this provider was based on documents, so that it was allowed to see them.
    fileprivate func hasSources(shownTo label: String) -> Bool {
        contains { ($0.provider == label || $0.provider?.hasPrefix("\(label):") == true) && !$0.sources.isEmpty }
    }
}
