import Catalog
import Fetcher
import HubCore
import ModelFormats

extension PullCommand {
    /// What `--format` and `--quant` make of each repository's files; nil if everything is wanted.
    static func selection(_ context: Context, _ arguments: ParsedArguments, _ workspace: Workspace) throws
        -> (@Sendable (Repository, RepositoryTree, FileFilter) async throws -> FileSelection?)?
    {
        let choice = try WeightChoice(format: arguments[format], quantization: arguments[quant])
        // Who wants all quantisations of what an alias stands for says so: --format all.
        let meant = arguments[format] == nil ? context.aliasQuantizations : [:]
        guard !choice.isEverything || !meant.isEmpty else { return nil }
        let target = WeightChoice.Target(memoryBytes: try Machine.memory().total, runsMLX: Machine.runsMLX)
        let isAutomatic = arguments[format] == .auto && arguments[quant] == nil
        let output = context.output
        return { repository, tree, filter in
            let quantization = choice.isEverything && filter == .all ? meant[repository.id] : nil
            let choice = try quantization.map { try WeightChoice(format: nil, quantization: $0) } ?? choice
            guard !choice.isEverything else { return nil }
            guard repository.kind == .model else {
                throw AIError(
                    .invalidInput,
                    "\(repository) is not a model; --format and --quant choose among the weights of a model")
            }
            // The tags tell MLX from other safetensors.
            let record = try await workspace.puller().record(of: repository, at: tree.commit)
            let files = ModelFiles(tree.files, library: record?.library, tags: record?.tags ?? [])
            guard
                let variant = try choice.choose(
                    from: files, of: "\(repository)", for: target, wanted: filter.matches)
            else { return nil }
            if let quantization {
                output.note(
                    "\(repository): taking \(variant.name), \(ByteCount(variant.sizeBytes)): the alias means \(quantization); --format all takes every file"
                )
            }
            if isAutomatic { output.note(reason(for: variant, of: repository, files, target)) }
            let foreign = variant.foreignFiles
            if !foreign.isEmpty {
                output.note(
                    "\(repository): also taking \(foreign.joined(separator: ", ")): the model has \(foreign.count == 1 ? "this part" : "these parts") in no other format"
                )
            }
            return files.selection(of: variant)
        }
    }

    private static func reason(
        for variant: ModelVariant, of repository: Repository, _ files: ModelFiles, _ target: WeightChoice.Target
    ) -> String {
        let isOneOfMany = files.variants.filter { $0.format == .gguf }.count > 1
        let why =
            variant.format == .gguf && isOneOfMany && !variant.isPlain
            ? ", the largest quantized set that fits in \(ByteCount(target.weightBytes)), three quarters of the memory"
            : ""
        return "\(repository): taking \(variant.name), \(ByteCount(variant.sizeBytes))\(why)"
    }
}
