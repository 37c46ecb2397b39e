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
    func admit(_ repository: Repository, _ exchange: Exchange, file: (commit: Commit, file: RepositoryFile)? = nil)
        async throws
    {
        guard isChecked, !upstream.isOffline else { return }
        let now = Clock.seconds
        if isKnownOpen(repository, now) || isGranted(repository, exchange.credential, files: file != nil, now) {
            return
        }
        if !isForward, await isOpenInCatalog(repository) {
            return state.withLock { $0.open[repository] = now }
        }
        guard try await !isOpen(repository, exchange) else {
            return state.withLock { $0.open[repository] = now }
        }
        if let file { try await upstream.grant(file.file, of: repository, at: file.commit, exchange.credential) }
        state.withLock { state in
            if state.granted.count >= Self.mostGrants {
                state.granted = state.granted.filter { now - $0.value < Self.grantSeconds }
            }
            let grant = Grant(
                repository: repository, credential: exchange.credential, coversFiles: file != nil)
            state.granted[grant] = now
        }
    }

    /// Where a fetch for a client may take a content from: repositories that are open to all. A list may name the digest of a
    /// content that only others may have, so a digest alone gives nobody what is here.
    func reuse(_ file: RepositoryFile, for repository: Repository, _ credential: Credential) async throws
        -> PullPlan.Reuse
    {
        guard isChecked else { return .everywhere }
        guard file.isLFS else { return .only([]) }
        let layout = upstream.workspace.layout
        let others = try await Blocking.run {
            try (FileSystem.entries(layout.root) ?? []).compactMap { name in
                guard let other = Repository(folderName: name), other != repository,
                    try SnapshotFile.hasBlob(file, in: RepositoryFolder(cache: layout, name: name))
                else { return nil as (name: String, repository: Repository)? }
                return (name, other)
            }
        }
        for other in others where await isOpen(other.repository, credential) { return .only([other.name]) }
        return .only([])
    }

    private func isOpen(_ repository: Repository, _ credential: Credential) async -> Bool {
        if isKnownOpen(repository, Clock.seconds) { return true }
        if !isForward, await isOpenInCatalog(repository) { return true }
        guard let answer = try? await answers.fresh(.init(infoOf: repository, "main"), credential) else {
            return false
        }
        return answer.isSuccess && Self.isOpen(answer)
    }

    /// Whether access depends on the client.
    private var isChecked: Bool { if case .own = settings.authorisation { false } else { true } }
    private var isForward: Bool { if case .forward = settings.authorisation { true } else { false } }

    private func isKnownOpen(_ repository: Repository, _ now: Double) -> Bool {
        // Without tokens everything here came from what is open, unless the catalog says otherwise.
        state.withLock { $0.open[repository].map { [isForward] in !isForward || now - $0 < settings.ttl } ?? false }
    }

    private func isGranted(_ repository: Repository, _ credential: Credential, files: Bool, _ now: Double) -> Bool {
        state.withLock { state in
            [files, true].contains {
                let grant = Grant(repository: repository, credential: credential, coversFiles: $0)
                return now - (state.granted[grant] ?? -.infinity) < Self.grantSeconds
            }
        }
    }

    /// Whether everyone may see the repository and fetch from it. Upstream's refusal is thrown. While upstream is away, what
    /// it said before counts only if the repository was open.
    private func isOpen(_ repository: Repository, _ exchange: Exchange) async throws -> Bool {
        let question = Answers.Question(infoOf: repository, "main")
        if !isForward, let kept = answers.known(question), kept.isSuccess, Self.isOpen(kept) { return true }
        return Self.isOpen(try await answers.answer(question, exchange, isChecked: true, mayBeOld: Self.isOpen))
    }

    private static func isOpen(_ answer: Answer) -> Bool {
        guard let json = answer.json, json["id"]?.string != nil, json["private"]?.bool == false else {
            return false
        }
        return json["gated"].map { $0 == .bool(false) } ?? true
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
