import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

/// Where a model is that runs on this machine: a folder or file, or a snapshot of the cache.
struct ModelPlace: Sendable {
    /// What is asked of a model before it is found.
    struct Demand: Sendable {
        /// Who asks, for messages: `hub try`.
        var command: String
        /// The GGUF file of the folder or repository that is meant.
        var file: String?
        var options = ModelOptions()
        /// Whether the model is computed with, not only looked at: one that cannot run is not fetched.
        var runs = true
        /// Whether the model is fetched without a question.
        var yes = false
    }

    /// What a name comes to.
    enum Finding: Sendable {
        case here(ModelPlace)
        /// Not in the cache.
        case absent(ModelReference, Workspace)
    }

    var id: String
    var path: String
    /// What it was called, where it is a snapshot, and which one that is.
    var reference: ModelReference?
    var commit: Commit?
    /// What is missing of it, in a sentence; nil where nothing is.
    var incomplete: String?
    /// The Hub's task of the model, where the catalog knows it.
    var task: String?
}

extension ModelPlace {
    /// A folder of this machine, or the snapshot of a reference, pulled first where it is not here; a file in it if one
    /// was named.
    static func locate(_ text: String, _ context: Context, _ demand: Demand) async throws -> ModelPlace {
        switch try await find(text, context, demand) {
        case .here(let place): return place
        case .absent(let reference, let workspace): return try await fetch(reference, workspace, context, demand)
        }
    }

    /// The file of this folder that is asked for; itself if none is.
    private func file(_ demand: Demand) throws(AIError) -> ModelPlace {
        var target = self
        guard let file = demand.file else { return target }
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

    /// The place of a model, if it is on this machine. Uses no network.
    static func find(_ text: String, _ context: Context, _ demand: Demand) async throws -> Finding {
        if text.namesModelHere {
            let path = Path.withoutEnd(context.environment.expand(text))
            guard FileSystem.exists(path) else {
                throw AIError(
                    .fileNotFound, "\(path.printable) does not exist",
                    advice: "\(demand.command) takes a folder with config.json and weights, or org/name")
            }
            return .here(try ModelPlace(id: Path.name(Path.normalized(path)), path: path).file(demand))
        }
        // What many mean who type a path that looks like a repository's name.
        let namesake = FileSystem.exists(text) ? "./\(text)" : nil
        let reference = try reference(text, context, namesake)
        let workspace = try await context.workspace()
        let cached = try await Blocking.run { try workspace.snapshot(of: reference) }
        let snapshot = cached.map { $0.folder.snapshot($0.commit) }
        let part = try await Blocking.run { try ModelPart(of: reference, demand, in: snapshot) }
        if let (folder, commit) = cached, part.isHere {
            let condition = try await workspace.condition(of: folder, reference.repository, at: commit)
            try condition.checkSound(reference.withoutFiles)
            let task = await Blocking.run {
                workspace.markUsed(folder, commit)
                return knownTask(of: reference, workspace)
            }
            var place = ModelPlace(
                id: reference.repository.id.name, path: folder.snapshot(commit), reference: reference,
                commit: commit, incomplete: condition.incompleteSentence(reference.withoutFiles), task: task)
            if let file = part.file { place.path = Path.join(place.path, file) }
            return .here(place)
        }
        if let namesake {
            context.output.note(
                "taken as a repository on the Hub; to use the file or folder here, write \(namesake)")
        }
        return .absent(reference, workspace)
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
        _ reference: ModelReference, _ workspace: Workspace, _ context: Context, _ demand: Demand
    ) async throws -> ModelPlace {
        guard !workspace.isOffline else { throw AIError.offline(reference) }
        let puller = try await workspace.puller()
        let part = try ModelPart(of: reference, demand, in: nil)
        var options = Puller.Options()
        if let file = part.file {
            options = options.adding([GlobPattern(shards(of: file))])
        } else {
            // One set of weights: a repository of GGUF files has a dozen.
            options.select = try PullCommand.selection(
                format: part.quantization == nil ? .auto : nil, quantization: part.quantization, workspace, context)
        }
        let plan = try await puller.plan(reference.withoutFiles, options)
        if let file = part.file, plan.files.isEmpty {
            throw AIError(.fileNotFound, "\(reference) has no file \(file.printable)")
        }
        let task = await Blocking.run { knownTask(of: reference, workspace) }
        if demand.runs { try await checkRunnable(reference, plan, puller, task: task, context, demand) }
        let bytes = ByteCount(plan.totals.downloadBytes)
        if demand.yes {
            context.output.note("downloading \(reference) first, \(bytes)")
        } else if context.isInteractive {
            let cost = try await Blocking.run { try PullCost([plan], workspace) }
            let time = cost.seconds.map { ", about \(Humanize.duration($0))" } ?? ""
            context.output.note("\(reference) is not downloaded yet: \(bytes)\(time)")
        }
        do {
            try await context.requireYes(
                "Fetch it?", isGiven: demand.yes, otherwise: "\(reference) is not in the cache",
                undone: "\(reference) was not fetched")
        } catch let error as AIError where error.code == .confirmationRequired {
            throw AIError(
                error.code, error.message,
                advice: "--yes downloads it (\(bytes)), as hub pull \(reference) does")
        }
        try await PullCommand.makeRoom(for: [plan], isAgreed: demand.yes, workspace, context)
        try puller.checkSpace([plan])
        let result = await PullCommand.fetch([plan], options, puller, context)[0]
        if let error = result.error { throw error.code == .cancelled ? CancellationError() : error }
        var place = ModelPlace(
            id: reference.repository.id.name, path: result.path, reference: reference,
            commit: result.plan.tree.commit, task: task)
        let fetched = try await Blocking.run { [path = place.path] in
            try ModelPart(of: reference, demand, in: path)
        }
        if let file = fetched.file { place.path = Path.join(place.path, file) }
        return place
    }

    private static func knownTask(of reference: ModelReference, _ workspace: Workspace) -> String? {
        let known = workspace.dispensable.use { catalog throws(AIError) in try catalog.model(reference.repository) }
        return (known ?? nil)?.record.task
    }

    /// A glob for a file and the other parts of its model: `m-00001-of-00003.gguf` is one of three.
    private static func shards(of file: String) -> String {
        file.replacing(/-\d{5}(-of-\d{5}\.gguf)$/) { "-*\($0.output.1)" }
    }
}
