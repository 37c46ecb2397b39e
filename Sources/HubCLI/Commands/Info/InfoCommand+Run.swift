import Catalog
import Fetcher
import HubCore
import ModelFormats

extension InfoCommand {
    /// What is shown, and how much of it.
    struct Request {
        var model: String
        var refresh: Bool
        var inspect: Bool
        var files: Bool
        var opensPage: Bool
        /// The context to compute the memory for.
        var contextLength: Int?

        /// - Throws: ``ErrorCode/invalidInput`` for a context that nothing is computed for.
        init(_ arguments: ParsedArguments) throws(AIError) {
            model = arguments.operands[0]
            refresh = arguments[InfoCommand.refresh]
            inspect = arguments[InfoCommand.inspect]
            files = arguments[InfoCommand.files]
            opensPage = arguments[SharedFlags.open]
            contextLength = arguments[InfoCommand.contextLength]
            if contextLength != nil, !inspect { throw AIError(.invalidInput, "--context needs --inspect") }
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let reference = try context.reference(request.model)
        let workspace = try await context.workspace()
        let page = "\(workspace.configuration.endpoint.address)/\(reference.repository)"
        if request.opensPage { return open(page, reference, context) }
        var facts = ModelFacts(reference: reference, page: page, record: ModelRecord(reference.repository))
        var failure: AIError?
        var isGone = false
        if workspace.isOffline {
            guard !request.refresh else {
                throw AIError(.offline, "--refresh asks the Hub, and the network is switched off")
            }
            try await recall(&facts, workspace)
        } else {
            do {
                try await ask(&facts, workspace, refresh: request.refresh)
            } catch {
                // Only where the Hub cannot be asked does what is remembered stand in for its answer.
                let wrapped = AIError.wrapping(error)
                isGone = wrapped.code == .repositoryNotFound
                let isCached = try await Blocking.run { try workspace.snapshot(of: reference) != nil }
                guard
                    isGone && isCached
                        || [.unreachable, .timedOut, .connectionLost, .serverError, .rateLimited].contains(
                            wrapped.code)
                else { throw error }
                if isGone {
                    context.output.note("\(wrapped.message); showing what is cached")
                } else {
                    failure = wrapped
                }
                do { try await recall(&facts, workspace) } catch { throw wrapped }
            }
        }
        try await look(&facts, workspace)
        if reference.repository.kind == .model {
            let registry = try await context.registry(workspace)
            facts.registry = registry
            facts.curated = registry.entriesByRepository[reference.repository.id.name]
        }
        let asks = !workspace.isOffline && failure == nil && !isGone
        if !request.inspect { try await readCard(&facts, workspace, asks: asks, context.output) }
        if request.inspect {
            facts.inspection = InspectionView(
                facts: try await inspection(facts, workspace), context: request.contextLength,
                memoryTotal: facts.memoryTotal)
        }
        try await judge(&facts, workspace, asks: asks, context)
        let view = InfoView(facts: facts, context: context)
        context.output.render(json: view.json, quiet: [reference.repository.id.name]) {
            view.show()
            if request.files { view.showFiles() }
        }
        if let failure {
            context.output.failure(failure)
            throw ReportedError(error: failure)
        }
    }

    /// Opens the page in the browser. Asks nobody whether there is one.
    private static func open(_ page: String, _ reference: ModelReference, _ context: Context) {
        let opens = Browser.open(page, context.environment)
        let json: JSONObject = ["id": .string(reference.repository.id.name), "page": .string(page)]
        context.output.render(json: json, quiet: [page]) { context.output.line(Styled(page)) }
        context.output.note(opens ? "the browser opens it" : "no browser can be started here; open it in one")
    }

    // MARK: The Hub

    private static func ask(_ facts: inout ModelFacts, _ workspace: Workspace, refresh: Bool) async throws {
        let client = try await workspace.client()
        let repository = facts.reference.repository
        let info = try await client.info(repository, revision: facts.reference.revision)
        facts.record = info.record
        facts.commit = info.commit
        facts.parameters = info.parameters
        let catalog = workspace.dispensable
        facts.record = await Blocking.run { [record = info.record] in
            workspace.remember([record], detailed: true)
            // What an earlier look at the files has told, and the Hub does not.
            let known = catalog.use { catalog throws(AIError) in try catalog.model(repository) } ?? nil
            guard let known = known?.record else { return record }
            var record = record
            record.modelType = record.modelType ?? known.modelType
            record.modelClass = record.modelClass ?? known.modelClass
            record.ggufArchitecture = record.ggufArchitecture ?? known.ggufArchitecture
            return record
        }
        facts.tree = try await workspace.puller().tree(of: repository, at: info.commit)
        let known = await Blocking.run {
            catalog.use { catalog throws(AIError) in
                (try catalog.revisions(of: repository), try catalog.revisionsSeenAt(repository))
            }
        }
        (facts.revisions, facts.revisionsSeenAt) = known ?? ([], nil)
        // A branch that has moved since makes the list stale.
        let main = facts.reference.revision ?? "main"
        if refresh || facts.revisions.count < 2
            || facts.revisions.first(where: { $0.name == main })?.commit != info.commit
        {
            let found = try await client.revisions(repository)
            (facts.revisions, facts.revisionsSeenAt) = (found, nil)
            await Blocking.run {
                catalog.use { catalog throws(AIError) in
                    try catalog.remember(found, of: repository, complete: true, at: Timestamp.now)
                }
            }
        }
    }

    // MARK: What is remembered

    /// What the catalog and the cache know.
    private static func recall(_ facts: inout ModelFacts, _ workspace: Workspace) async throws {
        let reference = facts.reference
        let (catalog, layout) = (workspace.dispensable, workspace.layout)
        let endpoint = workspace.configuration.endpoint.address
        let known = await Blocking.run {
            catalog.use { catalog throws(AIError) in
                (try catalog.model(reference.repository), try catalog.mirrorAge(endpoint))
            }
        }
        let cached = try await Blocking.run { try workspace.snapshot(of: reference) }
        guard known?.0 != nil || cached != nil else {
            // Without a readable catalog the earlier state is unknown.
            if let fault = workspace.catalogFault { throw Context.advised(fault) }
            throw AIError(
                .offline, "\(reference.repository) is not known here, and the network is switched off",
                context: .init(repository: reference.repository.description))
        }
        if let (model, age) = known, let model {
            facts.record = model.record
            // Of what only the cache names the Hub was never heard.
            let (seen, counted) = (age.asOf(model), age.countedAt(model))
            facts.seenAt = seen > 0 ? seen : nil
            facts.countedAt = counted > 0 ? counted : nil
        }
        facts.revisions = await Blocking.run {
            catalog.use { catalog throws(AIError) in try catalog.revisions(of: reference.repository) } ?? []
        }
        let wanted = reference.revision ?? "main"
        facts.commit = Commit(wanted) ?? facts.revisions.first { $0.name == wanted }?.commit ?? cached?.commit
        if let commit = facts.commit {
            facts.tree = try await Blocking.run {
                let known = catalog.use { catalog throws(AIError) in
                    try catalog.tree(of: reference.repository, at: commit)
                }
                return try (known ?? nil) ?? layout.repository(reference.repository).readTree(commit)
            }
        }
    }

    // MARK: This machine

    /// What is cached, what there is room for, and what running it would take.
    private static func look(_ facts: inout ModelFacts, _ workspace: Workspace) async throws {
        let layout = workspace.layout
        facts.memoryTotal = try Machine.memory().total
        facts.diskFree = try await Blocking.run { try FileSystem.diskSpace(layout.root).available }
        let reference = facts.reference
        let pins = Protection(pins: await workspace.pins())
        facts.pin = facts.commit.flatMap { pins.pin(layout.repository(reference.repository), $0) }
        facts.triedRemotely = await Blocking.run { [repository = reference.repository] in
            workspace.dispensable.use { catalog throws(AIError) in try catalog.triedRemotely() }?[
                repository.description]
                ?? []
        }
        if let commit = facts.commit {
            let condition = try await workspace.condition(reference.repository, at: commit)
            facts.incomplete = condition.incompleteSentence(reference)
            facts.damaged = condition.damageSentence(reference)
            let catalog = workspace.dispensable
            facts.tried = await Blocking.run {
                catalog.use { catalog throws(AIError) in try catalog.tried(reference.repository, at: commit) }
                    ?? nil
            }
        }
        guard let tree = facts.tree else {
            // Another tool fetched it; its file list is unknown.
            let known = try await workspace.state().repository(reference.repository)
            let revision = known?.revisions.first { $0.commit == facts.commit }
            facts.cachedFiles = revision.flatMap { known?.physicalFiles(of: $0).values.map(\.size) }
            return
        }
        let plan = try await Blocking.run { [record = facts.record] in
            let named = try reference.files.map { word throws(AIError) in
                try NamedFiles(
                    word, among: tree.files, of: reference.repository, library: record.library,
                    tags: record.tags ?? [])
            }
            return try PullPlan(
                reference.repository, in: layout, tree: tree, ref: nil, choice: FileChoice(named?.filter ?? .all),
                force: false)
        }
        facts.plan = plan
        facts.findVariants()
        facts.needs = try await Blocking.run { [variants = facts.variants] in
            try variants.map { variant throws(AIError) in
                try plan.memoryNeed(of: variant, by: workspace.memoryRule)
            }
        }
    }

    /// An unreadable README is reported; the rest is shown.
    private static func readCard(
        _ facts: inout ModelFacts, _ workspace: Workspace, asks: Bool, _ output: Output
    ) async throws {
        guard let plan = facts.plan else { return }
        do {
            facts.summary = try await CardReader(
                catalog: workspace.catalog, client: asks ? workspace.client() : nil
            ).summary(plan)
        } catch {
            let error = AIError.wrapping(error)
            if error.code == .cancelled { throw error }
            // That access is gated is said anyway.
            guard error.code != .gated else { return }
            output.note("its README could not be read: \(error.message)")
        }
    }
}
