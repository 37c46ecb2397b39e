import HubChatTemplates
import HubCore
import MemoryKit

extension ChatsCommand {
    /// What is done, and with which conversations.
    struct Request {
        var action: Action
        /// Ids, or the words of a search.
        var words: [String]
        var yes: Bool
        /// Whether all go, or those whose last message is this many seconds old.
        var all: Bool
        var olderThan: Double?

        /// - Throws: ``ErrorCode/invalidInput`` where nothing says what to remove, or two things do.
        init(_ action: Action, _ arguments: ParsedArguments) throws(AIError) {
            self.action = action
            words = arguments.operands
            yes = arguments[SharedFlags.yes]
            all = arguments[ChatsCommand.all]
            olderThan = arguments[SharedFlags.olderThan].map { Double($0.seconds) }
            guard action == .rm else { return }
            if words.isEmpty, !all, olderThan == nil {
                throw AIError(
                    .invalidInput, "missing ID", advice: "usage: hub chats rm ID..., --older-than AGE or --all")
            }
            if !words.isEmpty, all || olderThan != nil {
                throw AIError(
                    .invalidInput, "an ID and \(all ? "--all" : "--older-than") cannot be used together")
            }
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        switch request.action {
        case .ls: show(try await archive(context)?.entriesApart() ?? [], context, none: "no conversation is kept")
        case .search:
            let text = request.words.joined(separator: " ")
            let archive = try await archive(context)
            let found = try await Blocking.run { try archive?.search(text) ?? [] }
            show(found, context, none: "no conversation has \(text.printable)")
        case .show: show(try await conversation(request.words[0], context), context)
        case .export:
            let kept = try await conversation(request.words[0], context)
            context.output.document(kept.json)
            context.output.stream(kept.markdown)
        case .rm: try await remove(request, context)
        }
    }

    // MARK: Finding

    /// nil if nothing was ever kept.
    private static func archive(_ context: Context) async throws -> ConversationArchive? {
        let path = ConversationArchive.path(in: context.environment.stateDirectory)
        return try await Blocking.run {
            try FileSystem.status(path) != nil ? try ConversationArchive(path: path) : nil
        }
    }

    /// A kept conversation.
    ///
    /// - Parameter text: the beginning of its id; nil for the last one.
    /// - Throws: ``ErrorCode/nothingMatches``.
    static func conversation(_ text: String?, _ context: Context) async throws -> KeptConversation {
        let absent = AIError(
            .nothingMatches, text.map { "there is no conversation \($0.printable)" } ?? "no conversation is kept",
            advice: text == nil ? nil : "hub chats lists them")
        guard let archive = try await archive(context) else { throw absent }
        let id = try await id(text, archive)
        guard let id, let kept = try await Blocking.run({ try archive.conversation(id) }) else { throw absent }
        return kept
    }

    private static func id(_ text: String?, _ archive: ConversationArchive) async throws -> String? {
        guard let text else { return try await Blocking.run { try archive.latest() } }
        let ids = try await Blocking.run { try archive.ids(beginning: text.lowercased()) }
        guard ids.count < 2 else {
            throw AIError(
                .invalidInput, "\(text.printable) is the beginning of \(ids.count) conversations",
                advice: "they are \(ids.prefix(8).joined(separator: ", "))")
        }
        return ids.first
    }

    // MARK: Showing

    private static func show(_ entries: [ConversationEntry], _ context: Context, none: String) {
        context.output.render(
            json: ["conversations": .array(entries.map(json))], quiet: entries.map(\.id)
        ) {
            guard !entries.isEmpty else { return context.output.line(Styled(none)) }
            let hasExcerpts = entries.contains { $0.excerpt != nil }
            var table = Table([
                .init("ID"), .init("LAST"), .init("MODEL", least: 8, cut: .start, optional: true),
                .init("MESSAGES", .right, optional: true), .init(hasExcerpts ? "FOUND" : "BEGINS", least: 12),
            ])
            for entry in entries {
                table.add([
                    Styled(entry.id, .name), Styled(Humanize.age(of: entry.updatedAt, now: context.now), .faint),
                    Styled(entry.model), Styled("\(entry.turns)"), Styled(entry.excerpt ?? entry.title),
                ])
            }
            context.output.table(table)
        }
    }

    private static func json(_ entry: ConversationEntry) -> JSON {
        .object([
            "id": .string(entry.id), "created_at": .string(Timestamp.iso8601(entry.createdAt)),
            "updated_at": .string(Timestamp.iso8601(entry.updatedAt)), "model": .string(entry.model),
            "provider": .string(entry.provider), "turns": .int(Int64(entry.turns)),
            "title": .string(entry.title), "excerpt": entry.excerpt.map { .string($0) },
        ])
    }

    /// A conversation as it was on the terminal.
    private static func show(_ kept: KeptConversation, _ context: Context) {
        let output = context.output
        output.render(json: kept.json, quiet: kept.turns.compactMap(\.message.content)) {
            output.line(Styled("\(kept.id)  ", .name) + Styled(kept.title, .strong))
            output.line(Styled("\(Humanize.age(of: kept.updatedAt, now: context.now)), \(kept.model)", .faint))
            for turn in kept.turns {
                output.line()
                for call in turn.message.toolCalls {
                    output.line(Styled("calls \(call.name) \(call.argumentText)".printable, .faint))
                }
                guard let text = turn.message.content, !text.isEmpty else { continue }
                if turn.message.role == .tool {
                    output.line(Styled("\(turn.message.name ?? "a tool") answers: \(text)".printable, .faint))
                } else if turn.message.role == .assistant {
                    output.stream(AnswerPrinter.runs(of: text, context))
                } else {
                    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                    {
                        output.line(Styled((index == 0 ? "> " : "  ") + line, .strong))
                    }
                }
                for (index, source) in turn.sources.enumerated() {
                    output.line(Styled("[\(index + 1)] \(source)", .faint))
                }
            }
        }
    }

    // MARK: Removing

    private static func remove(_ request: Request, _ context: Context) async throws {
        var failures = Failures()
        var found: [(id: String, title: String)] = []
        for word in request.words {
            try await failures.attempt(context.output) {
                let kept = try await conversation(word, context)
                if !found.contains(where: { $0.id == kept.id }) { found.append((kept.id, kept.title)) }
            }
        }
        if request.words.isEmpty {
            let last = context.now - (request.olderThan ?? 0)
            let entries = try await archive(context)?.entriesApart() ?? []
            found = entries.filter { request.olderThan == nil || $0.updatedAt <= last }.map { ($0.id, $0.title) }
            if found.isEmpty { return show([], context, none: "there is no such conversation to remove") }
        }
        if !found.isEmpty {
            let names =
                found.count > 8
                ? "\(found.count) conversations" : found.map { "\($0.id) (\($0.title))" }.joined(separator: ", ")
            try await context.requireYes(
                "Remove \(SafeText.line(names))?", isGiven: request.yes,
                otherwise: "refusing to remove conversations without confirmation", undone: "nothing was removed")
            let ids = found.map(\.id)
            // Another process may have removed it while the question stood.
            if let archive = try await archive(context) {
                try await Blocking.run { for id in ids { try archive.remove(id) } }
            }
            context.output.render(json: ["removed": .array(ids.map(JSON.string))], quiet: ids) {
                for id in ids { context.output.line(Styled("removed \(id)")) }
            }
        }
        try failures.finish()
    }
}

extension ConversationArchive {
    /// All conversations, read on a thread that may block.
    fileprivate func entriesApart() async throws -> [ConversationEntry] {
        try await Blocking.run { try self.entries() }
    }
}
