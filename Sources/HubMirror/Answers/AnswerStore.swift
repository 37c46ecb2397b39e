import HubCore
import Synchronization

/// Upstream's answers on disk: what a commit addresses for ever, the rest until it is replaced or not renewed for a month.
/// Above a limit the oldest go, for clients may ask without end.
final class AnswerStore: Sendable {
    private let folder: String
    private let report: @Sendable (AIError) -> Void

    private let kept = Atomic(0)

    private static let keptDays = 30.0
    private static let mostBytes: Int64 = 1 << 30
    /// Answers that are kept between two looks at the limits.
    private static let keptBetweenLooks = 500
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
        } catch { return report(error) }
        if kept.add(1, ordering: .relaxed).newValue % Self.keptBetweenLooks == 0 { prune() }
    }

    func remove(_ key: String) { _ = try? FileSystem.remove(place(key, false)) }

    /// Deletes answers about what moves that were not renewed for a month, and of all the oldest above the limit.
    func prune(now: Double = Timestamp.now) {
        var files: [(path: String, status: FileStatus)] = []
        for name in ["moving", "commits"] {
            let place = Path.join(folder, name)
            for entry in (try? FileSystem.entries(place)) ?? nil ?? [] {
                let path = Path.join(place, entry)
                guard let status = (try? FileSystem.linkStatus(path)) ?? nil else { continue }
                if name == "moving", now - status.modified > Self.keptDays * 86_400 {
                    _ = try? FileSystem.remove(path)
                } else {
                    files.append((path, status))
                }
            }
        }
        var excess = files.reduce(-Self.mostBytes) { $0 + $1.status.size }
        guard excess > 0 else { return }
        // A quarter more, so that the next look finds room.
        excess += Self.mostBytes / 4
        for file in files.sorted(by: { $0.status.modified < $1.status.modified }) where excess > 0 {
            excess -= file.status.size
            _ = try? FileSystem.remove(file.path)
        }
    }

    private func place(_ key: String, _ byCommit: Bool) -> String {
        let name = ContentHasher.digest(of: Array(key.utf8), like: .sha256("")).hex
        return Path.join(Path.join(folder, byCommit ? "commits" : "moving"), name)
    }
}
