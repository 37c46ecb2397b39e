import Catalog
import HubCore
import InferenceKit
import ModelFormats

/// Whether `hub try` runs a model on this machine, and how, by what is known of it before it is fetched.
struct RunVerdict: Sendable, Hashable {
    /// Why not; empty if it runs.
    var obstacles: [RunObstacle]
    /// What could be used instead, each a clause.
    var alternatives: [String] = []
    /// How the weights that run are packed: `4-bit`, `Q4_K_M`.
    var packing: String?
    /// The file that runs, or the first of several.
    var file: String?
    /// Bytes of memory that running needs.
    var memoryBytes: Int64?
    /// How fast text is generated, about.
    var tokensPerSecond: Double?

    var isPossible: Bool { obstacles.isEmpty }

    /// `yes, 4-bit, about 35 tokens/s`, or `no: the architecture xlstm is not supported yet`.
    var sentence: String {
        if let why = obstacles.clause { return "no: \(why)" }
        let rate = tokensPerSecond.map { "about \(Self.rounded($0)) tokens/s" }
        return ["yes", packing, rate].compactMap { $0 }.joined(separator: ", ")
    }

    var json: JSON {
        let why = obstacles.clause.map { ([$0] + alternatives).joined(separator: "; ") }
        return .object([
            "possible": .bool(isPossible), "why": why.map { .string($0) }, "file": file.map { .string($0) },
            "memory_bytes": memoryBytes.map { .int($0) },
            "tokens_per_second": tokensPerSecond.map { .double($0) },
            "alternatives": alternatives.isEmpty ? nil : .array(alternatives.map { .string($0) }),
        ])
    }

    /// Two digits are more than such an estimate is good for: `35`, `350`, `3.5`, `0.35`.
    static func rounded(_ rate: Double) -> String {
        guard rate.isFinite, rate >= 100 else { return Humanize.perSecond(rate) }
        return Humanize.grouped(Int(min(rate, 1e9) / 10) * 10)
    }

    init(obstacles: [RunObstacle]) { self.obstacles = obstacles }

    init(_ judgement: SupportedModels.Judgement) {
        obstacles = if case .fails(let found) = judgement { [found] } else { [] }
    }

    /// Adds what running needs; it is an obstacle if there is not so much.
    mutating func need(memory bytes: Int64, of total: Int64) {
        guard isPossible else { return }
        memoryBytes = bytes
        if bytes > total { obstacles = [.memory(needed: bytes, total: total)] }
    }
}

/// What this program runs on this machine, and how fast it reads memory.
struct MachineRunner: Sendable {
    let runner: ModelRunner
    let memoryTotal: Int64
    /// Bytes per second; nil if not measured.
    var bytesPerSecond: Double?

    init(_ registry: [String: RegistryEntry] = [:]) throws(AIError) {
        memoryTotal = try Machine.memory().total
        var runner = ModelRunner(
            engine: RunnableModels.supported, mostWeightBytes: MemoryNeed.mostWeights(in: memoryTotal))
        runner.entries = registry
        self.runner = runner
    }

    /// New tokens per second of a decoder that reads so many bytes of weights for each.
    func rate(weightBytes: Int64) -> Double? {
        guard let bytesPerSecond, bytesPerSecond > 0, weightBytes > 0 else { return nil }
        return bytesPerSecond / Double(weightBytes)
    }

    /// By the Hub's metadata and the curated list; nil if they do not tell.
    ///
    /// - Parameter weightBytes: of one set of weights; nil if unknown.
    func verdict(_ record: ModelRecord, weightBytes: Int64?) -> RunVerdict? {
        guard let judgement = runner.judge(record) else { return nil }
        var verdict = RunVerdict(judgement)
        guard case .runs(_, let generates) = judgement, let weightBytes else { return verdict }
        verdict.need(memory: MemoryNeed(weightsBytes: weightBytes).bytes, of: memoryTotal)
        if generates, verdict.isPossible { verdict.tokensPerSecond = rate(weightBytes: weightBytes) }
        return verdict
    }
}
