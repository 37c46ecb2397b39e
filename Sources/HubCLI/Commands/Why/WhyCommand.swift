import Fetcher
import HubCore

/// `hub cache du`
enum WhyCommand {
    static let command = Command(
        name: "du", doc: "where the disk went: every program's models, and what is held twice",
        detail: """
            Looks at every store of models on this machine: the Hugging Face cache with its trash, Xet and assets folders, \
            folders that hub pull --local-dir has filled, ollama, LM Studio, llama.cpp's older cache and Jan; and at GGUF and \
            safetensors files in the folders you name. It shows what each program and each model takes, what is held more \
            than once, and how up to 50 GB could be freed at the least cost. It changes nothing.

            Each physical file counts once, whatever its number of names, and for the first store that has it. Of a sparse \
            file, such as an unfinished download of ollama, only what is on the disk counts. Copies that share their blocks \
            (reflinks) are not held twice.

            Files are the same if their SHA-256 is. Blobs of the cache and of ollama are named by it; other files of 1 MiB \
            and more are read only if another one has the same size, and not again until they change.
            """,
        operands: [Operand("DIR", .any, .folder)],
        listKey: "models",
        examples: [
            .init("hub cache du", "The stores of all programs."),
            .init("hub cache du ~/models /data/weights", "Also loose files in these folders."),
            .init("hub cache du --json", "For a program."),
        ],
        run: { try await run($0, $1.operands) })

    static func run(_ context: Context, _ folders: [String]) async throws {
        let workspace = try await context.workspace()
        let given = try await StoreSurvey.folders(folders, context)
        var survey = try await workspace.survey(given: given)
        try await survey.proveCandidates(context)
        for contents in survey.stores {
            for folder in contents.unreadable {
                context.output.warning("cannot read \(folder.printable), so its files are not counted")
            }
        }
        for remark in survey.remarks { context.output.warning(remark) }
        let report = StoreReport(survey)
        let suggestions = try await suggestions(survey, folders, workspace, context)
        let view = WhyView(context: context, report: report, suggestions: suggestions.lines)
        context.output.render(json: view.json, quiet: report.models.map(\.id)) { view.show() }
    }

    private static func suggestions(
        _ survey: StoreSurvey, _ folders: [String], _ workspace: Workspace, _ context: Context
    ) async throws -> StoreSuggestions {
        let state = try await workspace.state()
        let protection = try await workspace.protection(for: [])
        let now = context.now
        let trash = Trash(workspace.layout)
        return try await Blocking.run {
            var suggestions = StoreSuggestions()
            suggestions.add(
                "hub trash empty", frees: try trash.entries().reduce(0) { $0 + $1.size }, "deleted already")
            // The command takes loose files only of folders that it is given.
            let stores = survey.stores.map(\.store)
            let known = Set(stores.filter { $0.tool != .files })
            var adoptions = [("hub cache adopt", known)]
            for folder in folders {
                let path = FileSystem.resolved(context.environment.expand(folder))
                let store = stores.filter { $0.tool == .files && $0.path == path }
                adoptions.append(("hub cache adopt \(ShellQuoting.word(folder))", Set(store)))
            }
            for (command, stores) in adoptions {
                let plan = AdoptionPlan(survey, in: workspace.layout, from: stores)
                suggestions.add(command, frees: plan.savedBytes, "copies become one")
            }
            try suggestions.add(state, protection, now: now)
            return suggestions
        }
    }
}

extension StoreSurvey {
    /// The folders of the command line.
    ///
    /// - Parameter programs: names that the command takes, too.
    /// - Throws: ``ErrorCode/fileNotFound`` for one that is not there.
    static func folders(_ words: [String], programs: [String] = [], _ context: Context) async throws -> [String] {
        let paths = words.map { context.environment.expand($0) }
        return try await Blocking.run {
            for (word, path) in zip(words, paths) where try FileSystem.status(path)?.kind != .directory {
                throw absent(word, path, programs)
            }
            return paths
        }
    }

    /// A word that names no folder. One without a slash may be meant for a program.
    private static func absent(_ word: String, _ path: String, _ programs: [String]) -> AIError {
        guard !programs.isEmpty, !word.contains("/") else {
            return AIError(
                .fileNotFound, "\(word.printable) is not a folder",
                advice: programs.isEmpty ? "every program's store is looked at without being named" : nil,
                context: .init(path: path))
        }
        let near = NearestName.of(word, among: programs).map { "; did you mean \($0)?" } ?? ""
        return AIError(
            .fileNotFound, "\(word.printable) is neither a folder nor a program that hub knows\(near)",
            advice: "name \(programs.joined(separator: ", ")) or a folder", context: .init(path: path))
    }

    /// Reads the files that may be copies of others, with progress.
    mutating func proveCandidates(_ context: Context) async throws {
        try await prove(unknownCandidates, context)
    }

    /// Reads files that were not read in their present state, with progress.
    mutating func prove(_ places: [Place], _ context: Context) async throws {
        guard !places.isEmpty else { return }
        let renderer = context.progress()
        defer { renderer.finish() }
        let total = places.reduce(0) { $0 + self[$1].file.size }
        let rate = Lock((rate: RateEstimator(), done: Int64(0)))
        let survey = self
        context.interruption.kept = "files that were read are remembered; the same command continues with the rest"
        defer { context.interruption.kept = nil }
        self = try await Blocking.runCancellable { check in
            var survey = survey
            try survey.prove(places) { count in
                try check()
                var snapshot = ProgressSnapshot(title: Humanize.plural(places.count, "file"), phase: "reading")
                snapshot.totalBytes = total
                rate.withLock { state in
                    state.done += Int64(count)
                    state.rate.record(state.done)
                    snapshot.doneBytes = state.done
                    snapshot.bytesPerSecond = state.rate.bytesPerSecond
                    snapshot.secondsLeft = state.rate.secondsLeft(to: total)
                }
                renderer.update(snapshot)
            }
            return survey
        }
    }
}
