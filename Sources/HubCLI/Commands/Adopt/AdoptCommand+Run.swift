import Catalog
import Fetcher
import HubCore

extension AdoptCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        let workspace = try await context.workspace(needsCatalog: true)
        guard let catalog = workspace.catalog else {
            throw workspace.catalogFault ?? AIError(.catalogUnusable, "the catalog cannot be used")
        }
        let run = AdoptionRun(workspace.layout, catalog)
        if request.undo { return try await undo(run, catalog, request, context) }
        let (survey, chosen) = try await Self.survey(request.words, workspace, context)
        let plan = try await plan(survey, chosen, workspace, context)
        let view = AdoptView(context: context)
        context.output.document(view.json(plan, saved: plan.savedBytes, isDone: false))
        view.show(plan)
        guard !plan.rows.isEmpty else {
            context.output.line("nothing to adopt was found")
            return view.show(try await separate(survey, chosen, context))
        }
        if request.dryRun { return context.output.line("dry run: nothing was changed") }
        try await context.requireYes(
            "Do this?", isGiven: request.yes, otherwise: "refusing to link without confirmation",
            undone: "nothing was changed")
        try await carryOut(plan, run, view, context)
    }

    // MARK: Planning

    /// The programs that can be named.
    private static let programs =
        StoreTool.allCases.filter { ![.huggingface, .files].contains($0) }.map(\.rawValue)

    /// The stores, and those among them that words name; nil for all.
    private static func survey(_ words: [String], _ workspace: Workspace, _ context: Context) async throws
        -> (StoreSurvey, Set<Store>?)
    {
        let tools = words.compactMap { StoreTool(rawValue: $0) }
        if tools.contains(where: { $0 == .huggingface || $0 == .files }) {
            throw AIError(
                .invalidInput, "hub cache adopt takes other programs' files",
                advice: "name \(programs.joined(separator: ", ")) or a folder")
        }
        let folders = words.filter { StoreTool(rawValue: $0) == nil }
        let given = try await StoreSurvey.folders(folders, programs: programs, context)
        var survey = try await workspace.survey(given: given)
        let paths = Set(given.map { FileSystem.resolved($0) ?? $0 })
        let chosen: Set<Store>? =
            words.isEmpty
            ? nil : Set(survey.stores.map(\.store).filter { tools.contains($0.tool) || paths.contains($0.path) })
        try await survey.prove(survey.unread(in: chosen), context)
        try await survey.prove(survey.claimedCopies(in: chosen), context)
        for remark in survey.remarks { context.output.warning(remark) }
        return (survey, chosen)
    }

    private static func plan(
        _ survey: StoreSurvey, _ chosen: Set<Store>?, _ workspace: Workspace, _ context: Context
    ) async throws -> AdoptionPlan {
        try await askForNames(survey, chosen, workspace, context)
        let openFiles = try await workspace.protection(for: Set(survey.places.map { survey[$0].identity }))
            .openFiles
        return await Blocking.run {
            let registered =
                workspace.dispensable.use { catalog throws(AIError) in try catalog.registered() } ?? [:]
            var plan = AdoptionPlan(
                survey, in: workspace.layout, from: chosen, registered: registered.mapValues(\.path)
            ) { digest in
                let known = workspace.dispensable.use { catalog throws(AIError) in
                    try catalog.places(ofSHA256: digest)
                }
                return known?.first
            }
            for user in plan.leaveOpen(openFiles) { context.output.note(user) }
            return plan
        }
    }

    /// What hub cache du counts twice although nothing can be done about it.
    private static func separate(_ survey: StoreSurvey, _ chosen: Set<Store>?, _ context: Context) async throws
        -> [SeparateCopy]
    {
        var survey = survey
        try await survey.proveCandidates(context)
        return await Blocking.run { [survey] in SeparateCopy.all(survey, from: chosen) }
    }

    /// Fetches the lists of files of models that other programs have by the Hub's names, so that digests find them.
    private static func askForNames(
        _ survey: StoreSurvey, _ chosen: Set<Store>?, _ workspace: Workspace, _ context: Context
    ) async throws {
        guard !context.isOffline else { return }
        var names: [Repository] = []
        for contents in survey.stores
        where contents.store.tool != .huggingface && chosen?.contains(contents.store) ?? true {
            for model in contents.models where model.id.split(separator: "/").count == 2 && !model.id.contains(":")
            {
                let known = model.files.allSatisfy { file in
                    guard let digest = survey.digests[contents.files[file].identity] else { return true }
                    let places = workspace.dispensable.use { catalog throws(AIError) in
                        try catalog.places(ofSHA256: digest)
                    }
                    return places?.isEmpty == false
                }
                if !known, let id = try? RepositoryID(model.id) { names.append(Repository(.model, id)) }
            }
        }
        guard !names.isEmpty else { return }
        let puller = try await workspace.puller()
        for repository in names {
            do { _ = try await puller.resolve(ModelReference(repository)) } catch {
                let error = AIError.wrapping(error)
                guard error.code != .cancelled else { throw error }
                context.output.debug("\(repository): \(error.message)")
                // One unreachable Hub is enough to know.
                if ![.repositoryNotFound, .gated, .unauthorized, .forbidden].contains(error.code) {
                    return context.output.warning("the Hub was not asked which models these are: \(error.message)")
                }
            }
        }
    }

    // MARK: Doing

    private static func carryOut(_ plan: AdoptionPlan, _ run: AdoptionRun, _ view: AdoptView, _ context: Context)
        async throws
    {
        let renderer = context.progress()
        defer { renderer.finish() }
        context.interruption.kept = "what was linked stays linked; hub cache unadopt separates it again"
        defer { context.interruption.kept = nil }
        let total = plan.rows.reduce(0) { $0 + $1.readBytes }
        try await Blocking.run { try run.sweep() }
        var (done, saved): (Int64, Int64) = (0, 0)
        var failures = Failures()
        var rows: [AdoptionPlan.Row] = []
        for row in plan.rows {
            try await failures.attempt(context.output) {
                let start = done
                let outcome = try await Blocking.runCancellable { check in
                    var read: Int64 = 0
                    return try run.carryOut(row) { count in
                        try check()
                        read += Int64(count)
                        var snapshot = ProgressSnapshot(title: Path.name(row.path), phase: "reading")
                        (snapshot.doneBytes, snapshot.totalBytes) = (start + read, total)
                        renderer.update(snapshot)
                    }
                }
                done += row.readBytes
                switch outcome {
                case .done(let freed):
                    saved += freed
                    rows.append(row)
                case .kept(let fault): throw leftAlone(row.target ?? row.path, fault)
                }
            }
        }
        renderer.finish()
        var result = plan
        result.keep(rows)
        context.output.document(view.json(result, saved: saved, isDone: failures.first == nil))
        context.output.line(
            Styled("\(ByteCount(saved)) saved", .strong) + "; hub cache unadopt separates the copies again")
        try failures.finish()
    }

    // MARK: Undoing

    private static func undo(_ run: AdoptionRun, _ catalog: Catalog, _ request: Request, _ context: Context)
        async throws
    {
        guard request.words.isEmpty else {
            throw AIError(
                .invalidInput, "hub cache unadopt takes no names", advice: "it undoes everything that was adopted")
        }
        let adoptions = try await Blocking.run { try catalog.adoptions() }
        let view = AdoptView(context: context)
        context.output.document(view.json(undoing: adoptions, isDone: false))
        guard !adoptions.isEmpty else { return context.output.line("nothing is adopted") }
        view.show(undoing: adoptions)
        if request.dryRun { return context.output.line("dry run: nothing was changed") }
        try await context.requireYes(
            "Make separate copies again?", isGiven: request.yes,
            otherwise: "refusing to copy without confirmation", undone: "nothing was changed")
        let failures = try await separate(adoptions, run, context)
        context.output.document(view.json(undoing: adoptions, isDone: failures.first == nil))
        try failures.finish()
        let taken = adoptions.reduce(0) { $0 + AdoptView.cost($1) }
        context.output.line("nothing is adopted any more; \(ByteCount(taken)) more are used")
    }

    private static func separate(_ adoptions: [Adoption], _ run: AdoptionRun, _ context: Context) async throws
        -> Failures
    {
        let renderer = context.progress()
        defer { renderer.finish() }
        context.interruption.kept = "what was separated stays so; the same command continues with the rest"
        defer { context.interruption.kept = nil }
        let total = adoptions.reduce(0) { $0 + AdoptView.cost($1) }
        var done: Int64 = 0
        var failures = Failures()
        for adoption in adoptions {
            try await failures.attempt(context.output) {
                let start = done
                done += AdoptView.cost(adoption)
                let outcome = try await Blocking.runCancellable { check in
                    var copied: Int64 = 0
                    return try run.undo(adoption) { count in
                        try check()
                        copied += Int64(count)
                        var snapshot = ProgressSnapshot(title: Path.name(adoption.path), phase: "copying")
                        (snapshot.doneBytes, snapshot.totalBytes) = (start + copied, total)
                        renderer.update(snapshot)
                    }
                }
                if case .kept(let fault) = outcome { throw leftAlone(adoption.path, fault) }
            }
        }
        return failures
    }

    private static func leftAlone(_ path: String, _ fault: AIError) -> AIError {
        var error = fault
        error.message = "\(path.printable) was left as it is: \(fault.message)"
        return error
    }
}
