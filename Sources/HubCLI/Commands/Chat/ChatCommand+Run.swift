import HubChatTemplates
import HubCore
import HubTokenizers
import InferenceKit

extension ChatCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        let attachments = try await Attachments.read(request.attachments, context)
        let tools = try ChatTools(request.tools, allowed: request.allowedTools, context)
        let form = try await request.form?.read(context)
        let prompt = try await prompt(request, context)
        if prompt == nil { try ChatSession.checkTerminal(context, once: "hub chat MODEL PROMPT") }
        let (source, reasons) = try await ModelSource.choose(request.wish, context)
        var report = ChatReport(model: source.name, provider: source.label)
        reasons.tell(context.output, all: request.explains && context.mode != .json)
        if request.explains { report.reasons = reasons }
        context.output.document(report.json)
        let speaker = try await speaker(source, request, attachments, context).using(tools)
        var conversation = Conversation(
            speaker, request.config, system: request.system, timeout: request.wish.timeout)
        conversation.format = form?.format
        guard let prompt else {
            var session = try ChatSession(
                conversation, attached: attachments.isEmpty ? nil : attachments.message(""), context)
            return try await session.run()
        }
        try await answer(attachments.message(prompt), conversation, form, &report, context)
    }

    /// The text to answer, from the command line or a pipe; nil for a conversation.
    private static func prompt(_ request: Request, _ context: Context) async throws -> String? {
        guard request.prompt == nil || request.prompt == "-" else { return request.prompt }
        if request.prompt == nil, context.inputIsTerminal { return nil }
        let bytes = try await context.input("-").bytes
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw AIError(.invalidInput, "the text on stdin is not UTF-8")
        }
        let end = text.lastIndex { !$0.isNewline }
        guard let end, text.contains(where: { !$0.isWhitespace }) else {
            throw AIError(
                .invalidInput, "stdin has no text",
                advice: "write hub chat MODEL PROMPT, or pipe a text into it; a conversation needs a terminal")
        }
        return String(text[...end])
    }

    /// Who answers, ready to be asked.
    private static func speaker(
        _ source: ModelSource, _ request: Request, _ attachments: Attachments, _ context: Context
    ) async throws -> Speaker {
        switch source {
        case .remote(let model):
            try request.checkRemote(model.label)
            try await askToSend(attachments, to: model, request, context)
            return .remote(model.provider)
        case .local(let place):
            if let picture = attachments.picture {
                throw AIError(
                    .invalidInput, "\(picture.printable) is a picture; models on this machine read text only",
                    advice: "a remote model may see it: --provider hf")
            }
            let model = try await place.open(request.wish.demand, context)
            guard model.generates else {
                throw AIError(
                    .invalidInput, "\(place.id) \(model.task.purpose); it does not answer",
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

    /// Files leave this machine only after a yes.
    private static func askToSend(
        _ attachments: Attachments, to model: RemoteModel, _ request: Request, _ context: Context
    ) async throws {
        guard !attachments.isEmpty else { return }
        let isAllowed = try await context.confirm(
            "Send \(attachments.names) to \(model.label)?", isGiven: request.yes,
            otherwise: "sending \(attachments.names) to \(model.label) needs a yes")
        guard isAllowed else { throw AIError(.confirmationRequired, "nothing was sent") }
    }

    // MARK: One answer

    private static func answer(
        _ message: Message, _ conversation: Conversation, _ form: AnswerForm?, _ report: inout ChatReport,
        _ context: Context
    ) async throws {
        var conversation = conversation
        var printer = AnswerPrinter(context.output)
        var tokens: [TokenLog] = []
        let tokenizer = conversation.speaker.tokenizer
        do {
            let result = try await conversation.answer(message) { chunk in
                printer.show(chunk)
                if let token = TokenLog(chunk, tokenizer) { tokens.append(token) }
            }
            report.result = result
        } catch {
            let error = AIError.wrapping(error)
            if let partial = error.partialResult, !partial.text.isEmpty || partial.reasoning != nil {
                report.result = partial
                report.isWhole = false
                printer.end()
            }
            context.output.document(report.json)
            throw error
        }
        report.logprobs = tokens
        report.value = report.result.flatMap { form?.value(of: $0) }
        context.output.document(report.json)
        printer.end()
        if report.result?.finishReason == .cancelled { throw CancellationError() }
        report.show(context)
        if let result = report.result { try form?.check(result) }
    }
}
