import HubCore

extension ModelQuery {
    /// The result of testing a model against a query.
    public enum Verdict: Sendable, Hashable {
        /// It meets every condition.
        case matches
        /// A number in a condition is unknown; every other condition is met.
        case unknown
        /// It fails a condition.
        case fails
    }

    /// The formats of weights that ``format`` knows.
    public static let formats = ["gguf", "mlx", "safetensors"]

    /// Whether a model meets every condition except the words of ``text``; see ``verdict(on:)``.
    public func matches(_ record: ModelRecord) -> Bool { verdict(on: record) == .matches }

    /// Tests a model against every condition except the words of ``text``.
    ///
    /// As on the Hub: a library may also be a tag, and an author has any case. ``includesVanished`` does not apply to a
    /// record.
    public func verdict(on record: ModelRecord) -> Verdict {
        guard record.repository.kind == kind, meetsNames(record), meetsAccess(record) else { return .fails }
        let verdicts = [
            Self.verdict(record.likelyParameters?.count, from: minimumParameters, to: maximumParameters),
            Self.verdict(record.sizeBytes, to: maximumSize),
            Self.verdict(weightBytes(of: record), to: maximumWeightBytes),
        ]
        if let runner, !runner.runs(record, weightBytes: runWeightBytes(of: record)) { return .fails }
        if verdicts.contains(.fails) { return .fails }
        return verdicts.contains(.unknown) ? .unknown : .matches
    }

    /// Bytes of one set of a model's weights, as far as they are known.
    package func weightBytes(of record: ModelRecord) -> Int64? {
        let known = record.repository.kind == .model ? knownWeightBytes[record.repository.id.name] : nil
        return known ?? record.estimatedWeightBytes
    }

    /// The same for running, for which the size of the whole repository says too little.
    package func runWeightBytes(of record: ModelRecord) -> Int64? {
        let isKnown = record.likelyParameters != nil || knownWeightBytes[record.repository.id.name] != nil
        return isKnown ? weightBytes(of: record) : nil
    }

    private func meetsNames(_ record: ModelRecord) -> Bool {
        func meets(_ wanted: String?, _ test: (String) -> Bool) -> Bool { wanted.map(test) ?? true }
        let id = record.repository.id
        return meets(author) { $0.lowercased() == (record.author ?? id.owner)?.lowercased() }
            && meets(task) { $0 == record.task }
            && meets(library) { record.isOffered(in: $0) }
            && meets(license) { $0 == record.license || record.hasTag("license:\($0)") }
            && meets(format, record.isOffered(in:))
            && tags.allSatisfy(record.hasTag)
            && capability?.isShown(by: record) ?? true
            && ids?.contains(id.name) ?? true
    }

    private func meetsAccess(_ record: ModelRecord) -> Bool {
        switch gated {
        case true?: record.gating == .automatic || record.gating == .manual
        case false?: record.gating == .open
        case nil: true
        }
    }

    private static func verdict(_ value: Int64?, from least: Int64? = nil, to most: Int64?) -> Verdict {
        if least == nil, most == nil { return .matches }
        guard let value else { return .unknown }
        return value >= least ?? .min && value <= most ?? .max ? .matches : .fails
    }

    /// Whether a model has all words of ``text``, each in its id or as the beginning of a word of its author, task or
    /// tags.
    package func containsWords(_ record: ModelRecord) -> Bool {
        let id = record.repository.id.name.lowercased()
        let others = ([record.author ?? "", record.task ?? ""] + (record.tags ?? [])).joined(separator: " ")
        let known = Self.words(others)
        return Self.words(text).allSatisfy { word in id.contains(word) || known.contains { $0.hasPrefix(word) } }
    }

    /// Runs of letters and digits, in lower case.
    static func words(_ text: String) -> [Substring] {
        text.lowercased().split { !($0.isLetter || $0.isNumber) }
    }
}

extension ModelCapability {
    /// The publishers' tags for it, if the Hub has no task.
    package var tags: [String] {
        switch self {
        case .codeGeneration: ["code", "coder", "code-generation", "code-completion"]
        case .reasoning: ["reasoning", "thinking"]
        default: []
        }
    }

    /// Whether task or tags of a model name it.
    func isShown(by record: ModelRecord) -> Bool {
        record.task.map(tasks.contains) ?? false || tags.contains(where: record.hasTag)
    }
}
