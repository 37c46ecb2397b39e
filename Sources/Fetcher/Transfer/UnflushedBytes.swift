/// What a kill would lose: received bytes that are not on stable storage, of all sessions that share this. They have one limit
/// together, and whatever one session flushes lets the others go on.
///
/// Used on the engine's thread, which the sessions that share it have in common.
package final class UnflushedBytes: @unchecked Sendable {
    /// The running ones.
    private var sessions: [PullSession] = []

    package init() {}

    func add(_ session: PullSession) { sessions.append(session) }

    func remove(_ session: PullSession) {
        sessions.removeAll { $0 === session }
        resumeHeld()
        pump()
    }

    var count: Int64 { sessions.reduce(0) { $0 + $1.unflushed } }

    /// Whether received bytes must wait until fewer than `limit` are unflushed.
    func mustWait(_ limit: Int64) -> Bool { count >= limit && (isDraining || startFlush()) }

    /// Whether running work will reduce the unflushed bytes.
    private var isDraining: Bool { sessions.contains(where: \.isDraining) }

    /// Starts flushing the file with the most unflushed bytes; false if there is none.
    private func startFlush() -> Bool {
        let dirty = sessions.compactMap { session in session.mostUnflushed.map { (session, file: $0) } }
        guard let (session, file) = dirty.max(by: { $0.file.unflushed < $1.file.unflushed }) else { return false }
        session.flush(file)
        return true
    }

    /// Resumes held transfers one by one, because each may use up the budget: small files first, so that files
    /// complete, then the longest waiting.
    func resumeHeld() {
        let held = sessions.flatMap { session in session.held.map { (session, part: $0.part, rank: $0.rank) } }
        for (session, part, _) in held.sorted(by: { $0.rank < $1.rank }) where part.isPaused {
            // A session may also wait for its own rate.
            guard !session.mustHold(isNext: true) else { continue }
            session.resume(part)
        }
    }

    /// Lets every session start what the limit kept it from.
    func pump() { for session in sessions { session.pump() } }
}
