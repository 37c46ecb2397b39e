import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

extension InfoCommand {
    /// Finds out whether hub runs a model here: by its headers where they were read, by what is cached of it, by the Hub's
    /// metadata, and where these do not tell, by its `config.json`.
    ///
    /// - Parameter asks: whether the Hub may be asked.
    static func judge(_ facts: inout ModelFacts, _ workspace: Workspace, asks: Bool, _ context: Context)
        async throws
    {
        guard facts.reference.repository.kind == .model else { return }
        var machine = try MachineRunner(facts.registry?.entriesByRepository ?? [:])
        guard let plan = facts.plan, let variant = facts.chosenVariant(machine) else {
            facts.verdict = machine.verdict(facts.record, weightBytes: nil)
            return
        }
        var verdict: RunVerdict
        if let inspected = facts.inspection?.facts {
            facts.record.take(inspected.modelType, inspected.architecture, isGGUF: variant.format == .gguf)
            verdict = RunVerdict(obstacles: inspected.obstacles)
        } else if let found = try await outlined(variant, plan, &facts, workspace, asks: asks, machine, context) {
            verdict = found
        } else {
            return
        }
        if verdict.isPossible, variant.format != .gguf, !ModelSources.isLoadable(plan.files.map(\.file.path)) {
            verdict.obstacles = [.otherNames(file: variant.files.first.map(Path.name))]
        }
        let need = try await Blocking.run { try plan.memoryNeed(of: variant, by: workspace.memoryRule) }
        verdict.need(memory: facts.inspection?.memoryBytes ?? need.bytes, of: machine.memoryTotal)
        if verdict.isPossible {
            verdict.file = variant.files.first
            verdict.packing = facts.packing(of: variant)
            if case .runs(_, true)? = machine.runner.judge(variant, of: facts.record) {
                verdict.tokensPerSecond = facts.tried?.tokensPerSecond
                if verdict.tokensPerSecond == nil {
                    machine.bytesPerSecond = await context.memorySpeed(workspace)
                    verdict.tokensPerSecond = machine.rate(weightBytes: facts.bytesPerToken(of: variant))
                }
            }
        } else {
            verdict.alternatives = facts.advice?.clauses ?? []
        }
        facts.verdict = verdict
    }

    /// By `config.json` or the header of a GGUF file: where it is here, or else where nothing else tells. The Hub counts a
    /// request for a `config.json` as a download.
    private static func outlined(
        _ variant: ModelVariant, _ plan: PullPlan, _ facts: inout ModelFacts, _ workspace: Workspace, asks: Bool,
        _ machine: MachineRunner, _ context: Context
    ) async throws -> RunVerdict? {
        let isCached = plan.files.contains { file, state in
            state.isCached
                && (variant.format == .gguf ? variant.files.first == file.path : file.path == "config.json")
        }
        let judgement = machine.runner.judge(variant, of: facts.record)
        // Of an architecture whose name is not known config.json has it.
        if !isCached, let judgement, judgement != .fails(.architecture(nil)) { return RunVerdict(judgement) }
        guard isCached || asks, machine.runner.engine.formats.contains(variant.format.supportedName) else {
            return judgement.map(RunVerdict.init)
        }
        var narrow = plan
        let paths = Set(facts.weights.paths(of: variant))
        narrow.files = plan.files.filter { paths.contains($0.file.path) }
        do {
            let outline = try await workspace.puller().outline(narrow)
            if let found = outline.configuration {
                facts.record.take(found.modelType, found.architectures.first, isGGUF: found.isGGUF)
                if !isCached {
                    let record = facts.record
                    await Blocking.run { workspace.remember([record], detailed: true) }
                }
            }
            return RunVerdict(obstacles: RunnableModels.obstacles(outline))
        } catch {
            let error = AIError.wrapping(error)
            if error.code == .cancelled { throw error }
            if error.code == .malformedModel { return RunVerdict(obstacles: [RunObstacle(error)]) }
            // That access is gated is said anyway.
            if error.code != .gated { context.output.note("whether it runs is not known: \(error.message)") }
            return judgement.map(RunVerdict.init)
        }
    }
}

extension ModelFacts {
    /// The set of weights that `hub try` takes: one of those that are cached, if any is.
    func chosenVariant(_ machine: MachineRunner) -> ModelVariant? {
        machine.chosen(of: weights, record, preferring: isCached)
    }

    /// How the weights of a set are packed.
    fileprivate func packing(of variant: ModelVariant) -> String? {
        if variant.format == .gguf { return variant.quantization }
        if let width = variant.quantization?.first?.wholeNumberValue { return "\(width)-bit" }
        guard let parameters = record.parameters, parameters > 0, record.likelyParameters?.isFromName == false
        else {
            return nil
        }
        let bits = Double(variant.sizeBytes) * 8 / Double(parameters)
        return [8, 16, 32].first { abs(bits / Double($0) - 1) < 0.1 }.map { "\($0)-bit" }
    }

    /// Bytes of weights that a decoder reads for each token: all, where the headers were not read.
    fileprivate func bytesPerToken(of variant: ModelVariant) -> Int64 {
        Int64(Double(variant.sizeBytes) * (inspection?.facts.shareReadPerToken ?? 1))
    }
}

extension ModelRecord {
    /// Takes over what files say.
    fileprivate mutating func take(_ type: String?, _ modelClass: String?, isGGUF: Bool) {
        if isGGUF {
            ggufArchitecture = type ?? ggufArchitecture
        } else {
            modelType = type ?? modelType
            self.modelClass = modelClass ?? self.modelClass
        }
    }
}
