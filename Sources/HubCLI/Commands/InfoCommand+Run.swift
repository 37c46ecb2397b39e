import Catalog
import Fetcher
import HubCore
import ModelFormats

extension InfoCommand {
    /// What was found out, from the Hub, the catalog and the cache.
    private struct Facts {
        var reference: ModelReference
        var record: ModelRecord
        var commit: Commit?
        var revisions: [KnownRevision] = []
        var tree: RepositoryTree?
        var plan: PullPlan?
        /// When the Hub said so, where it was not asked now.
        var seenAt: Double?
        var diskFree: Int64 = 0
        var memoryTotal: Int64?

        var variants: [ModelVariant] {
            guard reference.repository.kind == .model else { return [] }
            return tree.map { ModelFiles($0.files, library: record.library, tags: record.tags ?? []).variants }
                ?? []
        }
    }

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let reference = try context.reference(arguments.operand!)
        let workspace = try await context.workspace()
        var facts = Facts(reference: reference, record: ModelRecord(reference.repository))
        var failure: AIError?
        if workspace.isOffline {
            try await recall(&facts, workspace)
        } else {
            do {
                try await ask(&facts, workspace, refresh: arguments[refresh])
            } catch {
                // Only where the Hub cannot be asked does what is remembered stand in for its answer.
                let wrapped = AIError.wrapping(error)
                guard [.unreachable, .timedOut, .connectionLost, .serverError, .rateLimited].contains(wrapped.code)
                else { throw error }
                failure = wrapped
                do { try await recall(&facts, workspace) } catch { throw wrapped }
            }
        }
        if let tree = facts.tree {
            let (layout, repository) = (workspace.layout, reference.repository)
            facts.plan = try await Offload.run {
                try PullPlan(repository, in: layout, tree: tree, ref: nil, filter: .all, force: false)
            }
        }
        facts.diskFree = try await Offload.run { [layout = workspace.layout] in
            try FileSystem.diskSpace(layout.root).available
        }
        facts.memoryTotal = try Machine.memory().total
        show(facts, arguments[files], context)
        if let failure {
            context.output.failure(failure)
            throw ReportedError(error: failure)
        }
    }

    private static func ask(_ facts: inout Facts, _ workspace: Workspace, refresh: Bool) async throws {
        let client = try workspace.client()
        let repository = facts.reference.repository
        let info = try await client.info(repository, revision: facts.reference.revision)
        facts.record = info.record
        facts.commit = info.commit
        let catalog = workspace.dispensable
        await Offload.run { workspace.remember([info.record], detailed: true) }
        facts.tree = try await workspace.puller().tree(of: repository, at: info.commit)
        facts.revisions = await Offload.run {
            catalog.use { catalog throws(AIError) in try catalog.revisions(of: repository) } ?? []
        }
        // A branch that has moved since makes the list stale.
        let main = facts.reference.revision ?? "main"
        if refresh || facts.revisions.count < 2
            || facts.revisions.first(where: { $0.name == main })?.commit != info.commit
        {
            let found = try await client.revisions(repository)
            facts.revisions = found
            await Offload.run {
                catalog.use { catalog throws(AIError) in
                    try catalog.remember(found, of: repository, complete: true, at: Timestamp.now)
                }
            }
        }
    }

    /// What the catalog and the cache know.
    private static func recall(_ facts: inout Facts, _ workspace: Workspace) async throws {
        let reference = facts.reference
        let (catalog, layout) = (workspace.dispensable, workspace.layout)
        let known = await Offload.run {
            catalog.use { catalog throws(AIError) in try catalog.model(reference.repository) } ?? nil
        }
        let cached = try await Offload.run { try workspace.snapshot(of: reference) }
        guard known != nil || cached != nil else {
            // Where the catalog cannot be read, nobody can say what was known.
            if let fault = workspace.catalogFault { throw Context.advised(fault) }
            throw AIError(
                .notCached, "nothing is known of \(reference.repository) without the network",
                advice: "without --offline and HF_HUB_OFFLINE hub info asks the Hub",
                context: .init(repository: reference.repository.description))
        }
        if let known {
            facts.record = known.record
            facts.seenAt = known.detailedAt ?? known.seenAt
        }
        facts.revisions = await Offload.run {
            catalog.use { catalog throws(AIError) in try catalog.revisions(of: reference.repository) } ?? []
        }
        let wanted = reference.revision ?? "main"
        facts.commit = Commit(wanted) ?? facts.revisions.first { $0.name == wanted }?.commit ?? cached?.commit
        if let commit = facts.commit {
            facts.tree = try await Offload.run {
                let known = catalog.use { catalog throws(AIError) in
                    try catalog.tree(of: reference.repository, at: commit)
                }
                return try (known ?? nil) ?? layout.repository(reference.repository).readTree(commit)
            }
        }
    }

    // MARK: Showing

    private static func show(_ facts: Facts, _ listsFiles: Bool, _ context: Context) {
        let variants = facts.variants
        context.output.render(json: json(facts, variants), quiet: [facts.reference.repository.id.name]) {
            let record = facts.record
            func line(_ name: String, _ text: String?, _ style: Styled.Style = .plain) {
                guard let text, !text.isEmpty else { return }
                let padding = String(repeating: " ", count: max(1, 12 - name.count))
                context.output.line(Styled("  \(name)\(padding)", .faint) + Styled(text, style))
            }
            context.output.line(
                Styled("\(facts.reference.repository)", .name)
                    + Styled(facts.commit.map { " at \($0.short)" } ?? ""))
            if let seen = facts.seenAt { line("as of", Humanize.age(of: seen, now: context.now), .caution) }
            line("task", record.task)
            line("library", record.library)
            line("license", record.license)
            line(
                "access",
                record.isPrivate == true
                    ? "private" : record.gating.flatMap { $0 == .open ? nil : "gated (\($0.rawValue))" }, .caution)
            line("parameters", record.parameters.map(Humanize.count))
            line(
                "popularity",
                [
                    record.downloads.map { "\(Humanize.count($0)) downloads a month" },
                    record.likes.map { "\(Humanize.count($0)) likes" },
                ].compactMap { $0 }.joined(separator: ", "))
            line("updated", record.updatedAt.map { Humanize.age(of: $0, now: context.now) })
            line(
                "refs",
                facts.revisions.prefix(8).map(\.name).joined(separator: ", ")
                    + (facts.revisions.count > 8 ? ", ..." : ""))
            line("tags", (record.tags ?? []).filter { !$0.contains(":") }.prefix(10).joined(separator: ", "))
            if let tree = facts.tree, let plan = facts.plan {
                line("files", "\(tree.files.count), \(ByteCount(tree.totalSize))")
                for variant in variants {
                    line(
                        "weights",
                        [
                            variant.name,
                            variant.name == variant.format.identifier ? "" : variant.format.identifier,
                            Humanize.plural(variant.files.count, "file"), "\(ByteCount(variant.sizeBytes))",
                        ].filter { !$0.isEmpty }.joined(separator: ", ")
                    )
                }
                line(
                    "cached",
                    plan.cachedBytes == tree.totalSize
                        ? "all of it" : plan.cachedBytes > 0 ? "\(ByteCount(plan.cachedBytes))" : "nothing")
                let totals = plan.totals
                if totals.downloadBytes > 0 {
                    let fits = totals.neededBytes <= facts.diskFree
                    line(
                        "to fetch",
                        "\(ByteCount(totals.downloadBytes)), \(fits ? "fits on the disk" : "does not fit on the disk"): \(ByteCount(facts.diskFree)) free",
                        fits ? .plain : .bad)
                }
                if let largest = variants.map(\.sizeBytes).max(), let memory = facts.memoryTotal {
                    line(
                        "memory",
                        "\(ByteCount(largest)) for the \(variants.count > 1 ? "largest " : "")weights, of \(ByteCount(memory))",
                        largest <= memory ? .plain : .bad)
                }
            }
            if listsFiles { fileTable(facts, context) }
        }
    }

    private static func fileTable(_ facts: Facts, _ context: Context) {
        guard let plan = facts.plan else { return }
        var table = Table([
            .init("FILE", least: 20, cut: .middle), .init("SIZE", .right), .init("KIND"), .init("CACHED"),
        ])
        for (file, state) in plan.files {
            table.add([
                Styled(file.path), Styled("\(ByteCount(file.size))"),
                Styled(file.isLFS ? "lfs" : "regular", .faint),
                isCached(state) ? Styled("yes", .good) : "",
            ])
        }
        context.output.line()
        context.output.table(table)
    }

    private static func isCached(_ state: PullPlan.State) -> Bool { state == .present || state == .blob }

    private static func json(_ facts: Facts, _ variants: [ModelVariant]) -> JSONObject {
        let record = facts.record
        func text(_ value: String?) -> JSON? { value.map { .string($0) } }
        func time(_ value: Double?) -> JSON? { value.map { .string(Timestamp.iso8601($0)) } }
        return [
            "id": .string(record.repository.id.name), "commit": text(facts.commit?.hash),
            "refs": .array(
                facts.revisions.map { revision in
                    .object([
                        "name": .string(revision.name), "kind": .string(revision.kind.rawValue),
                        "commit": .string(revision.commit.hash),
                    ])
                }),
            "task": text(record.task), "library": text(record.library), "license": text(record.license),
            "downloads": record.downloads.map { .int($0) }, "likes": record.likes.map { .int($0) },
            "parameters": record.parameters.map { .int($0) },
            "gated": record.gating.map { $0 == .open ? .bool(false) : .string($0.rawValue) },
            "private": record.isPrivate.map { .bool($0) }, "created_at": time(record.createdAt),
            "updated_at": time(record.updatedAt),
            "tags": record.tags.map { .array($0.map { .string($0) }) },
            "size_bytes": facts.tree.map { .int($0.totalSize) },
            "files": facts.plan.map { plan in
                .array(
                    plan.files.map { file, state in
                        .object([
                            "path": .string(file.path), "size_bytes": .int(file.size),
                            "kind": .string(file.isLFS ? "lfs" : "regular"),
                            "digest": .string(file.digest.hex), "cached": .bool(isCached(state)),
                        ])
                    })
            },
            "cached_bytes": facts.plan.map { .int($0.cachedBytes) },
            "variants": facts.tree.map { _ in
                .array(
                    variants.map { variant in
                        .object([
                            "name": .string(variant.name), "format": .string(variant.format.identifier),
                            "quantization": text(variant.quantization),
                            "files": .array(variant.files.map { .string($0) }),
                            "size_bytes": .int(variant.sizeBytes),
                        ])
                    })
            },
            // Said only where the Hub was not asked.
            "as_of": time(facts.seenAt),
        ]
    }
}
