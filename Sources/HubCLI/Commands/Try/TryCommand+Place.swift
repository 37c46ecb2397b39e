import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

/// Where the model is that is tried.
extension TryCommand {
    /// A folder or file of this machine, or a snapshot of the cache.
    struct Target {
        var id: String
        var path: String
        /// What it was called, where it is a snapshot, and which one that is.
        var reference: ModelReference?
        var commit: Commit?
        /// What is missing of it, in a sentence; nil where nothing is.
        var incomplete: String?
    }

    /// A folder of this machine, or the snapshot of a reference, pulled first where it is not here; a file in it if one
    /// was named.
    static func locate(_ text: String, _ context: Context, _ request: Request) async throws -> Target {
        var target = try await folder(text, context, request)
        guard let file = request.file else { return target }
        let path = Path.join(target.path, file)
        guard FileSystem.exists(path) else {
            let others = (try? FileSystem.entries(target.path) ?? []) ?? []
            let files = others.filter { $0.hasSuffix(".gguf") }.sorted().joined(separator: ", ")
            throw AIError(
                .fileNotFound, "\(target.id) has no file \(file.printable)",
                advice: files.isEmpty ? "it has no GGUF file" : "it has \(files)", context: .init(path: path))
        }
        target.path = path
        return target
    }

    private static func folder(_ text: String, _ context: Context, _ request: Request) async throws -> Target {
        if text.namesFolder || text.hasSuffix(".gguf") {
            let path = Path.withoutEnd(context.environment.expand(text))
            guard FileSystem.exists(path) else {
                throw AIError(
                    .fileNotFound, "\(path.printable) does not exist",
                    advice: "hub try takes a folder with config.json and weights, or org/name")
            }
            return Target(id: Path.name(Path.normalized(path)), path: path)
        }
        // What many mean who type a path that looks like a repository's name.
        let namesake = FileSystem.exists(text) ? "./\(text)" : nil
        let reference = try reference(text, context, namesake)
        guard reference.files == nil else {
            throw AIError(.invalidInput, "\(reference) names a file; hub try takes a model")
        }
        let workspace = try await context.workspace()
        if let (folder, commit) = try await Blocking.run({ try workspace.snapshot(of: reference) }),
            request.file.map({ FileSystem.exists(Path.join(folder.snapshot(commit), $0)) }) ?? true
        {
            let condition = try await workspace.condition(reference.repository, at: commit)
            try condition.checkSound(reference)
            await Blocking.run { workspace.markUsed(folder, commit) }
            return Target(
                id: reference.repository.id.name, path: folder.snapshot(commit), reference: reference,
                commit: commit,
                incomplete: condition.incompleteSentence(reference))
        }
        if let namesake {
            context.output.note(
                "taken as a repository on the Hub; to use the file or folder here, write \(namesake)")
        }
        return try await fetch(reference, workspace, context, request)
    }

    /// - Parameter namesake: What is named so in the folder, which an error points out.
    private static func reference(_ text: String, _ context: Context, _ namesake: String?) throws(AIError)
        -> ModelReference
    {
        do {
            return try context.reference(text)
        } catch {
            guard let namesake else { throw error }
            throw AIError(error.code, error.message, advice: "to use the file or folder here, write \(namesake)")
        }
    }

    /// Pulls a model after a yes, unless it is known that hub cannot run it.
    private static func fetch(
        _ reference: ModelReference, _ workspace: Workspace, _ context: Context, _ request: Request
    ) async throws -> Target {
        guard !workspace.isOffline else { throw AIError.offline(reference) }
        let puller = try await workspace.puller()
        var options = Puller.Options()
        if let file = request.file {
            options = options.with([GlobPattern(shards(of: file))])
        } else {
            // One set of weights: a repository of GGUF files has a dozen.
            options.select = try PullCommand.selection(format: .auto, workspace, context)
        }
        let plan = try await puller.plan(reference, options)
        if let file = request.file, plan.files.isEmpty {
            throw AIError(.fileNotFound, "\(reference) has no file \(file.printable)")
        }
        if request.runs { try await checkRunnable(reference, plan, puller, context, request) }
        let bytes = ByteCount(plan.totals.downloadBytes)
        if request.yes {
            context.output.note("downloading \(reference) first, \(bytes)")
        } else if context.isInteractive {
            context.output.note("\(reference) is not downloaded yet: \(bytes)")
        }
        do {
            guard
                try await context.confirm(
                    "Fetch it?", isGiven: request.yes, otherwise: "\(reference) is not in the cache")
            else {
                throw AIError(
                    .notCached, "\(reference) is not in the cache", advice: "hub pull \(reference) fetches it")
            }
        } catch let error as AIError where error.code == .confirmationRequired {
            throw AIError(
                .notCached, "\(reference) is not in the cache",
                advice: "--yes downloads it (\(bytes)), as hub pull \(reference) does")
        }
        try puller.checkSpace([plan])
        let result = await PullCommand.fetch([plan], options, puller, context)[0]
        if let error = result.error { throw error.code == .cancelled ? CancellationError() : error }
        return Target(
            id: reference.repository.id.name, path: result.path, reference: reference,
            commit: result.plan.tree.commit)
    }

    /// A glob for a file and the other parts of its model: `m-00001-of-00003.gguf` is one of three.
    private static func shards(of file: String) -> String {
        file.replacing(/-\d{5}(-of-\d{5}\.gguf)$/) { "-*\($0.output.1)" }
    }

    // MARK: What cannot be run

    /// Refuses before the download what file names and config.json say that hub cannot run.
    private static func checkRunnable(
        _ reference: ModelReference, _ plan: PullPlan, _ puller: Puller, _ context: Context,
        _ request: Request
    ) async throws {
        var outline = try await puller.outline(plan)
        let obstacles = RunnableModels.obstacles(outline)
        let files = plan.files.map(\.file)
        guard obstacles.isEmpty else {
            var error = try unsupported(
                "\(reference)", obstacles, .repository(reference, isCached: false), files,
                isMLX: outline.configuration?.quantization?.isMLX ?? false, context)
            outline.isLoadable = plan.tree.files.contains { SafetensorsFolder.isEntry($0.path) }
            if RunnableModels.obstacles(outline).isEmpty {
                error.specificAdvice =
                    "hub pull \(reference) --format safetensors fetches weights of it that hub runs\n"
                    + (error.specificAdvice ?? "")
            }
            throw error
        }
        guard let configuration = outline.configuration else { return }
        let usual: [WeightFormat] = configuration.isGGUF ? [.gguf] : [.safetensors, .pickle]
        let weights = outline.formats.first { usual.contains($0.format) }?.bytes ?? 0
        let (needed, positions) = RunnableModels.memory(
            weightsBytes: weights, configuration, request.options)
        let available = try Machine.memory().available
        guard needed <= available else {
            throw AIError(
                .insufficientMemory,
                "\(reference) needs about \(ByteCount(needed)) of memory with a context of \(Humanize.grouped(positions)) tokens; \(ByteCount(available)) is available",
                advice:
                    "close other programs, ask for a shorter --context, or choose a smaller model: hub search --runs --fits",
                context: .init(repository: reference.repository.description))
        }
        guard
            configuration.isGGUF || RunnableModels.forecasts(configuration)
                || files.contains(where: { TokenizerKind.fileNames.contains($0.path) })
        else {
            throw try unsupported(
                "\(reference)", [TokenizerKind.none], .repository(reference, isCached: false), files, isMLX: false,
                context)
        }
    }

    /// Why a model that is here cannot be run, and what runs it.
    static func refusal(
        of target: Target, _ inspection: ModelInspection?, because failure: AIError, _ context: Context
    ) throws -> AIError {
        guard let inspection, !inspection.isSupported else { return failure }
        // Where only the tokenizer is missing, people read the same before the download.
        guard failure.code == .unsupportedModel || inspection.obstacles == [TokenizerKind.none] else {
            var failure = failure
            failure.message = "\(target.reference.map { "\($0)" } ?? target.id): \(failure.message)"
            return failure
        }
        return try refusal(of: target, inspection, context)
    }

    private static func refusal(of target: Target, _ inspection: ModelInspection, _ context: Context) throws
        -> AIError
    {
        let isFolder = try FileSystem.status(target.path)?.kind == .directory
        let names = isFolder ? try FileSystem.entries(target.path) ?? [] : [Path.name(target.path)]
        let files = try names.map { name in
            let place = isFolder ? Path.join(target.path, name) : target.path
            return RepositoryFile(path: name, size: try FileSystem.status(place)?.size ?? 0, oid: "")
        }
        let place = target.reference.map { RunAdvice.Place.repository($0, isCached: true) } ?? .path(target.path)
        var error = try unsupported(
            target.reference.map { "\($0)" } ?? target.id,
            inspection.obstacles, place, files,
            isMLX: inspection.isMLX, context)
        error.context.path = target.path
        return error
    }

    private static func unsupported(
        _ id: String, _ obstacles: [String], _ place: RunAdvice.Place, _ files: [RepositoryFile], isMLX: Bool,
        _ context: Context
    ) throws(AIError) -> AIError {
        let advice = RunAdvice(
            place: place, files: files, isMLX: isMLX, registry: try ModelRegistry(environment: context.environment))
        return AIError(
            .unsupportedModel, "\(id) cannot be run yet: \(obstacles.joined(separator: "; "))",
            advice: advice.text)
    }
}
