/// One thing that a check found.
public struct CheckFinding: Sendable, Hashable {
    /// Which check found it: `tensors`, `values`, …
    public let check: String
    /// ``CheckResult/Status/fail`` for what is broken, ``CheckResult/Status/warn`` for what may hurt,
    /// ``CheckResult/Status/pass`` for what is only worth knowing.
    public let status: CheckResult.Status
    /// The file's name, where it is about one.
    public let file: String?
    /// The tensor's name, where it is about one.
    public let tensor: String?
    /// What was expected.
    public let expected: String?
    /// What is there instead.
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
