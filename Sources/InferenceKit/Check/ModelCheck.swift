public import HubCore
import ModelFormats

/// Checks whether a model is complete and sane from its files, without running it.
public struct ModelCheck: Sendable {
    /// The scope of a check.
    public struct Options: Sendable {
        /// Whether every value is checked, not only samples of each tensor.
        public var isFull = false
        package var memory = CheckMemory.none

        /// By default only samples are checked and nothing is stored.
        public init(isFull: Bool = false) { self.isFull = isFull }
    }

    /// All checks in order.
    public let checks: [CheckResult]
    /// The findings, the most severe of each check first.
    public let findings: [CheckFinding]
    /// The folder's metadata; nil if its headers are broken.
    public let inspection: ModelInspection?

    /// The worst of all checks; ``CheckResult/Status/skip`` is ignored.
    public var verdict: CheckResult.Status {
        let found = Set(checks.map(\.status))
        return found.contains(.fail) ? .fail : found.contains(.warn) ? .warn : .pass
    }

    /// Checks a folder or a single weight file.
    ///
    /// - Throws: ``ErrorCode/cancelled``, ``ErrorCode/fileNotFound``, and errors of this machine; faults of the model
    ///   are findings.
    public static func run(_ path: String, options: Options = Options()) async throws(AIError) -> ModelCheck {
        try await ComputeQueue().run { isCancelled throws(AIError) in
            var run = CheckRun(path: path, options: options)
            try run.run(isCancelled)
            return ModelCheck(
                checks: run.results, findings: run.findings, inspection: run.sources.map { ModelInspection($0) })
        }
    }
}
