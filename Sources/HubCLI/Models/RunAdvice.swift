import Catalog
import HubCore
import InferenceKit
import ModelFormats

/// What to do with a model that hub cannot run: another that it does run, and the program that runs this one.
struct RunAdvice {
    /// Where the model is, for the command lines.
    enum Place {
        /// On the Hub or in the cache.
        case repository(ModelReference, isCached: Bool)
        /// A folder or file of this machine.
        case path(String)
    }

    let place: Place
    /// Its files.
    let files: [RepositoryFile]
    /// Whether its weights are packed for MLX.
    let isMLX: Bool
    let registry: ModelRegistry
    /// The Hub's task of the model, and its architecture; nil if unknown.
    var task: String?
    var architecture: String?

    /// The lines, one suggestion each.
    var text: String {
        let all = "hub help architectures lists what hub runs"
        let first = alternative.map { "\(all), such as: hub try \($0.alias)" } ?? all
        return ([first] + [program].compactMap { $0 }).joined(separator: "\n")
    }

    /// The same as clauses.
    var clauses: [String] {
        [alternative.map { "instead, try: hub try \($0.alias)" }, program].compactMap { $0 }
    }

    // MARK: Another model

    private var alternative: RegistryEntry? {
        let runnable = registry.entries.filter {
            RunnableModels.supported.judge($0.facts)?.isPossible == true
        }
        return sibling(among: runnable) ?? small(of: runnable)
    }

    private var own: RegistryEntry? {
        guard case .repository(let reference, _) = place else { return nil }
        return registry.entriesByRepository[reference.repository.id.name]
    }

    /// What another model must be good for: text where nobody knows; nil for what no recommended model does.
    private var capability: ModelCapability? {
        if let task { return ModelCapability(task: task) }
        let alike = own ?? architecture.flatMap { name in registry.entries.first { $0.architecture == name } }
        return alike?.orderedCapabilities.first ?? .textGeneration
    }

    /// The same model in another format.
    private func sibling(among runnable: [RegistryEntry]) -> RegistryEntry? {
        guard let own else { return nil }
        let stem = own.alias.split(separator: "-").filter { $0 != "gguf" && $0 != "mlx" }.joined(separator: "-")
        return runnable.first { $0.alias == stem && fits($0) }
    }

    /// A recommended one for the same that is soon fetched: of those that need the least memory the largest.
    private func small(of runnable: [RegistryEntry]) -> RegistryEntry? {
        guard let capability else { return nil }
        func rank(_ entry: RegistryEntry) -> (Int64, Int64) {
            (entry.memory?.bytes ?? .max, -(entry.parameters ?? 0))
        }
        return runnable.filter {
            $0.isRecommended(memory: registry.memory) && $0.capabilities.contains(capability)
        }.min { rank($0) < rank($1) }
    }

    private func fits(_ entry: RegistryEntry) -> Bool { entry.memory.map { $0 <= registry.memory } ?? false }

    // MARK: Another program

    /// A main clause that names it, with the command where it is safe to paste; nil where none is known.
    var program: String? {
        let names = Set(files.map(\.path))
        let ggufs = names.filter { WeightFormat(fileName: Path.name($0)) == .gguf }
        if !ggufs.isEmpty, ggufs.count == names.count, !ggufs.contains(where: GGUFModel.isModel) {
            guard GGUFModel.isProjector(ggufs.min() ?? "") else { return "it is not a model by itself" }
            let file = argument(ggufs.min() ?? "")
            return "it is the part of a model that reads pictures or sounds; llama.cpp runs it beside the model"
                + (file.map { ": \($0.prefix)llama-mtmd-cli -m MODEL.gguf --mmproj \($0.path)" } ?? "")
        }
        if let file = gguf {
            guard let (prefix, path) = argument(file.path) else { return "llama.cpp runs it" }
            return "llama.cpp runs it: \(prefix)llama-cli -m \(path)"
        }
        if names.contains("config.json"), isMLX {
            let model = folder.map { ": \($0.prefix)mlx_lm.generate --model \($0.path) --prompt Hello" } ?? ""
            return "mlx-lm runs it, on Apple silicon\(model)"
        }
        if names.contains("model_index.json") { return "diffusers runs it, in Python" }
        let formats = Set(names.compactMap { WeightFormat(fileName: Path.name($0)) })
        guard names.contains("config.json"), !formats.isDisjoint(with: [.safetensors, .pickle]) else { return nil }
        return "transformers may run it, in Python"
    }

    /// The model that llama.cpp would take.
    private var gguf: RepositoryFile? {
        let target = WeightChoice.Target(memoryBytes: registry.memory.bytes, runsMLX: false)
        let chosen = WeightChoice.usual(of: ModelFiles(files), for: target) { $0.format == .gguf }
        guard let chosen, chosen.format == .gguf else { return nil }
        return files.first { $0.path == chosen.files.first }
    }

    /// The same of the whole model.
    private var folder: (prefix: String, path: String)? {
        switch place {
        case .path(let path):
            path.utf8.elementsEqual(path.printable.utf8) ? ("", ShellQuoting.posix(path)) : nil
        case .repository(let reference, let isCached):
            (isCached ? "" : "hub pull \(reference) && ", "\"$(hub path \(reference))\"")
        }
    }

    /// What comes before a command, and how the shell names a file; nil for a name that is not safe to paste.
    private func argument(_ file: String) -> (prefix: String, path: String)? {
        switch place {
        case .path(let path):
            let place = files.count == 1 && path.hasSuffix(".gguf") ? path : Path.join(path, file)
            return place.utf8.elementsEqual(place.printable.utf8) ? ("", ShellQuoting.posix(place)) : nil
        case .repository(var reference, let isCached):
            guard file.utf8.allSatisfy(Self.isPlain) else { return nil }
            reference.files = file
            return (isCached ? "" : "hub pull \(reference) && ", "\"$(hub path \(reference))\"")
        }
    }

    /// Whether it has no characters special to shells or globs. A leading dash is fine, because the repository's name
    /// comes first.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
