import HubCore

/// The state of a piece of work: all that a renderer needs.
struct ProgressSnapshot: Sendable, Hashable {
    /// A file under way.
    struct File: Sendable, Hashable {
        var name: String
        /// Whose file it is, as `org/name`; nil if all are of one model.
        var model: String?
        var done: Int64
        var total: Int64?
        init(_ name: String, of model: String? = nil, done: Int64, total: Int64?) {
            self.name = name
            self.model = model
            self.done = done
            self.total = total
        }
    }

    /// What the amounts count.
    enum Unit: String, Sendable, Hashable { case bytes, models }

    /// A further count, shown as "12 changed".
    struct Count: Sendable, Hashable {
        var name: String
        var value: Int64
        var text: String { "\(Humanize.count(value)) \(name)" }
    }

    /// What the work is about: `org/name`.
    var title: String
    /// What is done just now where that is not moving bytes: "verifying", "waiting for another process".
    var phase: String?
    var unit = Unit.bytes
    /// This and the two below in bytes, or what ``unit`` says.
    var doneBytes: Int64 = 0
    /// nil if it is unknown.
    var totalBytes: Int64?
    var bytesPerSecond: Double?
    var secondsLeft: Double?
    var filesDone = 0
    var filesTotal: Int?
    /// The files under way.
    var active: [File] = []
    var counts: [Count] = []

    /// From 0 to 1; nil if the total is unknown.
    var fraction: Double? {
        guard let totalBytes else { return nil }
        return totalBytes == 0 ? 1 : min(1, max(0, Double(doneBytes) / Double(totalBytes)))
    }
}

extension ProgressSnapshot.Unit {
    /// `2.3 MB`, `15k models`.
    func amount(_ number: Int64) -> String {
        switch self {
        case .bytes: "\(ByteCount(number))"
        case .models: "\(Humanize.count(number)) models"
        }
    }

    /// `2.3 MB/4.0 GB`, `2.3k/15k models`.
    func share(_ done: Int64, of total: Int64) -> String {
        switch self {
        case .bytes: "\(ByteCount(done))/\(ByteCount(total))"
        case .models: "\(Humanize.count(done))/\(amount(total))"
        }
    }

    /// `118 MB/s`, `2.1k models/s`.
    func rate(_ perSecond: Double) -> String {
        switch self {
        case .bytes: Humanize.rate(perSecond)
        case .models: "\(amount(Int64(min(max(perSecond, 0), 9e18))))/s"
        }
    }
}
