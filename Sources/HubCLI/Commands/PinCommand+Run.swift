import Catalog
import Fetcher
import HubCore

extension PinCommand {
    /// What is pinned or unpinned.
    struct Request {
        /// References and globs.
        var models: [String]
        var note: String?

        /// - Throws: ``ErrorCode/invalidInput`` for a note about nothing.
        init(_ arguments: ParsedArguments, note: String? = nil) throws(AIError) {
            models = arguments.operands
            self.note = note
            guard !models.isEmpty || note == nil else {
                throw AIError(.invalidInput, "missing REF|GLOB", advice: "hub pin alone lists what is pinned")
            }
        }
    }

    /// A cached revision, or one that was.
    private struct Pinned: Sendable {
        var repository: Repository
        var folder: RepositoryFolder
        var commit: Commit
        var note: String?
        var title: String { "\(repository)@\(commit.short)" }

        var json: JSON {
            .object([
                "id": .string(repository.id.name), "commit": .string(commit.hash), "note": note.map { .string($0) },
            ])
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        guard !request.models.isEmpty else { return try await list(context) }
        let selectors = try selectors(context, request)
        let workspace = try await context.workspace(needsCatalog: true)
        let state = try await workspace.state()
        var failures = Failures()
        var done: [Pinned] = []
        for (text, selector) in selectors {
            try await failures.attempt(context.output) {
                var found = state.repositories.filter { selector.matches($0) }.flatMap { repository in
                    repository.revisions.filter { selector.matches($0, of: repository) }.map {
                        Pinned(
                            repository: repository.repository, folder: repository.folder, commit: $0.commit,
                            note: request.note)
                    }
                }
                guard !found.isEmpty else {
                    // A glob is matched against what is cached; there is nothing to pull by it.
                    let advice =
                        if case .reference(let reference) = selector { "hub pull \(reference) downloads it" } else {
                            "hub ls shows what is cached"
                        }
                    throw AIError(
                        .notCached, "\(text.printable) is not in the cache \(state.layout.root)", advice: advice)
                }
                try await Blocking.run { [found] in
                    let record = CacheRecord(state.layout, in: try usable(workspace))
                    for pin in found { try record.pin(pin.folder.name, pin.commit, note: pin.note) }
                }
                // A pin that had a note keeps it.
                let pins = Protection(pins: await workspace.pins())
                for index in found.indices {
                    found[index].note = pins.pin(found[index].folder, found[index].commit)?.note
                }
                done += found
            }
        }
        show(done, "pinned", context)
        try failures.finish()
    }

    private static func pins(_ workspace: Workspace, _ state: CacheState) async -> [Pinned] {
        await workspace.pins().compactMap { pin in
            Repository(folderName: pin.folder).map {
                Pinned(
                    repository: $0, folder: RepositoryFolder(cache: state.layout, name: pin.folder),
                    commit: pin.commit, note: pin.note)
            }
        }
    }

    private static func list(_ context: Context) async throws {
        let workspace = try await context.workspace(needsCatalog: true)
        let state = try await workspace.state()
        let pins = await pins(workspace, state).sorted { $0.title < $1.title }
        context.output.render(json: ["pinned": .array(pins.map(\.json))], quiet: pins.map(\.title)) {
            guard !pins.isEmpty else { return context.output.line("nothing is pinned") }
            var table = Table([.init("PINNED"), .init("", optional: true), .init("NOTE", least: 12)])
            for pin in pins {
                let isCached = state.repositories.contains { repository in
                    repository.folder == pin.folder && repository.revisions.contains { $0.commit == pin.commit }
                }
                table.add([
                    Styled(pin.title, .name), Styled(isCached ? "" : "not cached", .caution),
                    Styled(pin.note ?? ""),
                ])
            }
            context.output.table(table)
        }
    }

    /// `hub unpin`
    static func release(_ context: Context, _ request: Request) async throws {
        let selectors = try selectors(context, request)
        let workspace = try await context.workspace(needsCatalog: true)
        let state = try await workspace.state()
        let pins = await pins(workspace, state)
        var failures = Failures()
        var done: [Pinned] = []
        for (text, selector) in selectors {
            try await failures.attempt(context.output) {
                let found = pins.filter { matches($0, selector, state) }
                guard !found.isEmpty else {
                    throw AIError(
                        .notCached, "\(text.printable) is not pinned", advice: "hub pin lists what is pinned")
                }
                try await Blocking.run {
                    let record = CacheRecord(state.layout, in: try usable(workspace))
                    for pin in found { try record.unpin(pin.folder.name, pin.commit) }
                }
                done += found
            }
        }
        show(done, "unpinned", context)
        try failures.finish()
    }

    private static func selectors(_ context: Context, _ request: Request) throws(AIError) -> [(
        text: String, selector: CacheSelector
    )] {
        try request.models.map { text throws(AIError) in
            let selector = try CacheSelector(text, context)
            guard selector.files == nil else {
                throw AIError(
                    .invalidInput,
                    "\"\(text.printable)\" names files; only whole models and revisions can be pinned")
            }
            return (text, selector)
        }
    }

    /// The catalog, which was there when the command began.
    private static func usable(_ workspace: Workspace) throws(AIError) -> Catalog {
        if let catalog = workspace.catalog { return catalog }
        throw workspace.catalogFault ?? AIError(.catalogUnusable, "the catalog cannot be used")
    }

    /// Whether a pin is meant, of a revision that may be gone from the cache.
    private static func matches(_ pin: Pinned, _ selector: CacheSelector, _ state: CacheState) -> Bool {
        let cached = state.repositories.first { $0.folder == pin.folder }?.revisions.first {
            $0.commit == pin.commit
        }
        return selector.matches(pin.repository, commit: pin.commit, refs: cached?.refs ?? [])
    }

    private static func show(_ pins: [Pinned], _ word: String, _ context: Context) {
        context.output.render(json: ["\(word)": .array(pins.map(\.json))], quiet: pins.map(\.title)) {
            for pin in pins { context.output.line(Styled("\(word) ") + Styled(pin.title, .name)) }
        }
    }
}
