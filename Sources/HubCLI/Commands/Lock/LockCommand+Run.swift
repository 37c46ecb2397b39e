import Fetcher
import HubCore
import ModelFormats

extension LockCommand {
    /// What is done with the lock.
    struct Request {
        enum Action { case add, list, check(branches: Bool), update, key }

        var action: Action
        var words: [String]
        var path: String
        var filter: FileFilter
        var format: WeightChoice.Format?
        var quantization: String?

        init(_ action: Action, _ arguments: ParsedArguments) {
            self.action = action
            words = arguments.operands
            path = arguments[LockCommand.file] ?? LockedModels.fileName
            let include = arguments.all(PullCommand.include)
            filter = FileFilter(
                include: include.isEmpty ? nil : include, exclude: arguments.all(PullCommand.exclude))
            format = arguments[PullCommand.format]
            quantization = arguments[PullCommand.quant]
        }

        var choosesFiles: Bool { filter != .all || format != nil || quantization != nil }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        switch request.action {
        case .add: try await add(context, request)
        case .list: try await list(context, request)
        case .check(let branches): try await check(context, request, branches: branches)
        case .update: try await update(context, request)
        case .key:
            let lock = try await LockedModels.read(request.path)
            context.output.render(json: ["ok": true, "key": .string(lock.key)], quiet: [lock.key]) {
                context.output.value(lock.key)
            }
        }
    }

    private static func list(_ context: Context, _ request: Request) async throws {
        let lock = try await LockedModels.read(request.path)
        context.output.render(
            json: json(lock, lock.entries.map { ($0, nil) }), quiet: lock.entries.map { "\($0.reference)" }
        ) {
            var table = Table([
                .init("MODEL", least: 16, cut: .middle), .init("COMMIT"), .init("FILES", .right),
                .init("SIZE", .right),
            ])
            for entry in lock.entries {
                table.add([
                    Styled("\(entry.reference.shortCommit)", .name), Styled(entry.commit.short),
                    Styled("\(entry.files.count)"), Styled("\(ByteCount(entry.totalBytes))"),
                ])
            }
            context.output.table(table)
        }
        if lock.entries.isEmpty { context.output.note("\(request.path.printable) locks nothing") }
    }

    private static func add(_ context: Context, _ request: Request) async throws {
        var lock = try await Blocking.run { try ModelLock.read(request.path) } ?? ModelLock()
        let references = try request.words.map { word throws(AIError) in try context.reference(word) }
        let workspace = try await context.workspace(joinsGroup: false)
        let puller = try await workspace.puller()
        var options = Puller.Options()
        options.filter = request.filter
        options.earlierChoice = request.choosesFiles || request.format == .all ? .grows : .isFollowed
        options.choosesWeights = request.format != nil || request.quantization != nil
        options.select = try PullCommand.selection(
            format: request.format, quantization: request.quantization, workspace, context)
        var failures = Failures()
        var changes: [LockChange] = []
        for reference in references {
            try await failures.attempt(context.output) {
                let entry = try await puller.lockEntry(reference, options)
                let before = lock.entries.first {
                    $0.repository == entry.repository && $0.revision == entry.revision
                }
                changes.append(LockChange(from: before, to: entry))
                lock.set(entry)
            }
        }
        try await finish(changes, lock, failures, request, context)
    }

    private static func update(_ context: Context, _ request: Request) async throws {
        var lock = try await LockedModels.read(request.path)
        let entries = try LockedModels.entries(request.words, of: lock, request.path, context)
        let puller = try await context.workspace(joinsGroup: false).puller()
        guard !puller.isOffline else {
            throw AIError(.offline, "hub lock update needs the network, which is switched off")
        }
        var failures = Failures()
        var changes: [LockChange] = []
        for entry in entries {
            try await failures.attempt(context.output) {
                let new = try await puller.updated(entry)
                changes.append(LockChange(from: entry, to: new))
                lock.set(new)
            }
        }
        try await finish(changes, lock, failures, request, context)
    }

    /// Writes all of it or nothing: a lock of half the models looks like one of all.
    private static func finish(
        _ changes: [LockChange], _ lock: ModelLock, _ failures: Failures, _ request: Request, _ context: Context
    ) async throws {
        guard failures.all.isEmpty else {
            context.output.document(["ok": false, "models": .array([])])
            if changes.contains(where: \.isChange) {
                context.output.note("nothing was written to \(request.path.printable)")
            }
            return try failures.finish()
        }
        if changes.contains(where: \.isChange) { try await Blocking.run { try lock.write(request.path) } }
        show(changes, lock, request.path, context)
    }

    private static func check(_ context: Context, _ request: Request, branches: Bool) async throws {
        let lock = try await LockedModels.read(request.path)
        let entries = try LockedModels.entries(request.words, of: lock, request.path, context)
        let workspace = try await context.workspace(joinsGroup: false)
        var failures = Failures()
        var found: [(ModelLock.Entry, String?)] = []
        for entry in entries {
            try await failures.attempt(context.output) {
                var problem = try await Blocking.run { try entry.problem(in: workspace.layout) }
                if problem == nil {
                    let damaged = try await workspace.condition(entry.repository, at: entry.commit).damagedFile
                    if let damaged, entry.files.contains(where: { $0.path == damaged }) {
                        problem = "hub verify found \(damaged.printable) damaged"
                    }
                }
                found.append((entry, problem))
                guard branches, let revision = entry.revision else { return }
                guard !workspace.isOffline else {
                    throw AIError(.offline, "--branches needs the network, which is switched off")
                }
                let now = try await workspace.puller().info(entry.reference).commit
                guard now != entry.commit else { return }
                let moved = "\(revision.printable) is at \(now.short) on the Hub"
                found[found.count - 1].1 = problem.map { "\($0); \(moved)" } ?? moved
            }
        }
        let differ = found.filter { $0.1 != nil }
        context.output.render(json: json(lock, found), quiet: differ.map { "\($0.0.reference)" }) {
            for (entry, problem) in differ {
                context.output.line(
                    Styled("\(entry.reference.shortCommit)", .name) + Styled(" at \(entry.commit.short): ")
                        + Styled(problem ?? "", .bad))
            }
        }
        if differ.isEmpty, failures.all.isEmpty {
            context.output.note(
                "\(Humanize.plural(entries.count, "model")) as locked in \(request.path.printable)")
        }
        try failures.finish()
        if !differ.isEmpty { throw AnswerIsNo() }
    }

    static func json(_ lock: ModelLock, _ entries: [(ModelLock.Entry, String?)]) -> JSONObject {
        [
            "ok": .bool(entries.allSatisfy { $0.1 == nil }),
            "models": .array(
                entries.map { entry, problem in
                    .object([
                        "id": .string(entry.repository.description), "revision": entry.revision.map { .string($0) },
                        "commit": .string(entry.commit.hash), "files": .int(Int64(entry.files.count)),
                        "bytes": .int(entry.totalBytes), "problem": problem.map { .string($0) },
                    ])
                }), "key": .string(lock.key),
        ]
    }
}

extension ModelReference {
    /// With a commit cut to its first digits, for tables.
    var shortCommit: ModelReference {
        var out = self
        if let commit = revision.flatMap(Commit.init) { out.revision = commit.short }
        return out
    }
}
