import Catalog
import Fetcher
import HubCore

extension SearchCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        let began = Clock.seconds
        let typed = request.query
        if let note = request.note { context.output.note(note) }
        let workspace = try await context.workspace(needsCatalog: context.isOffline)
        let cached = try await Blocking.run { try workspace.layout.heldFolders() }
        let curated = try await context.registry(workspace).entriesByRepository
        var machine = try MachineRunner(curated)
        let query = try await narrow(typed, request, workspace, cached: cached, curated: curated, machine)
        let search = ModelSearch(workspace: workspace, cached: cached, curated: curated)
        var answer = try await search.answer(query, asksHub: !workspace.isOffline)
        let asksHub = !workspace.isOffline && answer.failure == nil
        if answer.entries.isEmpty, answer.failure == nil { try await checkTask(query, answer.catalog) }
        if request.runs || context.mode == .json { machine.bytesPerSecond = await context.memorySpeed(workspace) }
        var view = SearchView(
            context: context, query: query, curated: curated, machine: machine, typed: request.typed,
            asksHub: asksHub)
        view.isCurated = request.curated
        view.isLimited = request.isLimited
        if answer.entries.isEmpty, let catalog = answer.catalog {
            view.suggestion = try await Blocking.run {
                try catalog.suggestions(for: query.text, kind: query.kind, limit: 1).first
            }
        }
        if let catalog = answer.catalog {
            let address = workspace.configuration.endpoint.address
            view.otherHubs = try await Blocking.run { try catalog.endpoints() }.map(\.address).filter {
                $0 != address
            }
        }
        if !asksHub, let catalog = answer.catalog {
            view.newestSeen = try await Blocking.run { try catalog.newestSeen(query.kind) }
        }
        // People see the answer to the suggestion; a program that asked for one thing must not get another.
        if let suggestion = view.suggestion, context.mode == .human {
            view.query.text = suggestion
            let failure = answer.failure
            answer = try await search.answer(view.query, asksHub: asksHub)
            answer.failure = failure ?? answer.failure
        }
        view.cachedWeights = await Blocking.run { [entries = answer.entries, machine] in
            CachedWeights.of(entries.filter(\.isCached).map(\.record), workspace, machine) {
                context.output.debug($0.message)
            }
        }
        view.show(answer, seconds: Clock.seconds - began)
        if let failure = answer.failure {
            context.output.failure(failure)
            if !answer.entries.isEmpty {
                context.output.note("these models are from the catalog on this machine")
            }
            throw ReportedError(error: failure)
        }
    }

    /// Nothing was found: is there such a task? The Hub may have tasks that this program does not know, so its answer, and
    /// the catalog, come first.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a task that nobody knows.
    private static func checkTask(_ query: ModelQuery, _ catalog: Catalog?) async throws {
        guard let task = query.task, !HubTasks.all.contains(task) else { return }
        var alone = ModelQuery()
        (alone.task, alone.kind, alone.limit, alone.includesVanished) = (task, query.kind, 1, true)
        let isKnown = try await Blocking.run { [alone] in try catalog?.search(alone).isEmpty == false }
        guard !isKnown else { return }
        let near = NearestName.of(task, among: HubTasks.all).map { "; did you mean \($0)?" } ?? ""
        throw AIError(
            .invalidInput, "unknown task \"\(task.printable)\"\(near)",
            advice: "the tasks are those of the Hub: https://huggingface.co/tasks")
    }
}
