import HubCore
import HubServer

/// Upstream's answers, kept or fresh. Of concurrent requests for one answer only the first asks upstream.
final class Answers: Sendable {
    private let upstream: Upstream
    private let store: AnswerStore
    private let ttl: Double
    private let forgetsRefused: Bool
    private let running = Lock<[String: Task<Answer, any Error>]>([:])

    init(_ upstream: Upstream, _ settings: MirrorSettings, report: @escaping @Sendable (AIError) -> Void) {
        self.upstream = upstream
        ttl = settings.ttl
        store = AnswerStore(
            Path.join(
                settings.answers,
                ContentHasher.digest(of: Array(upstream.endpoint.address.utf8), like: .sha256("")).hex),
            report: report)
        if case .forward = settings.authorisation { forgetsRefused = false } else { forgetsRefused = true }
        store.prune()
    }

    /// What is asked.
    struct Question: Sendable {
        /// Path and query.
        var target: String
        var body: (type: String, bytes: [UInt8])?
        /// Whether a commit addresses it, so that it never changes.
        var byCommit = false

        init(target: String) { self.target = target }

        /// What upstream says about a repository at a revision: its commit, among others.
        init(infoOf repository: Repository, _ revision: String, query: String = "") {
            target =
                "/api/\(repository.kind.plural)/\(repository.id)/revision/\(PercentEncoding.encode(revision))"
                + (query.isEmpty ? "" : "?" + query)
        }

        var key: String {
            guard let body else { return "GET \(target)" }
            return "POST \(target)\n\(body.type)\n\(ContentHasher.digest(of: body.bytes, like: .sha256("")).hex)"
        }
    }

    /// The kept answer, however old.
    func known(_ question: Question) -> Answer? { store.find(question.key, byCommit: question.byCommit) }

    /// Answers a question.
    ///
    /// - Parameter isChecked: asks upstream even if the kept answer is fresh.
    /// - Throws: ``HubFault`` for a refusal or an error of upstream; ``AIError`` if it is away and nothing is known.
    func answer(_ question: Question, _ exchange: Exchange, isChecked: Bool = false) async throws -> Answer {
        let kept = known(question)
        if let kept, !isChecked, question.byCommit || Timestamp.now - kept.at < ttl || upstream.isOffline {
            return try kept.orFault()
        }
        let answer: Answer
        do { answer = try await fresh(question, exchange.credential) } catch {
            guard let kept else { throw error }
            exchange.markStale()
            return try kept.orFault()
        }
        if answer.status >= 500 || answer.status == 429, let kept {
            exchange.markStale()
            return try kept.orFault()
        }
        if answer.isLasting {
            // A file that is missing at a commit stays missing; anything else that is missing may come.
            store.keep(answer, for: question.key, byCommit: question.byCommit && answer.isSuccess)
        } else if answer.isRefusal, forgetsRefused {
            store.remove(question.key)
        }
        return try answer.orFault()
    }

    /// Asks upstream and keeps nothing.
    func fresh(_ question: Question, _ credential: Credential) async throws -> Answer {
        let key = "\(credential.digest) \(question.key)"
        let task = running.withLock { running in
            if let task = running[key] { return task }
            let task = Task { [self] in
                defer { self.running.withLock { $0[key] = nil } }
                return try await upstream.ask(question.target, credential, body: question.body)
            }
            running[key] = task
            return task
        }
        return try await task.value
    }

    /// A small content that a manifest names, by its SHA-256.
    func text(_ digest: String, of repository: Repository) -> [UInt8]? {
        store.find(Self.textKey(digest, repository), byCommit: true)?.body
    }

    func keepText(_ bytes: [UInt8], _ digest: String, of repository: Repository) {
        store.keep(Answer(bytes), for: Self.textKey(digest, repository), byCommit: true)
    }

    private static func textKey(_ digest: String, _ repository: Repository) -> String {
        "BLOB \(repository) \(digest)"
    }

    /// Whether a client may have a file: upstream is asked for its head.
    func head(_ target: String, _ credential: Credential) async throws -> Answer {
        try await upstream.ask(target, credential, isHead: true)
    }
}

extension Answer {
    fileprivate func orFault() throws -> Answer {
        guard isSuccess else { throw fault }
        return self
    }
}
