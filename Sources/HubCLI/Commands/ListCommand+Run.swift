import Fetcher
import HubCore

extension ListCommand {
    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let selectors = try arguments.operands.map { try CacheSelector($0, context) }
        let workspace = try await context.workspace()
        let state = try await workspace.state()
        let free = try await Offload.run { try FileSystem.diskSpace(state.layout.root).available }
        var shown = state.repositories
        if !selectors.isEmpty {
            shown = shown.compactMap { repository in
                let matching = selectors.filter { $0.matches(repository) }
                guard !matching.isEmpty else { return nil }
                guard matching.allSatisfy(\.namesRevision) else { return repository }
                var narrowed = repository
                narrowed.revisions = repository.revisions.filter { revision in
                    matching.contains { $0.matches(revision, of: repository) }
                }
                return narrowed.revisions.isEmpty ? nil : narrowed
            }
        }
        var failures = Failures()
        for (text, selector) in zip(arguments.operands, selectors)
        where !state.repositories.contains(where: { selector.names($0) }) {
            try await failures.attempt(context.output) {
                throw AIError(
                    .notCached, "nothing in \(state.layout.root) matches \(text.printable)",
                    advice: "hub ls lists what is there")
            }
        }
        let costs = FreeableSizes(state)
        let pins = Protection(pins: await workspace.pins())
        shown = sorted(shown, by: arguments[sort] ?? .used)
        for remark in state.remarks { context.output.debug(remark) }
        let view = View(context: context, state: state, costs: costs, pins: pins, free: free)
        context.output.render(json: view.json(shown), quiet: shown.map(\.repository.description)) {
            if arguments[revisions] { view.revisionTable(shown) } else { view.table(shown) }
            if arguments[partials] { view.partialTable(shown) }
            if !shown.isEmpty || selectors.isEmpty { view.summary(isFiltered: !selectors.isEmpty) }
        }
        try failures.finish()
    }

    private static func sorted(_ repositories: [CachedRepository], by sort: Sort) -> [CachedRepository] {
        func latest(_ repository: CachedRepository, _ time: (CachedRevision) -> Double) -> Double {
            repository.revisions.map(time).max() ?? 0
        }
        return switch sort {
        case .name: repositories.sorted { $0.repository.description < $1.repository.description }
        case .size: repositories.map { ($0, $0.size) }.sorted { $0.1 > $1.1 }.map(\.0)
        case .used: repositories.map { ($0, latest($0, \.lastUsedAt)) }.sorted { $0.1 > $1.1 }.map(\.0)
        case .downloaded: repositories.map { ($0, latest($0, \.downloadedAt)) }.sorted { $0.1 > $1.1 }.map(\.0)
        }
    }

    /// The forms of the list.
    private struct View {
        let context: Context
        let state: CacheState
        let costs: FreeableSizes
        let pins: Protection
        let free: Int64
        var output: Output { context.output }

        /// What deleting the repository would free, or those revisions of it that were asked for.
        private func freeable(_ repository: CachedRepository) -> Int64 {
            guard let whole = whole(repository), whole.revisions.count > repository.revisions.count else {
                return costs.ofRepository(repository)
            }
            return costs.ofRevisions(repository.revisions, whole)
        }

        private func freeable(_ revision: CachedRevision, _ repository: CachedRepository) -> Int64 {
            costs.ofRevision(revision, whole(repository) ?? repository)
        }

        /// The repository with the revisions that were not asked for.
        private func whole(_ repository: CachedRepository) -> CachedRepository? {
            state.repositories.first { $0.folder == repository.folder }
        }

        private func age(_ time: Double?) -> Styled {
            Styled(time.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint)
        }
        private func size(_ bytes: Int64) -> Styled { Styled("\(ByteCount(bytes))") }
        private func marks(_ complete: Bool?, pinned: Bool) -> Styled {
            let parts = [complete == false ? "incomplete" : "", pinned ? "pinned" : ""].filter { !$0.isEmpty }
            return Styled(parts.joined(separator: ", "), complete == false ? .caution : .plain)
        }
        private func isPinned(_ revision: CachedRevision, _ repository: CachedRepository) -> Bool {
            pins.pin(repository.folder, revision.commit) != nil
        }
        private func isPinned(_ repository: CachedRepository) -> Bool {
            repository.revisions.contains { isPinned($0, repository) }
        }

        func table(_ repositories: [CachedRepository]) {
            var table = Table([
                .init("MODEL", least: 16, cut: .middle), .init("SIZE", .right),
                .init("FREES", .right, optional: true),
                .init("REVISIONS", least: 6), .init("USED", .left), .init("DOWNLOADED", .left, optional: true),
                .init("", .left),
            ])
            for repository in repositories {
                let refs = repository.revisions.flatMap { $0.refs.isEmpty ? [$0.commit.short] : $0.refs }
                let isWhole =
                    repository.revisions.isEmpty
                    ? false : repository.revisions.contains { $0.isComplete == false } ? false : nil
                table.add([
                    Styled(repository.repository.description, .name), size(repository.size),
                    size(freeable(repository)),
                    Styled(refs.joined(separator: ", ")), age(repository.revisions.map(\.lastUsedAt).max()),
                    age(repository.revisions.map(\.downloadedAt).max()),
                    marks(isWhole, pinned: isPinned(repository)),
                ])
            }
            output.table(table)
        }

        func revisionTable(_ repositories: [CachedRepository]) {
            var table = Table([
                .init("MODEL", least: 16, cut: .middle), .init("COMMIT"), .init("REFS", least: 6),
                .init("SIZE", .right),
                .init("FREES", .right, optional: true), .init("USED", .left), .init("", .left),
            ])
            for repository in repositories {
                for revision in repository.revisions {
                    table.add([
                        Styled(repository.repository.description, .name), Styled(revision.commit.short),
                        revision.refs.isEmpty
                            ? Styled("detached", .faint) : Styled(revision.refs.joined(separator: ", ")),
                        size(repository.physicalFiles(of: revision).values.reduce(0) { $0 + $1.size }),
                        size(freeable(revision, repository)), age(revision.lastUsedAt),
                        marks(revision.isComplete, pinned: isPinned(revision, repository)),
                    ])
                }
            }
            output.table(table)
        }

        func partialTable(_ repositories: [CachedRepository]) {
            var table = Table([
                .init("PARTIAL OF", least: 16, cut: .middle), .init("FILE", least: 12), .init("ON DISK", .right),
                .init("CHANGED"),
            ])
            for repository in repositories {
                for partial in repository.partials {
                    table.add([
                        Styled(repository.repository.description, .name), Styled(partial.name),
                        size(partial.file?.size ?? 0),
                        age(partial.file?.modified),
                    ])
                }
            }
            if !table.isEmpty { output.line() }
            output.table(table)
        }

        func summary(isFiltered: Bool) {
            if state.repositories.isEmpty {
                output.note("nothing is cached in \(state.layout.root)")
                return
            }
            var parts = [
                "\(Humanize.plural(state.repositories.count, "repository", "repositories")), \(ByteCount(state.totalSize))"
            ]
            if state.partialSize > 0 { parts.append("\(ByteCount(state.partialSize)) in unfinished downloads") }
            if state.otherSize > 0 { parts.append("\(ByteCount(state.otherSize)) that nothing links to") }
            parts.append("\(ByteCount(free)) free on the disk")
            output.line(Styled((isFiltered ? "In all: " : "") + parts.joined(separator: "; "), .faint))
        }

        func json(_ repositories: [CachedRepository]) -> JSONObject {
            [
                "models": .array(repositories.map(json)), "total_bytes": .int(state.totalSize),
                "partial_bytes": .int(state.partialSize), "other_bytes": .int(state.otherSize),
                "disk_free_bytes": .int(free),
            ]
        }

        private func json(_ repository: CachedRepository) -> JSON {
            func time(_ seconds: Double?) -> JSON? { seconds.map { .string(Timestamp.iso8601($0)) } }
            let completeness = repository.revisions.map(\.isComplete)
            return .object([
                "id": .string(repository.repository.id.name), "kind": .string(repository.repository.kind.rawValue),
                "path": .string(repository.folder.path), "size_bytes": .int(repository.size),
                "freeable_bytes": .int(freeable(repository)),
                "files": .int(Int64(repository.physicalFiles.count)),
                "downloaded_at": time(repository.revisions.map(\.downloadedAt).max()),
                "last_used_at": time(repository.revisions.map(\.lastUsedAt).max()),
                "pinned": .bool(isPinned(repository)),
                // Unknown stays absent; one revision that is not whole makes the answer no.
                "complete": completeness.contains(false) || completeness.isEmpty
                    ? .bool(false) : completeness.contains(nil) ? nil : .bool(true),
                "revisions": .array(
                    repository.revisions.map { revision in
                        .object([
                            "commit": .string(revision.commit.hash),
                            "refs": .array(revision.refs.map { .string($0) }),
                            "size_bytes": .int(
                                repository.physicalFiles(of: revision).values.reduce(0) { $0 + $1.size }),
                            "freeable_bytes": .int(freeable(revision, repository)),
                            "complete": revision.isComplete.map { .bool($0) },
                            "pinned": .bool(isPinned(revision, repository)),
                        ])
                    }),
            ])
        }
    }
}
