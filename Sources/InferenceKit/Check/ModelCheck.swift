public import HubCore
import ModelFormats

/// Whether a model is whole and sane, by its files alone: nothing of it is run.
public struct ModelCheck: Sendable {
    /// What is looked at, and by whom.
    public struct Options: Sendable {
        /// Whether every number is looked at, not only samples of each tensor.
        public var isFull = false
        package var memory = CheckMemory.none

        /// Samples, nothing kept.
        public init(isFull: Bool = false) { self.isFull = isFull }
    }

    /// Everything that was looked at, in order.
    public let checks: [CheckResult]
    /// What was found, the gravest of each check first.
    public let findings: [CheckFinding]
    /// What the folder says; nil where its headers are broken.
    public let inspection: ModelInspection?

    /// The worst of all checks; ``CheckResult/Status/skip`` counts as nothing.
    public var verdict: CheckResult.Status {
        let found = Set(checks.map(\.status))
        return found.contains(.fail) ? .fail : found.contains(.warn) ? .warn : .pass
    }

    /// Checks a folder or a single weight file.
    ///
    /// - Throws: ``ErrorCode/cancelled``, ``ErrorCode/fileNotFound``, and faults of this machine; what is wrong with the
    ///   model is a finding.
    public static func run(_ path: String, options: Options = Options()) async throws(AIError) -> ModelCheck {
        try await ComputeQueue().run { isCancelled throws(AIError) in
            var run = CheckRun(path: path, options: options)
            try run.run(isCancelled)
            return ModelCheck(
                checks: run.results, findings: run.findings, inspection: run.sources.map { ModelInspection($0) })
        }
    }
}
