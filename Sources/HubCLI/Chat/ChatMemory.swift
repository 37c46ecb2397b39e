import Fetcher
import HubCore
import InferenceKit
import MemoryKit

/// The folders of `--with`: who makes the vectors, and reading what has changed.
enum ChatMemory {
    /// The memory of some folders, up to date.
    ///
    /// - Parameters:
    ///   - wanted: the model of `--embedder`; nil for the embedding model of the cache that was used last, if there is one.
    ///   - demand: what is asked of it.
    static func open(
        _ folders: [String], embedder wanted: String?, _ demand: ModelPlace.Demand, _ context: Context
    ) async throws -> MemoryContext {
        // Before a model is looked for: a folder that is not there is the likelier mistake.
        _ = try MemoryContext(folders: folders, environment: context.environment)
        let embedder: (model: MemoryContext.Embedder, name: String)?
        if let wanted {
            let place = try await ModelPlace.locate(wanted, context, demand)
            embedder = (try await checked(place, demand), place.id)
        } else {
            embedder = try await usual(demand, context)
        }
        let memory = try MemoryContext(
            folders: folders, embedder: embedder?.model, environment: context.environment)
        let summary = try await refresh(memory, context)
        tell(summary, embedder?.name, folders, context.output)
        return memory
    }

    private static func checked(
        _ place: ModelPlace, _ demand: ModelPlace.Demand
    ) async throws -> MemoryContext.Embedder {
        let model = LocalModel(folder: place.path, displayName: place.id, options: demand.options)
        do throws(AIError) { _ = try await model.embed(["text"]) } catch {
            var error = error
            if error.code == .unsupportedModel {
                error.message = "\(place.id) cannot be the embedder: \(error.message)"
                error.specificAdvice = "hub search --task sentence-similarity finds models that can"
            }
            throw error
        }
        // Every model of sentence-transformers has these two prompts.
        return MemoryContext.Embedder(
            model, name: try weights(of: place), queryPrompt: "query", documentPrompt: "document")
    }

    /// A name of the very weights: the commit of a snapshot, and of a folder the times of its files.
    private static func weights(of place: ModelPlace) throws(AIError) -> String {
        if let commit = place.commit { return "\(place.id)@\(commit.hash)" }
        let path = FileSystem.resolved(place.path) ?? place.path
        let names = try FileSystem.entries(path)?.map { Path.join(path, $0) } ?? [path]
        var text = path
        for name in names {
            if let stamp = try FileSystem.status(name)?.stamp { text += ":\(stamp.size):\(stamp.modified)" }
        }
        return text
    }

    /// The embedding model of the cache that was used last; nil if none runs.
    private static func usual(
        _ demand: ModelPlace.Demand, _ context: Context
    ) async throws -> (MemoryContext.Embedder, String)? {
        let state = try await context.workspace().state()
        var found: [(used: Double, place: ModelPlace)] = []
        for repository in state.repositories where repository.repository.kind == .model {
            for revision in repository.revisions where revision.isComplete != false {
                // The file that sentence-transformers begins with.
                guard revision.files.contains(where: { $0.path == "modules.json" }) else { continue }
                let id = repository.repository.id.name
                found.append(
                    (
                        revision.lastUsedAt,
                        ModelPlace(
                            id: id, path: repository.folder.snapshot(revision.commit), commit: revision.commit)
                    ))
            }
        }
        for candidate in found.sorted(by: { ($1.used, $0.place.id) < ($0.used, $1.place.id) }) {
            do {
                return (try await checked(candidate.place, demand), candidate.place.id)
            } catch let error as AIError where error.code != .cancelled {
                context.output.debug("\(candidate.place.id) is not the embedder: \(error.message)")
            }
        }
        return nil
    }

    private static func refresh(_ memory: MemoryContext, _ context: Context) async throws -> MemoryContext.Summary {
        let output = context.output
        let isLive = context.progressMode == .bar
        defer { if isLive { output.live([], width: 0) } }
        let shown = Lock(0.0)
        return try await memory.refresh { step in
            // Ten times a second is enough.
            let isDue = shown.withLock { last in
                guard Clock.seconds > last + 0.1 else { return false }
                last = Clock.seconds
                return true
            }
            guard isLive, isDue else { return }
            let line =
                switch step {
                case .reading(let done, let all): "reading: \(done) of \(Humanize.plural(all, "file"))"
                case .embedding(let done, let all): "embedding: \(done) of \(Humanize.plural(all, "excerpt"))"
                }
            output.live([line], width: Terminal.size(2)?.columns ?? 80)
        }
    }

    private static func tell(
        _ summary: MemoryContext.Summary, _ embedder: String?, _ folders: [String], _ output: Output
    ) {
        var text = folders.map(\.printable).joined(separator: ", ")
        text +=
            ": \(Humanize.plural(summary.documents, "document")), \(Humanize.plural(summary.excerpts, "excerpt"))"
        if summary.skipped.total > 0 { text += "; left out: \(summary.skipped)" }
        output.note(text)
        output.note(
            embedder.map { "excerpts are found by meaning (\($0)) and by words" }
                ?? "excerpts are found by words alone: the cache has no embedding model, and --embedder names none")
    }
}
