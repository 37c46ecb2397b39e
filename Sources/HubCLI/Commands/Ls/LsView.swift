import Catalog
import Fetcher
import HubCore

/// The forms of the list of `hub ls`.
struct LsView {
    let context: Context
    let cache: CacheOverview
    let xet: XetFolder.Contents
    let pins: Protection
    /// The revisions in which verifying found damage, by repository folder.
    let damaged: [String: Set<Commit>]
    /// The branches of pulls that were cut off before they wrote a ref, by repository folder.
    let unfinished: [String: [Commit: String]]
    /// The files that partials become, by repository and digest, as far as the catalog knows them.
    let partialFiles: [Repository: [String: String]]
    /// How smoke tests ended, by repository and commit.
    let tried: [String: [Commit: TriedModel]]
    /// The same of remote models, by repository.
    let triedRemotely: [String: [TriedModel]]
    /// Bytes free on the cache's disk.
    let free: Int64
    /// Bytes that can be freed.
    let reclaimable: Int64
    private var output: Output { context.output }

    private func age(_ time: Double?) -> Styled {
        Styled(time.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint)
    }
    private func used(_ time: Double?) -> Styled { time == nil ? Styled("unknown", .faint) : age(time) }
    private func size(_ bytes: Int64) -> Styled { Styled(ByteCount(bytes).description) }

    /// What is remarkable about a repository, or one of its revisions.
    private func marks(_ repository: RepositoryOverview, _ revisions: [RepositoryOverview.Revision]) -> Styled {
        if repository.problems.contains(where: { $0.kind == .unreadable }) { return Styled("unreadable", .bad) }
        let isDamaged = isDamaged(repository, revisions)
        let isIncomplete = revisions.contains { $0.isComplete == false }
        let words = [
            (isDamaged, "damaged"), (isIncomplete, "incomplete"), (isPinned(repository, revisions), "pinned"),
        ]
        return Styled(
            words.filter(\.0).map(\.1).joined(separator: ", "),
            isDamaged ? .bad : isIncomplete ? .caution : .plain)
    }

    private func isDamaged(_ repository: RepositoryOverview, _ revisions: [RepositoryOverview.Revision]) -> Bool {
        revisions.contains { damaged[repository.folder.name]?.contains($0.commit) == true }
    }

    private func isPinned(_ repository: RepositoryOverview, _ revisions: [RepositoryOverview.Revision]) -> Bool {
        revisions.contains { pins.pin(repository.folder, $0.commit) != nil }
    }

    /// How the last smoke test of a cached revision ended; without one, that of a provider.
    private func tried(_ repository: RepositoryOverview) -> TriedModel? {
        let name = repository.repository.description
        let here = tried[name].flatMap { tests in
            repository.revisions.compactMap { tests[$0.commit] }.max { $0.at < $1.at }
        }
        return here ?? triedRemotely[name]?.first
    }

    /// The branches and tags of a revision; nil for none.
    private func refs(_ revision: RepositoryOverview.Revision, _ repository: RepositoryOverview) -> String? {
        if !revision.refs.isEmpty { return revision.refs.joined(separator: ", ") }
        return unfinished[repository.folder.name]?[revision.commit]
    }

    func table(_ repositories: [RepositoryOverview]) {
        let notes = repositories.map { marks($0, $0.revisions) }
        let noteColumn = noteColumn(notes)
        var table = Table(
            [
                .init("MODEL", least: leastName(isNoted: !noteColumn.isEmpty), cut: .middle), .init("SIZE", .right),
                .init("FREES", .right, optional: true), .init("USED", optional: true),
                .init("REVISIONS", least: 6, optional: true), .init("DOWNLOADED", optional: true),
                .init("TRIED", optional: true),
            ] + noteColumn)
        for (repository, note) in zip(repositories, notes) {
            let refs = repository.revisions.map { self.refs($0, repository) ?? $0.commit.short }
            let isEmpty = repository.revisions.isEmpty
            let cells: [Styled] = [
                Styled(repository.repository.description, .name), size(repository.size), size(repository.freeable),
                isEmpty ? "" : used(repository.revisions.lazy.compactMap(\.lastUsedAt).max()),
                Styled(refs.joined(separator: ", ")), age(repository.revisions.lazy.map(\.downloadedAt).max()),
                tried(repository).map { Styled($0.sentence, $0.style) } ?? "",
            ]
            table.add(cells + noteColumn.map { _ in note })
        }
        output.table(table)
    }

    /// The last column, which goes for want of room last; none where there is nothing to say.
    private func noteColumn(_ notes: [Styled]) -> [Table.Column] {
        notes.allSatisfy { $0.width == 0 } ? [] : [.init("NOTE", least: 6)]
    }

    /// A name is what is typed next: all columns but the size and the note go before much of it is cut.
    private func leastName(isNoted: Bool) -> Int {
        min(40, max(16, (output.settings.width ?? 80) - (isNoted ? 22 : 10)))
    }

    /// What a cache of others has, of which nothing can be freed.
    func furtherTable(_ repositories: [RepositoryOverview], in root: String) {
        var table = Table([
            .init("IN \(root.printable)", least: 16, cut: .middle), .init("SIZE", .right), .init("REVISIONS"),
        ])
        for repository in repositories.sorted(by: { $0.repository.description < $1.repository.description }) {
            let refs = repository.revisions.map {
                $0.refs.isEmpty ? $0.commit.short : $0.refs.joined(separator: ", ")
            }
            table.add([
                Styled(repository.repository.description, .name), size(repository.size),
                Styled(refs.joined(separator: ", ")),
            ])
        }
        guard !table.isEmpty else { return output.line(Styled("nothing of that is in \(root.printable)", .faint)) }
        output.line()
        output.table(table)
    }

    func revisionTable(_ repositories: [RepositoryOverview]) {
        let rows = repositories.flatMap { repository in repository.revisions.map { (repository, $0) } }
        let notes = rows.map { marks($0.0, [$0.1]) }
        let noteColumn = noteColumn(notes)
        var table = Table(
            [
                .init("MODEL", least: 16, cut: .middle), .init("COMMIT"), .init("REFS", least: 6, optional: true),
                .init("SIZE", .right), .init("FREES", .right, optional: true), .init("USED", optional: true),
            ] + noteColumn)
        for ((repository, revision), note) in zip(rows, notes) {
            let cells: [Styled] = [
                Styled(repository.repository.description, .name), Styled(revision.commit.short),
                refs(revision, repository).map { Styled($0) } ?? Styled("detached", .faint),
                size(revision.size), size(revision.freeable), used(revision.lastUsedAt),
            ]
            table.add(cells + noteColumn.map { _ in note })
        }
        output.table(table)
    }

    func partialTable(_ repositories: [RepositoryOverview]) {
        var table = Table([
            .init("PARTIAL OF", least: 16, cut: .middle), .init("FILE", least: 16, cut: .middle),
            .init("ON DISK", .right), .init("CHANGED", optional: true),
        ])
        for repository in repositories {
            // A map belongs to its partial.
            for partial in repository.partials where !partial.name.hasSuffix(".map.incomplete") {
                let file = partialFiles[repository.repository]?[LsCommand.digest(ofPartial: partial.name)]
                table.add([
                    Styled(repository.repository.description, .name), Styled(file ?? partial.name),
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
        if cache.otherSize > 0 { parts.append("\(ByteCount(cache.otherSize)) in files that nothing links to") }
        if xet.bytes > 0 { parts.append("\(ByteCount(xet.bytes)) kept by Xet transfers") }
        if parts.count > 1 { parts.append("\(ByteCount(cache.size(with: xet))) in all") }
        parts.append("\(ByteCount(reclaimable)) can be freed")
        parts.append("\(ByteCount(free)) free on the disk")
        output.line(Styled((isFiltered ? "In all: " : "") + parts.joined(separator: "; "), .faint))
        for repository in shown {
            for problem in repository.problems where problem.kind == .unreadable {
                output.warning("\(repository.repository): \(problem.text)")
            }
        }
        if !cache.keepsAccessTimes, shown.contains(where: { $0.revisions.contains { $0.lastUsedAt == nil } }) {
            output.note("USED shows only what hub did: this disk does not record when files are read (noatime)")
        }
    }

    // MARK: JSON

    /// - Parameter further: of caches of others; they count in no sum.
    func json(_ repositories: [RepositoryOverview], _ further: [RepositoryOverview]) -> JSONObject {
        [
            "models": .array(repositories.map(json) + further.map(LsView.further)),
            "total_bytes": .int(cache.totalSize),
            "partial_bytes": .int(cache.partialSize), "other_bytes": .int(cache.otherSize + xet.bytes),
            "reclaimable_bytes": .int(reclaimable), "disk_free_bytes": .int(free),
        ]
    }

    private static func further(_ repository: RepositoryOverview) -> JSON {
        .object([
            "id": .string(repository.repository.id.name), "kind": .string(repository.repository.kind.rawValue),
            "path": .string(repository.folder.path), "size_bytes": .int(repository.size), "freeable_bytes": 0,
            "files": .int(Int64(repository.files)), "pinned": false, "damaged": false,
            "complete": repository.isComplete.map { .bool($0) },
            "revisions": .array(
                repository.revisions.map { revision in
                    .object([
                        "commit": .string(revision.commit.hash), "refs": .array(revision.refs.map { .string($0) }),
                        "size_bytes": .int(revision.size), "freeable_bytes": 0,
                        "complete": revision.isComplete.map { .bool($0) }, "pinned": false, "damaged": false,
                    ])
                }),
        ])
    }

    private func json(_ repository: RepositoryOverview) -> JSON {
        func time(_ seconds: Double?) -> JSON? { seconds.map { .string(Timestamp.iso8601($0)) } }
        return .object([
            "id": .string(repository.repository.id.name), "kind": .string(repository.repository.kind.rawValue),
            "path": .string(repository.folder.path), "size_bytes": .int(repository.size),
            "freeable_bytes": .int(repository.freeable), "files": .int(Int64(repository.files)),
            "downloaded_at": time(repository.revisions.map(\.downloadedAt).max()),
            "last_used_at": time(repository.revisions.compactMap(\.lastUsedAt).max()),
            "pinned": .bool(isPinned(repository, repository.revisions)),
            "damaged": .bool(isDamaged(repository, repository.revisions)),
            "tried": tried(repository)?.json,
            // Absent where unknown; false if one revision is incomplete.
            "complete": repository.isComplete.map { .bool($0) },
            "problems": repository.problems.isEmpty
                ? nil : .array(repository.problems.map { .string($0.text) }),
            "revisions": .array(
                repository.revisions.map { revision in
                    .object([
                        "commit": .string(revision.commit.hash), "refs": .array(revision.refs.map { .string($0) }),
                        "size_bytes": .int(revision.size), "freeable_bytes": .int(revision.freeable),
                        "complete": revision.isComplete.map { .bool($0) },
                        "pinned": .bool(isPinned(repository, [revision])),
                        "pin_note": pins.pin(repository.folder, revision.commit)?.note.map { .string($0) },
                        "damaged": .bool(isDamaged(repository, [revision])),
                    ])
                }),
        ])
    }
}
