import HubChatTemplates
import HubCore
import InferenceKit
import MemoryKit

/// What a person may ask of the program in a conversation.
extension ChatSession {
    enum Command: String, CaseIterable {
        case help, retry, edit, model, system, tools, json, reasoning, save, stats, quit

        var doc: (usage: String, text: String) {
            switch self {
            case .help: ("/help", "this list")
            case .retry: ("/retry", "another answer to the last message")
            case .edit: ("/edit [TEXT]", "change the last message and have it answered again")
            case .model: ("/model [MODEL]", "show the model, or change it")
            case .system: ("/system [TEXT]", "change the system message; without TEXT there is none")
            case .tools: ("/tools", "what the model may call")
            case .json: ("/json [SCHEMA]", "answers must fit a JSON Schema, a file; without it any text will do")
            case .reasoning:
                ("/reasoning", "show the last reasoning, and from now on as it comes, or fold it again")
            case .save:
                ("/save FILE", "write the conversation into a file: Markdown, or JSON if its name ends in .json")
            case .stats: ("/stats", "tokens and speed of the last answer")
            case .quit: ("/quit", "end the conversation, as Ctrl-D does")
            }
        }
    }

    private static let further = """
        A pasted text is one message. A backslash at the end of a line continues it; \"\"\" begins and ends a text of several lines. @FILE puts a file \
        before the message.
        """

    /// - Returns: whether the conversation continues.
    mutating func obey(_ line: String) async throws -> Bool {
        let words = line.dropFirst().split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
        guard let command = words.first.flatMap(Command.init) else {
            context.output.note("unknown command \(line.printable); /help lists them")
            return true
        }
        let text = words.count > 1 ? words[1] : nil
        if command != .edit { edited = nil }
        do {
            switch command {
            case .quit: return false
            case .help: showHelp()
            case .system:
                conversation.system = text
                await keep()
            case .stats: await showStatistics()
            case .retry: try await retry()
            case .edit: try await edit(text)
            case .model: try await model(text)
            case .tools: showTools()
            case .json: try await format(text)
            case .reasoning: toggleReasoning()
            case .save: try await save(text)
            }
        } catch let error as AIError where error.code != .cancelled {
            context.output.failure(error)
        }
        return true
    }

    private func showHelp() {
        let width = context.output.settings.width ?? 80
        for line in TextWrap.definitions(Command.allCases.map { ($0.doc.usage, $0.doc.text) }, width: width) {
            context.output.line(Styled(line))
        }
        for line in TextWrap.lines(Self.further, width: width) {
            context.output.line(Styled(line, .faint))
        }
    }

    private mutating func retry() async throws {
        guard conversation.lastMessage != nil else {
            return context.output.note("there is no message to answer again")
        }
        try await answer { conversation, each in try await conversation.retry(each: each) }
    }

    private mutating func edit(_ text: String?) async throws {
        guard let last = conversation.lastMessage?.content else {
            return context.output.note("there is no message to change")
        }
        if let text {
            let before = conversation
            conversation.dropLastMessage()
            let count = conversation.turns.count
            try await answer { conversation, each in
                try await conversation.answer(.user(text), each: each)
            }
            if conversation.turns.count == count { conversation = before }
            return
        }
        edited = last
    }

    private mutating func model(_ name: String?) async throws {
        guard let name else {
            let (model, provider) = conversation.names
            return context.output.line(Styled("\(model), \(provider)"))
        }
        guard let changeModel else {
            return context.output.note("hub try talks with one model; hub chat can change it")
        }
        let change = try await asking(otherwise: "the model was not changed") { try await changeModel(name) }
        let (speaker, names) = (change.speaker, change.names)
        if speaker.isLocal {
            try attached?.checkText()
        } else if names.provider != conversation.names.provider {
            let what = [
                attached?.names, conversation.memory.map { "excerpts of \($0.names)" },
                conversation.turns.unseen(by: names.provider),
            ]
            for what in what.compactMap(\.self) { try await askToSend(what, to: names.provider) }
        }
        conversation.speaker = speaker
        conversation.names = names
        keeper?.change(model: change.asked.model, provider: change.asked.provider)
        await keep()
        context.output.note("\(names.model) (\(names.provider)) answers from now on")
    }

    private func showTools() {
        guard let tools = conversation.speaker.tools?.tools else {
            return context.output.note("there are none; --tool and --web of hub chat give some")
        }
        var table = Table([.init("TOOL"), .init("", least: 20)])
        for tool in tools { table.add([Styled(tool.name), Styled(tool.description)]) }
        context.output.table(table)
    }

    private mutating func format(_ file: String?) async throws {
        guard let file else {
            conversation.format = nil
            return
        }
        conversation.format = try await AnswerForm.Choice.schema(file).read(context).format
    }

    private mutating func toggleReasoning() {
        if !showsReasoning, let reasoning = conversation.last?.reasoning, !reasoning.isEmpty {
            context.output.stream(reasoning + "\n", .faint)
        }
        showsReasoning.toggle()
        context.output.note(showsReasoning ? "reasoning is shown as it comes" : "reasoning is folded")
    }

    private func save(_ file: String?) async throws {
        guard let file else { throw AIError(.invalidInput, "write /save FILE") }
        let (model, provider) = conversation.names
        let document =
            keeper?.document(of: conversation)
            ?? KeptConversation(
                model: model, provider: provider, system: conversation.system, turns: conversation.turns,
                at: conversation.turns.first?.at ?? Timestamp.now)
        let path = context.environment.expand(file)
        guard !FileSystem.exists(path) else {
            throw AIError(
                .invalidInput, "\(file.printable) is there already", advice: "choose another name",
                context: .init(path: path))
        }
        let text = file.hasSuffix(".json") ? JSON.object(document.json).text(.pretty) + "\n" : document.markdown
        try await Blocking.run { try FileSystem.replace(path, with: Array(text.utf8), mode: 0o600) }
        context.output.note("saved as \(file.printable)")
    }

    private func showStatistics() async {
        guard let last = conversation.last else { return context.output.note("there is no answer yet") }
        func counted(_ count: Int) -> String { Humanize.plural(count, "token") }
        let output = context.output
        let reused = last.reusedTokens.map { ", \($0) of them reused" } ?? ""
        output.fact("prompt", last.promptTokens.map { counted($0) + reused })
        output.fact(
            "answer",
            last.answerTokens.map {
                "\(counted($0)), \(Humanize.grouped(Int(last.tokensPerSecond.rounded()))) tokens/s"
            })
        output.fact("first", last.ttftSeconds.map { "after \(Int(($0 * 1000).rounded())) ms" })
        output.fact("guessed", last.draftedTokens > 0 ? "\(last.draftedTokens), \(last.acceptedTokens) right" : "")
        output.fact("served by", last.servedBy)
        output.fact("kept as", keeper?.id)
        guard let prompt = last.promptTokens, let answer = last.answerTokens,
            let positions = await conversation.speaker.context
        else { return }
        // The last token of the answer was not read back.
        output.fact(
            "context", "\(Humanize.grouped(prompt + max(0, answer - 1))) of \(Humanize.grouped(positions)) tokens")
    }
}
