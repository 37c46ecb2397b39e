import Fetcher
import HubCore

/// The forms of the list of `hub ls`.
struct ListView {
    let context: Context
    let cache: CacheOverview
    let xet: XetFolder.Contents
    let pins: Protection
    /// Bytes free on the cache's disk.
    let free: Int64
    private var output: Output { context.output }

    init(context: Context, cache: CacheOverview, xet: XetFolder.Contents, pins: Protection, free: Int64) {
        (self.context, self.cache, self.xet, self.pins, self.free) = (context, cache, xet, pins, free)
    }

    private func age(_ time: Double?) -> Styled {
        Styled(time.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint)
    }
    private func used(_ time: Double?) -> Styled { time == nil ? Styled("unknown", .faint) : age(time) }
    private func size(_ bytes: Int64) -> Styled { Styled(ByteCount(bytes).description) }

    /// What is to be known of a repository at once.
    private func marks(_ repository: RepositoryOverview) -> Styled {
        if repository.problems.contains(where: { $0.kind == .unreadable }) { return Styled("unreadable", .bad) }
        // Without a revision there is nothing that could be whole or not.
        let isIncomplete = !repository.revisions.isEmpty && repository.isComplete == false
        return marks(isIncomplete: isIncomplete, isPinned: isPinned(repository))
    }

    private func marks(isIncomplete: Bool, isPinned: Bool) -> Styled {
        let words = (isIncomplete ? ["incomplete"] : []) + (isPinned ? ["pinned"] : [])
        return Styled(words.joined(separator: ", "), isIncomplete ? .caution : .plain)
    }

    private func isPinned(_ revision: RepositoryOverview.Revision, _ repository: RepositoryOverview) -> Bool {
        pins.pin(repository.folder, revision.commit) != nil
    }
    private func isPinned(_ repository: RepositoryOverview) -> Bool {
        repository.revisions.contains { isPinned($0, repository) }
    }

    func table(_ repositories: [RepositoryOverview]) {
        var table = Table([
            .init("MODEL", least: 16, cut: .middle), .init("SIZE", .right), .init("FREES", .right, optional: true),
            .init("REVISIONS", least: 6), .init("USED", .left), .init("DOWNLOADED", .left, optional: true),
            .init("", .left),
        ])
        for repository in repositories {
            let refs = repository.revisions.flatMap { $0.refs.isEmpty ? [$0.commit.short] : $0.refs }
            let isEmpty = repository.revisions.isEmpty
            table.add([
                Styled(repository.repository.description, .name), size(repository.size), size(repository.freeable),
                Styled(refs.joined(separator: ", ")),
                isEmpty ? "" : used(repository.revisions.lazy.compactMap(\.lastUsedAt).max()),
                age(repository.revisions.lazy.map(\.downloadedAt).max()), marks(repository),
            ])
        }
        output.table(table)
    }

    func revisionTable(_ repositories: [RepositoryOverview]) {
        var table = Table([
            .init("MODEL", least: 16, cut: .middle), .init("COMMIT"), .init("REFS", least: 6),
            .init("SIZE", .right), .init("FREES", .right, optional: true), .init("USED", .left), .init("", .left),
        ])
        for repository in repositories {
            for revision in repository.revisions {
                table.add([
                    Styled(repository.repository.description, .name), Styled(revision.commit.short),
                    revision.refs.isEmpty
                        ? Styled("detached", .faint) : Styled(revision.refs.joined(separator: ", ")),
                    size(revision.size), size(revision.freeable), used(revision.lastUsedAt),
                    marks(isIncomplete: revision.isComplete == false, isPinned: isPinned(revision, repository)),
                ])
            }
        }
        output.table(table)
    }

    func partialTable(_ repositories: [RepositoryOverview]) {
        var table = Table([
            .init("PARTIAL OF", least: 16, cut: .middle), .init("FILE", least: 12), .init("ON DISK", .right),
            .init("CHANGED"),
        ])
        for repository in repositories {
            for partial in repository.partials {
                table.add([
                    Styled(repository.repository.description, .name), Styled(partial.name),
                    size(partial.file?.size ?? 0), age(partial.file?.modified),
                ])
            }
        }
        if !table.isEmpty { output.line() }
        output.table(table)
    }

    func summary(_ shown: [RepositoryOverview], isFiltered: Bool) {
        if cache.repositories.isEmpty {
            output.note("nothing is cached in \(cache.layout.root)")
            return
        }
        var parts = [
            "\(Humanize.plural(cache.repositories.count, "repository", "repositories")), \(ByteCount(cache.totalSize))"
        ]
        if cache.partialSize > 0 { parts.append("\(ByteCount(cache.partialSize)) in unfinished downloads") }
        if cache.otherSize > 0 { parts.append("\(ByteCount(cache.otherSize)) that nothing links to") }
        if xet.bytes > 0 { parts.append("\(ByteCount(xet.bytes)) kept by Xet transfers") }
        parts.append("\(ByteCount(free)) free on the disk")
        output.line(Styled((isFiltered ? "In all: " : "") + parts.joined(separator: "; "), .faint))
        for repository in shown {
            for problem in repository.problems where problem.kind == .unreadable {
                output.warning("\(repository.repository): \(problem.text)")
            }
        }
        if !cache.keepsAccessTimes, shown.contains(where: { $0.revisions.contains { $0.lastUsedAt == nil } }) {
            output.note("the cache's disk does not note when files are read (noatime): only what hub saw is known")
        }
    }

    // MARK: JSON

    func json(_ repositories: [RepositoryOverview]) -> JSONObject {
        [
            "models": .array(repositories.map(json)), "total_bytes": .int(cache.totalSize),
            "partial_bytes": .int(cache.partialSize), "other_bytes": .int(cache.otherSize + xet.bytes),
            "disk_free_bytes": .int(free),
        ]
    }

    private func json(_ repository: RepositoryOverview) -> JSON {
        func time(_ seconds: Double?) -> JSON? { seconds.map { .string(Timestamp.iso8601($0)) } }
        return .object([
            "id": .string(repository.repository.id.name), "kind": .string(repository.repository.kind.rawValue),
            "path": .string(repository.folder.path), "size_bytes": .int(repository.size),
            "freeable_bytes": .int(repository.freeable), "files": .int(Int64(repository.files)),
            "downloaded_at": time(repository.revisions.map(\.downloadedAt).max()),
            "last_used_at": time(repository.revisions.compactMap(\.lastUsedAt).max()),
            "pinned": .bool(isPinned(repository)),
            // Unknown stays absent; one revision that is not whole makes the answer no.
            "complete": repository.isComplete.map { .bool($0) },
            "problems": repository.problems.isEmpty
                ? nil : .array(repository.problems.map { .string($0.text) }),
            "revisions": .array(
                repository.revisions.map { revision in
                    .object([
                        "commit": .string(revision.commit.hash), "refs": .array(revision.refs.map { .string($0) }),
                        "size_bytes": .int(revision.size), "freeable_bytes": .int(revision.freeable),
                        "complete": revision.isComplete.map { .bool($0) },
                        "pinned": .bool(isPinned(revision, repository)),
                    ])
                }),
        ])
    }
}
