import Fetcher
import HubCore

extension TrashCommand {
    /// What is done, and to which entries.
    struct Request {
        var action: Action
        /// References.
        var words: [String]
        /// Seconds since the deletion.
        var olderThan: Double
        var dryRun: Bool
        var yes: Bool

        init(_ action: Action, _ arguments: ParsedArguments) {
            self.action = action
            words = arguments.operands
            olderThan = arguments[SharedFlags.olderThan].map { Double($0.seconds) } ?? 0
            dryRun = arguments[SharedFlags.dryRun]
            yes = arguments[SharedFlags.yes]
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let action = request.action
        let selectors = try request.words.map { text throws(AIError) in
            (text: text, selector: try CacheSelector(text, context))
        }
        let workspace = try await context.workspace(opensCatalog: action == .restore)
        let trash = Trash(workspace.layout)
        let (entries, faults) = try await Blocking.run { try trash.contents() }
        var failures = Failures()
        for fault in faults {
            if action == .restore {
                // What is asked for may be another entry; if it is this one, it is said to be missing.
                context.output.warning(fault.message, advice: fault.specificAdvice)
            } else {
                try await failures.attempt(context.output) { throw fault }
            }
        }
        let nothing =
            entries.isEmpty && !faults.isEmpty ? "nothing in the trash can be read" : "the trash is empty"
        switch action {
        case .ls:
            for (text, selector) in selectors where !entries.contains(where: { selector.matches($0) }) {
                try await failures.attempt(context.output) { throw missing(text) }
            }
            show(
                entries.filter { entry in selectors.isEmpty || selectors.contains { $0.selector.matches(entry) } },
                trash, context, isEmpty: selectors.isEmpty ? nothing : nil)
        case .restore:
            try await restore(selectors, entries, workspace, context, isDryRun: request.dryRun)
        case .empty: try await empty(entries, trash, context, request, isEmpty: nothing)
        }
        try failures.finish()
    }

    /// The error on a name that no entry has. It may be a word with a typo in it.
    private static func missing(_ text: String) -> AIError {
        let near = NearestName.of(text, among: command.subcommands.map(\.word))
        return AIError(
            .notCached, "\(text.printable) is not in the trash",
            advice: near.map { "did you mean: hub trash \($0)" } ?? "hub trash shows what is")
    }

    // MARK: Showing

    private static func show(
        _ entries: [TrashEntry], _ trash: Trash, _ context: Context, isEmpty text: String?
    ) {
        context.output.render(json: json(entries), quiet: entries.map(title)) {
            guard !entries.isEmpty else {
                if let text { context.output.line(Styled(text)) }
                return
            }
            table(entries, context)
            context.output.line(
                Styled("\(ByteCount(entries.reduce(0) { $0 + $1.size })) in \(trash.path)", .faint))
        }
    }

    private static func table(_ entries: [TrashEntry], _ context: Context) {
        var table = Table([
            .init("MODEL", least: 16, cut: .middle), .init("WHAT"), .init("REFS", least: 4, optional: true),
            .init("SIZE", .right), .init("TRASHED"),
        ])
        for entry in entries {
            table.add([
                Styled(title(entry), .name), Styled(entry.what), Styled(entry.refs.joined(separator: ", ")),
                Styled("\(ByteCount(entry.size))"),
                Styled(Humanize.age(of: entry.trashedAt, now: context.now), .faint),
            ])
        }
        context.output.table(table)
    }

    private static func title(_ entry: TrashEntry) -> String {
        (entry.repository?.description ?? "shared store") + (entry.commit.map { "@\($0.short)" } ?? "")
    }

    private static func json(_ entries: [TrashEntry]) -> JSONObject {
        [
            "trash": .array(
                entries.map { entry in
                    .object([
                        "id": entry.repository.map { .string($0.id.name) },
                        "kind": entry.repository.map { .string($0.kind.rawValue) },
                        "commit": entry.commit.map { .string($0.hash) },
                        "refs": .array(entry.refs.map { .string($0) }), "what": .string(entry.what),
                        "size_bytes": .int(entry.size), "trashed_at": .string(Timestamp.iso8601(entry.trashedAt)),
                    ])
                }), "total_bytes": .int(entries.reduce(0) { $0 + $1.size }),
        ]
    }

    // MARK: Changing

    private static func restore(
        _ selectors: [(text: String, selector: CacheSelector)], _ entries: [TrashEntry],
        _ workspace: Workspace, _ context: Context, isDryRun: Bool
    ) async throws {
        let trash = Trash(workspace.layout)
        var failures = Failures()
        var done: [TrashEntry] = []
        var tried: [TrashEntry] = []
        var older = 0
        for (text, selector) in selectors {
            let found = entries.filter { entry in selector.matches(entry) && !done.contains(entry) }
            if found.isEmpty {
                try await failures.attempt(context.output) { throw missing(text) }
            }
            // The newest first: what older entries need went after them.
            for entry in found {
                // The same went into the trash twice: the newest is what was there last.
                guard !tried.contains(where: { $0.holdsPlace(of: entry) }) else {
                    older += 1
                    continue
                }
                tried.append(entry)
                try await failures.attempt(context.output) {
                    if !isDryRun {
                        try await Blocking.run {
                            try trash.restore(entry)
                            workspace.takeBack(entry)
                        }
                    }
                    done.append(entry)
                }
            }
        }
        let word = isDryRun ? "would restore " : "restored "
        context.output.render(json: json(done), quiet: done.map(title)) {
            for entry in done {
                // A revision is what a title names; of anything else it has to be said.
                let what = entry.what == "revision" ? "" : " (\(entry.what))"
                context.output.line(Styled(word) + Styled(title(entry), .name) + Styled(what))
            }
            if older > 0 {
                context.output.note(
                    "\(Humanize.plural(older, "older copy", "older copies")) of it \(older == 1 ? "stays" : "stay") in the trash"
                )
            }
        }
        try failures.finish()
    }

    private static func empty(
        _ entries: [TrashEntry], _ trash: Trash, _ context: Context, _ request: Request,
        isEmpty text: String
    ) async throws {
        let age = request.olderThan
        let old = entries.filter { age == 0 || context.now - $0.trashedAt >= age }
        show(old, trash, context, isEmpty: entries.isEmpty ? text : "nothing in the trash is that old")
        if old.isEmpty { return }
        if request.dryRun { return context.output.note("dry run: nothing was deleted") }
        try await context.requireYes(
            "Delete this permanently?", isGiven: request.yes,
            otherwise: "refusing to delete without confirmation", undone: "nothing was deleted")
        let freed = try await Blocking.run { try trash.empty(old) }.size
        var document = json(old)
        document = JSONObject(document.members + [(key: "freed_bytes", value: .int(freed))])
        context.output.document(document)
        context.output.line(Styled("\(ByteCount(freed)) freed", .strong))
    }
}

extension CacheSelector {
    /// Whether it selects an entry of the trash.
    fileprivate func matches(_ entry: TrashEntry) -> Bool {
        entry.repository.map { matches($0, commit: entry.commit, refs: entry.refs) } ?? false
    }
}
