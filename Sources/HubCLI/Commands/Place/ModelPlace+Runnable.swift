import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

/// Models that cannot be run, and what runs them.
extension ModelPlace {
    /// Refuses before the download what file names and config.json say that hub cannot run.
    static func checkRunnable(
        _ reference: ModelReference, _ plan: PullPlan, _ puller: Puller, task: String?, _ context: Context,
        _ demand: Demand
    ) async throws {
        var outline = try await puller.outline(plan)
        let obstacles = RunnableModels.obstacles(outline)
        let files = plan.files.map(\.file)
        guard obstacles.isEmpty else {
            var error = try unsupported(
                "\(reference)", obstacles, .repository(reference, isCached: false), files,
                isMLX: outline.configuration?.quantization?.isMLX ?? false, task: task, context)
            outline.isLoadable = plan.tree.files.contains { SafetensorsFolder.isEntry($0.path) }
            if RunnableModels.obstacles(outline).isEmpty {
                error.specificAdvice =
                    "hub pull \(reference.withoutFiles) --format safetensors fetches weights of it that hub runs\n"
                    + (error.specificAdvice ?? "")
            }
            throw error
        }
        guard let configuration = outline.configuration else { return }
        let usual: [WeightFormat] = configuration.isGGUF ? [.gguf] : [.safetensors, .pickle]
        let weights = outline.formats.first { usual.contains($0.format) }?.bytes ?? 0
        let need = RunnableModels.memory(weightsBytes: weights, configuration, demand.options)
        let available = try Machine.memory().available
        let length = need.context.map { " with a context of \(Humanize.grouped($0)) tokens" } ?? ""
        guard need.bytes <= available else {
            throw AIError(
                .insufficientMemory,
                "\(reference) needs about \(ByteCount(need.bytes)) of memory\(length); \(ByteCount(available)) is available",
                advice:
                    "close other programs, ask for a shorter --context, or choose a smaller model: hub search --runs --fits",
                context: .init(repository: reference.repository.description))
        }
    }

    /// Opens the model, reading its folder once.
    ///
    /// - Throws: what is missing of it, or what keeps it from running, before what follows from that.
    func open(_ demand: Demand, _ context: Context) async throws -> LanguageModel {
        do {
            let folder = try await ModelFolder.read(path)
            do throws(AIError) { return try await folder.open(demand.options) } catch {
                throw try Self.refusal(of: self, folder.inspection, because: error, context)
            }
        } catch let error as AIError {
            guard let incomplete, error.category == .provider else { throw error }
            throw AIError(error.code, "\(id): \(incomplete)", context: error.context)
        }
    }

    /// Why a model that is here cannot be run, and what runs it.
    static func refusal(
        of target: ModelPlace, _ inspection: ModelInspection?, because failure: AIError, _ context: Context
    ) throws -> AIError {
        guard let inspection, !inspection.isSupported else { return failure }
        // Where only the tokenizer is missing, people read the same before the download.
        guard failure.code == .unsupportedModel || inspection.obstacles == [.noTokenizer] else {
            var failure = failure
            failure.message = "\(target.reference.map { "\($0)" } ?? target.id): \(failure.message)"
            return failure
        }
        return try refusal(of: target, inspection, context)
    }

    private static func refusal(of target: ModelPlace, _ inspection: ModelInspection, _ context: Context) throws
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
            isMLX: inspection.isMLX, task: target.task, context)
        error.context.path = target.path
        return error
    }

    private static func unsupported(
        _ id: String, _ obstacles: [RunObstacle], _ place: RunAdvice.Place, _ files: [RepositoryFile], isMLX: Bool,
        task: String?, _ context: Context
    ) throws(AIError) -> AIError {
        let architecture = obstacles.lazy.compactMap { if case .architecture(let name) = $0 { name } else { nil } }
        let advice = RunAdvice(
            place: place, files: files, isMLX: isMLX, registry: try ModelRegistry(environment: context.environment),
            task: task, architecture: architecture.first)
        return AIError(
            .unsupportedModel, "\(id) cannot be run yet: \(obstacles.text)",
            advice: advice.text)
    }
}
