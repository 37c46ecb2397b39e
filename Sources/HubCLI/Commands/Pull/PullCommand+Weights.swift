import Fetcher
import HubCore
import ModelFormats

extension PullCommand {
    /// What `--format` and `--quant` make of each repository's files; nil if everything is wanted. `try` uses it too.
    static func selection(
        format: WeightChoice.Format? = nil, quantization: String? = nil, _ workspace: Workspace, _ context: Context
    ) throws -> (@Sendable (Repository, RepositoryTree, FileFilter) async throws -> FileSelection?)? {
        var weights = WeightSelection(
            try WeightChoice(format: format, quantization: quantization),
            for: WeightChoice.Target(memoryBytes: try Machine.memory().total, runsMLX: Machine.runsMLX))
        weights.runner = try MachineRunner().runner
        // Who wants all quantizations of what an alias stands for says so: --format all.
        if format == nil { weights.aliasQuantizations = context.aliasQuantizations }
        guard !weights.choice.isEverything || !weights.aliasQuantizations.isEmpty else { return nil }
        let output = context.output
        return { [weights] repository, tree, filter in
            try await weights.files(of: repository, tree, filter, workspace.puller()) { variant, reason in
                output.note("\(repository): \(sentence(variant, reason))")
            }
        }
    }

    private static func sentence(_ variant: ModelVariant, _ reason: WeightSelection.Reason) -> String {
        let taking = "taking \(variant.name), \(ByteCount(variant.sizeBytes))"
        switch reason {
        case .alias(let quantization):
            return "\(taking): the alias means \(quantization); --format all takes every file"
        case .automatic(nil): return taking
        case .automatic(let room?):
            return
                "\(taking), the largest quantized set that fits in \(ByteCount(room)), three quarters of the memory"
        case .foreign(let files):
            let parts = files.count == 1 ? "this part" : "these parts"
            return "also taking \(files.joined(separator: ", ")): the model has \(parts) in no other format"
        }
    }
}
