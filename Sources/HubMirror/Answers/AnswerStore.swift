import HubCore

/// Upstream's answers on disk: what a commit addresses for ever, the rest until it is replaced or unused for a month.
final class AnswerStore: Sendable {
    private let folder: String
    private let report: @Sendable (AIError) -> Void

    private static let keptDays = 30.0
    /// Larger answers are passed on only.
    private static let largest = 16 << 20

    /// - Parameter report: called for a folder that cannot be written; the mirror goes on without keeping.
    init(_ folder: String, report: @escaping @Sendable (AIError) -> Void) {
        (self.folder, self.report) = (folder, report)
    }

    /// The answer to a question; nil if there is none.
    func find(_ key: String, byCommit: Bool) -> Answer? {
        guard let bytes = try? FileSystem.contents(place(key, byCommit)) else { return nil }
        return Answer(file: bytes)
    }

    func keep(_ answer: Answer, for key: String, byCommit: Bool) {
        guard answer.body.count <= Self.largest else { return }
        let path = place(key, byCommit)
        do throws(AIError) {
            try FileSystem.createDirectories(Path.parent(path), mode: 0o700)
            try FileSystem.replace(path, with: answer.file)
        } catch { report(error) }
    }

    func remove(_ key: String) { _ = try? FileSystem.remove(place(key, false)) }

    /// Deletes what has not been renewed for a month.
    func prune(now: Double = Timestamp.now) {
        let place = Path.join(folder, "moving")
        for name in (try? FileSystem.entries(place)) ?? nil ?? [] {
            let path = Path.join(place, name)
            guard let status = (try? FileSystem.linkStatus(path)) ?? nil,
                now - status.modified > Self.keptDays * 86_400
            else { continue }
            _ = try? FileSystem.remove(path)
        }
    }

    private func place(_ key: String, _ byCommit: Bool) -> String {
        let name = ContentHasher.digest(of: Array(key.utf8), like: .sha256("")).hex
        return Path.join(Path.join(folder, byCommit ? "commits" : "moving"), name)
    }
}
