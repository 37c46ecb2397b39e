/// The result of one check.
public struct CheckResult: Sendable, Hashable {
    /// How it came out.
    public enum Status: String, Sendable, Hashable {
        /// No problem.
        case pass
        /// Usable, with a problem.
        case warn
        /// Broken.
        case fail
        /// Not done, because an earlier check failed.
        case skip
    }
    /// What was checked: `headers`, `tokenizer`, …
    public let name: String
    /// How it came out.
    public let status: Status
    /// One sentence.
    public let detail: String

    package init(name: String, status: Status, detail: String) {
        self.name = name
        self.status = status
        self.detail = detail
    }
}
