import Catalog
import Fetcher
import HubCore
import HubServer

/// Whether a client may see a repository. What is open to all needs no question; of the rest upstream is asked with the
/// client's own token. A grant is remembered for a minute, a refusal never.
final class AccessChecks: Sendable {
    private let upstream: Upstream
    private let answers: Answers
    private let settings: MirrorSettings

    private struct Grant: Hashable {
        var repository: Repository
        var credential: Credential
        /// Whether it covers files, or only what is said about them.
        var coversFiles: Bool
    }

    private struct State {
        /// When a repository was last seen to be open to all.
        var open: [Repository: Double] = [:]
        var granted: [Grant: Double] = [:]
    }

    private let state = Lock(State())
    private static let grantSeconds = 60.0
    private static let mostGrants = 10_000

    init(_ upstream: Upstream, _ answers: Answers, _ settings: MirrorSettings) {
        (self.upstream, self.answers, self.settings) = (upstream, answers, settings)
    }

    /// - Parameter file: a file that is wanted; nil for what is said about the repository.
    /// - Throws: ``HubFault`` with upstream's refusal.
    func admit(_ repository: Repository, _ exchange: Exchange, file: (commit: Commit, path: String)? = nil)
        async throws
    {
        if upstream.isOffline { return }
        let isForward: Bool
        switch settings.authorisation {
        case .own: return
        case .none: isForward = false
        case .forward: isForward = true
        }
        let now = Clock.seconds
        func grant(_ files: Bool) -> Grant {
            Grant(repository: repository, credential: exchange.credential, coversFiles: files)
        }
        let isKnown = state.withLock { state in
            // Without tokens everything here came from what is open, unless the catalog says otherwise.
            if let seen = state.open[repository], !isForward || now - seen < settings.ttl { return true }
            return [grant(file != nil), grant(true)].contains {
                now - (state.granted[$0] ?? -.infinity) < Self.grantSeconds
            }
        }
        if isKnown { return }
        if !isForward, await isOpenInCatalog(repository) {
            return state.withLock { $0.open[repository] = now }
        }
        guard try await !isOpen(repository, exchange, asksAnew: isForward) else {
            return state.withLock { $0.open[repository] = now }
        }
        if let file {
            let target =
                "/\(repository)/resolve/\(file.commit)/\(PercentEncoding.encode(file.path, keeping: "/"))"
            let answer = try await answers.head(target, exchange.credential)
            guard answer.status < 400 else { throw answer.fault }
        }
        state.withLock { state in
            if state.granted.count >= Self.mostGrants {
                state.granted = state.granted.filter { now - $0.value < Self.grantSeconds }
            }
            state.granted[grant(file != nil)] = now
        }
    }

    /// Whether everyone may see the repository and fetch from it. Upstream's refusal is thrown.
    private func isOpen(_ repository: Repository, _ exchange: Exchange, asksAnew: Bool) async throws -> Bool {
        let question = Answers.Question(infoOf: repository, "main")
        if !asksAnew, let kept = answers.known(question), kept.isSuccess, Self.isOpen(kept) { return true }
        let answer = try await answers.answer(question, exchange, isChecked: true)
        if exchange.isStale, !Self.isOpen(answer) {
            throw HubFault(
                status: 504,
                message: "upstream is away, and access to \(repository) cannot be checked")
        }
        return Self.isOpen(answer)
    }

    private static func isOpen(_ answer: Answer) -> Bool {
        guard let json = answer.json, json["id"] != nil else { return false }
        let isGated = json["gated"].map { $0 != .bool(false) && !$0.isNull } ?? false
        return json["private"]?.bool != true && !isGated
    }

    private func isOpenInCatalog(_ repository: Repository) async -> Bool {
        await Blocking.run { [upstream] in
            let known = upstream.workspace.dispensable.use { catalog throws(AIError) in
                try catalog.model(repository)
            }
            guard let record = (known ?? nil)?.record else { return false }
            return record.gating == .open && record.isPrivate == false
        }
    }
}
