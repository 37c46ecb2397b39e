import HubChatTemplates
import HubCore
import HubTokenizers
import InferenceKit
import MemoryKit
import RemoteKit

extension ChatCommand {
    static func run(_ context: Context, _ typed: Request) async throws {
        if typed.wish.model.isEmpty, typed.namesModel { throw try await ChatChoice.missingModel(context) }
        let attachments = try await Attachments.read(typed.attachments, context)
        let web = typed.searchesWeb ? try WebTools(try await context.remoteContext()) : nil
        if web?.searches == false {
            context.output.note(
                "HUB_SEARXNG_URL is not set: nothing is searched, and pages that you name can be read")
        }
        let tools = try ChatTools(typed.tools, allowed: typed.allowedTools, web: web, context)
        let form = try await typed.form?.read(context)
        let prompt = try await prompt(typed, context)
        // What came through a pipe is not for a search engine either.
        if prompt != typed.words { tools?.guardSearches() }
        if prompt == nil { try ChatSession.checkTerminal(context, once: typed.once) }
        let (request, kept) = try await continued(typed, context)
        let (source, reasons) = try await ModelSource.choose(request.wish, context)
        var report = ChatReport(model: source.name, provider: source.label)
        reasons.tell(context.output, all: request.explains && context.mode != .json)
        if request.explains { report.reasons = reasons }
        context.output.document(report.json)
        let speaker = try await speaker(source, request, attachments, context).using(tools)
        if case .remote(let model) = source, let what = kept?.turns.unseen(by: model.label) {
            try await SendingConsent(isGiven: request.yes).ask(what, to: model.label, context)
        }
        let memory = try await memory(source, request, context)
        var conversation = Conversation(
            speaker, names: (source.name, source.label), request.config, system: request.system ?? kept?.system,
            turns: kept?.turns ?? [], memory: memory, timeout: request.wish.timeout)
        conversation.format = form?.format
        let keeps = request.keeps ?? !context.environment.isTrue("HUB_NO_KEEP")
        let keeper = keeps ? keeper(request, kept, context) : nil
        guard let prompt else {
            var session = try ChatSession(
                conversation, keeper: keeper, attached: attachments.isEmpty ? nil : attachments,
                consent: SendingConsent(isGiven: request.yes),
                changeModel: { name in try await change(to: name, request, tools, context) }, context)
            if let kept { SessionStart.show(kept, context) }
            return try await session.run()
        }
        let message = attachments.message(prompt)
        try await answer(message, prompt, typed, conversation, form, keeper, &report, context)
    }

    /// The text to answer, from the command line and a pipe; nil for a conversation.
    private static func prompt(_ request: Request, _ context: Context) async throws -> String? {
        let words = request.words
        if request.prompt != "-", context.inputIsTerminal { return words }
        let bytes = try await context.input("-").bytes
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw AIError(.invalidInput, "the text on stdin is not UTF-8")
        }
        let piped = text.contains { !$0.isWhitespace } ? text.lastIndex { !$0.isNewline }.map { text[...$0] } : nil
        switch (words, piped) {
        case (let words?, let piped?): return "\(words)\n\n\(piped)"
        case (let words?, nil): return words
        case (nil, let piped?): return String(piped)
        case (nil, nil):
            throw AIError(
                .invalidInput, "stdin has no text",
                advice: "write \(request.once), or pipe a text into it; a conversation needs a terminal")
        }
    }

    // MARK: Kept conversations

    /// The conversation of `--continue`, and the request with its model.
    private static func continued(
        _ request: Request, _ context: Context
    ) async throws -> (Request, KeptConversation?) {
        guard let id = request.continued else { return (request, nil) }
        let kept = try await ChatsCommand.conversation(id, context)
        var request = request
        if !request.namesModel {
            request.wish.model = kept.model
            if !request.namesProvider { request.wish.provider = try ProviderChoice(kept.provider) }
        }
        return (request, kept)
    }

    private static func keeper(
        _ request: Request, _ kept: KeptConversation?, _ context: Context
    ) -> ConversationKeeper {
        let (model, provider) = askedFor(request.wish, context)
        var kept = kept ?? KeptConversation(model: model, provider: provider, at: Timestamp.now)
        (kept.model, kept.provider) = (model, provider)
        return ConversationKeeper(kept, context.environment)
    }

    /// The model and the provider as they can be asked for again, from any folder.
    private static func askedFor(_ wish: ModelWish, _ context: Context) -> (String, String) {
        let path = wish.model.namesModelHere ? FileSystem.resolved(context.environment.expand(wish.model)) : nil
        return (path ?? context.aliases[wish.model]?.name ?? wish.model, wish.provider.text)
    }

    // MARK: Who answers

    /// Another model for the conversation.
    private static func change(
        to name: String, _ request: Request, _ tools: ChatTools?, _ context: Context
    ) async throws -> ChatSession.ModelChanged {
        let context = await context.resolvingAliases([name])
        var request = request
        request.wish.model = name
        let (source, reasons) = try await ModelSource.choose(request.wish, context)
        reasons.tell(context.output)
        let speaker = try await speaker(source, request, Attachments(), context).using(tools)
        return .init(speaker: speaker, names: (source.name, source.label), asked: askedFor(request.wish, context))
    }

    /// Who answers, ready to be asked.
    private static func speaker(
        _ source: ModelSource, _ request: Request, _ attachments: Attachments, _ context: Context
    ) async throws -> Speaker {
        switch source {
        case .remote(let model):
            try request.checkRemote(model.label)
            if !attachments.isEmpty {
                try await SendingConsent(isGiven: request.yes).ask(attachments.names, to: model.label, context)
            }
            return .remote(model.provider)
        case .local(let place):
            try attachments.checkText()
            let model = try await place.open(request.wish.demand, context)
            guard model.generates else {
                throw AIError(
                    .unsupportedModel, "\(place.id) \(model.task.purpose); it does not answer",
                    advice: model.task.example(request.wish.model, mask: model.mask))
            }
            guard let templates = try await Blocking.run({ try ChatTemplates.read(model: place.path) }) else {
                throw AIError(
                    .invalidInput, "\(place.path) has no chat template",
                    advice: "hub try \(ShellQuoting.word(request.wish.model)) PROMPT continues a text",
                    context: .init(path: place.path))
            }
            return .local(model, templates)
        }
    }

    /// The documents of `--with`.
    private static func memory(
        _ source: ModelSource, _ request: Request, _ context: Context
    ) async throws -> MemoryContext? {
        guard !request.folders.isEmpty else { return nil }
        if case .remote(let model) = source {
            let names = request.folders.map(\.printable).joined(separator: ", ")
            try await SendingConsent(isGiven: request.yes).ask("excerpts of \(names)", to: model.label, context)
        }
        let demand = ModelPlace.Demand(command: "hub chat", yes: request.yes)
        return try await ChatMemory.open(request.folders, embedder: request.embedder, demand, context)
    }

    // MARK: One answer

    private static func answer(
        _ message: Message, _ prompt: String, _ request: Request, _ conversation: Conversation, _ form: AnswerForm?,
        _ keeper: ConversationKeeper?, _ report: inout ChatReport, _ context: Context
    ) async throws {
        var (conversation, keeper) = (conversation, keeper)
        var printer = AnswerPrinter(context)
        var tokens: [TokenLog] = []
        let tokenizer = conversation.speaker.tokenizer
        let isFirst = conversation.turns.isEmpty
        do {
            let result = try await conversation.answer(message, question: prompt, typed: request.words ?? "") {
                chunk in
                printer.show(chunk)
                if let token = TokenLog(chunk, tokenizer) { tokens.append(token) }
            }
            report.result = result
        } catch {
            var error = AIError.wrapping(error)
            if isFirst, conversation.speaker.isLocal { error = error.advisingOnPrompt }
            if let partial = error.partialResult, !partial.text.isEmpty || partial.reasoning != nil {
                report.result = partial
                report.isWhole = false
                printer.end()
            }
            context.output.document(report.json)
            throw error
        }
        report.contextLength = await conversation.speaker.context
        report.logprobs = tokens
        report.value = report.result.flatMap { form?.value(of: $0) }
        report.sources = conversation.memory == nil ? nil : conversation.sources
        await keeper?.keep(conversation, context.output)
        report.conversation = keeper?.id
        context.output.document(report.json)
        printer.end()
        if report.result?.finishReason == .cancelled { throw CancellationError() }
        SourceList.show(conversation.sources, in: report.result?.text ?? "", context)
        report.show(context)
        if let result = report.result { try form?.check(result) }
    }
}

/// What a person sees of a conversation that goes on.
enum SessionStart {
    static func show(_ kept: KeptConversation, _ context: Context) {
        let title = kept.title.isEmpty ? kept.id : "\(kept.id): \(kept.title)"
        context.output.line(Styled(title, .strong))
        guard let last = kept.turns.last, last.message.role == .assistant, let text = last.message.content else {
            return
        }
        context.output.line(Styled("the last answer:", .faint))
        context.output.stream(AnswerPrinter.runs(of: text, context))
    }
}
