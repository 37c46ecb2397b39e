import Catalog
import Fetcher
import HubCore

extension SearchCommand {
    /// One row of the answer: what is known of a model and who said so.
    private struct Found {
        var record: ModelRecord
        var source: String
        var isCached: Bool
    }

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let began = Clock.seconds
        let query = query(arguments)
        let workspace = try await context.workspace(needsCatalog: context.isOffline)
        let cached = try await cachedNames(workspace)
        var found: [Found] = []
        var seen: Set<RepositoryID> = []
        func add(_ records: [ModelRecord], _ source: String) {
            for record in records where found.count < query.limit && seen.insert(record.repository.id).inserted {
                let isCached = cached.contains(record.repository.folderName)
                if arguments[SearchCommand.cached], !isCached { continue }
                found.append(Found(record: record, source: source, isCached: isCached))
            }
        }
        var failure: AIError?
        if !workspace.isOffline {
            do {
                let records = try await workspace.client().search(query)
                await Offload.run { workspace.remember(records) }
                add(records, "hub")
            } catch {
                failure = AIError.wrapping(error)
                if failure?.code == .cancelled { throw error }
            }
        }
        if found.count < query.limit {
            var wide = query
            // Whether it is cached is no condition that the catalog's search knows.
            if arguments[SearchCommand.cached] { wide.limit = -1 }
            let known = try await known(wide, workspace)
            add(known.map(\.record), "catalog")
        }
        show(found, query, context, isWhole: failure == nil, seconds: Clock.seconds - began)
        if let failure {
            context.output.failure(failure)
            if !found.isEmpty { context.output.note("what is shown comes from the catalog on this machine") }
            throw ReportedError(error: failure)
        }
    }

    /// What the catalog finds; where nobody else is asked, a catalog that fails is the answer's failure.
    private static func known(_ query: ModelQuery, _ workspace: Workspace) async throws -> [KnownModel] {
        try await Offload.run {
            if workspace.isOffline, let catalog = workspace.catalog { return try catalog.search(query) }
            return workspace.dispensable.use { catalog throws(AIError) in try catalog.search(query) } ?? []
        }
    }

    private static func query(_ arguments: ParsedArguments) -> ModelQuery {
        var query = ModelQuery()
        query.text = arguments.operand ?? ""
        query.task = arguments[task]
        query.library = arguments[library]
        query.author = arguments[author]
        query.license = arguments[license]
        query.tags = arguments.all(tag)
        query.gated = arguments[gated] ? true : arguments[open] ? false : nil
        query.sort = arguments[sort].flatMap { ModelQuery.Sort(rawValue: $0.rawValue) } ?? .relevance
        query.limit = arguments[limit] ?? 20
        return query
    }

    /// The repository folders of the cache: one listing tells what is here.
    private static func cachedNames(_ workspace: Workspace) async throws -> Set<String> {
        try await Offload.run { Set(try FileSystem.entries(workspace.layout.root) ?? []) }
    }

    private static func show(
        _ found: [Found], _ query: ModelQuery, _ context: Context, isWhole: Bool, seconds: Double
    ) {
        context.output.render(
            json: ["models": .array(found.map(json)), "elapsed_seconds": .double(seconds)],
            quiet: found.map(\.record.repository.id.name)
        ) {
            var table = Table([
                .init("", .left), .init("MODEL", least: 16, cut: .middle), .init("TASK", least: 8, optional: true),
                .init("PARAMS", .right, optional: true), .init("DOWNLOADS", .right),
                .init("LIKES", .right, optional: true),
                .init("UPDATED", .left, optional: true), .init("LICENSE", least: 6, optional: true),
            ])
            for entry in found {
                let record = entry.record
                table.add([
                    entry.isCached ? Styled(context.isUnicode ? "●" : "*", .good) : "",
                    Styled(record.repository.id.name, .name), Styled(record.task ?? ""),
                    Styled(record.parameters.map(Humanize.count) ?? ""),
                    Styled(record.downloads.map(Humanize.count) ?? ""),
                    Styled(record.likes.map(Humanize.count) ?? ""),
                    Styled(record.updatedAt.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint),
                    Styled(record.license ?? "", .faint),
                ])
            }
            context.output.table(table)
            if found.isEmpty {
                // Where the Hub did not answer, its silence says nothing.
                context.output.note(
                    (isWhole ? "no model matches" : "no model in the catalog on this machine matches")
                        + (query.text.isEmpty ? "" : " \"\(query.text)\""))
            }
        }
    }

    private static func json(_ entry: Found) -> JSON {
        let record = entry.record
        return .object([
            "id": .string(record.repository.id.name),
            "author": (record.author ?? record.repository.id.owner).map { .string($0) },
            "task": record.task.map { .string($0) }, "library": record.library.map { .string($0) },
            "license": record.license.map { .string($0) }, "downloads": record.downloads.map { .int($0) },
            "likes": record.likes.map { .int($0) }, "parameters": record.parameters.map { .int($0) },
            "updated_at": record.updatedAt.map { .string(Timestamp.iso8601($0)) },
            "gated": record.gating.map { $0 == .open ? .bool(false) : .string($0.rawValue) },
            "tags": record.tags.map { .array($0.map { .string($0) }) }, "cached": .bool(entry.isCached),
            "source": .string(entry.source),
        ])
    }
}
