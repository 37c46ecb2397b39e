/// Where a piece of work stands: all that a renderer needs, whoever does the work.
struct ProgressSnapshot: Sendable, Hashable {
    /// A file under way.
    struct File: Sendable, Hashable {
        var name: String
        var done: Int64
        var total: Int64?
        init(_ name: String, done: Int64, total: Int64?) {
            self.name = name
            self.done = done
            self.total = total
        }
    }

    /// What the work is about: `org/name`.
    var title: String
    /// What is done just now where that is not moving bytes: "verifying", "waiting for another process".
    var phase: String?
    var doneBytes: Int64 = 0
    /// nil where nobody knows.
    var totalBytes: Int64?
    var bytesPerSecond: Double?
    var secondsLeft: Double?
    var filesDone = 0
    var filesTotal: Int?
    /// The files under way.
    var active: [File] = []

    /// From 0 to 1; nil where the total is unknown.
    var fraction: Double? {
        guard let totalBytes else { return nil }
        return totalBytes == 0 ? 1 : min(1, max(0, Double(doneBytes) / Double(totalBytes)))
    }
}
