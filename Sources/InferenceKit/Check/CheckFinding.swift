/// One thing that a check found.
public struct CheckFinding: Sendable, Hashable {
    /// Which check found it: `tensors`, `values`, …
    public let check: String
    /// ``CheckResult/Status/fail`` for an error, ``CheckResult/Status/warn`` for a possible problem,
    /// ``CheckResult/Status/pass`` for information.
    public let status: CheckResult.Status
    /// The file's name, if it concerns one.
    public let file: String?
    /// The tensor's name, if it concerns one.
    public let tensor: String?
    /// The expected value.
    public let expected: String?
    /// The actual value.
    public let found: String?
    /// One sentence.
    public let detail: String

    init(
        _ check: String, _ status: CheckResult.Status, _ detail: String, file: String? = nil, tensor: String? = nil,
        expected: String? = nil, found: String? = nil
    ) {
        (self.check, self.status, self.detail) = (check, status, detail)
        (self.file, self.tensor, self.expected, self.found) = (file, tensor, expected, found)
    }
}
