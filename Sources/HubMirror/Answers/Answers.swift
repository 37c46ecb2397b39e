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
        let expected: Expected

        init(target: String) {
            self.target = target
            expected = .json
        }

        /// What upstream says about a repository at a revision: its commit, among others.
        init(infoOf repository: Repository, _ revision: String, query: String = "") {
            target = Self.infoTarget(repository, revision) + (query.isEmpty ? "" : "?" + query)
            expected = .info(repository, revision)
        }

        /// A small content.
        init(target: String, of digest: ContentDigest) {
            self.target = target
            expected = .content(digest)
        }

        fileprivate static func infoTarget(_ repository: Repository, _ revision: String) -> String {
            "/api/\(repository.kind.plural)/\(repository.id)/revision/\(PercentEncoding.encode(revision))"
        }

        var key: String {
            guard let body else { return "GET \(target)" }
            return "POST \(target)\n\(body.type)\n\(ContentHasher.digest(of: body.bytes, like: .sha256("")).hex)"
        }
    }

    /// What a success has to be. Anything else is not the Hub's answer, such as a proxy's page.
    enum Expected: Sendable {
        case json
        case info(Repository, String)
        case content(ContentDigest)
    }

    /// The kept answer, however old.
    func known(_ question: Question) -> Answer? { store.find(question.key, byCommit: question.byCommit) }

    /// Answers a question.
    ///
    /// - Parameters:
    ///   - isChecked: asks upstream even if the kept answer is fresh.
    ///   - mayBeOld: whether a kept answer will do while upstream has none.
    /// - Throws: ``HubFault`` for a refusal or an error of upstream; ``AIError`` if it is away and nothing is known.
    func answer(
        _ question: Question, _ exchange: Exchange, isChecked: Bool = false,
        mayBeOld: (Answer) -> Bool = { _ in true }
    ) async throws -> Answer {
        let kept = known(question)
        if let kept, !isChecked, question.byCommit || Timestamp.now - kept.at < ttl || upstream.isOffline {
            return try kept.orFault()
        }
        let answer: Answer
        do { answer = try await fresh(question, exchange.credential) } catch {
            guard let kept, mayBeOld(kept) else { throw error }
            exchange.markStale()
            return try kept.orFault()
        }
        if answer.status >= 500 || answer.status == 429, let kept, mayBeOld(kept) {
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
    ///
    /// - Throws: ``HubFault`` (502) for a success that is not what was asked for.
    func fresh(_ question: Question, _ credential: Credential) async throws -> Answer {
        let key = "\(credential.digest) \(question.key)"
        let task = running.withLock { running in
            if let task = running[key] { return task }
            let task = Task { [self] in
                defer { self.running.withLock { $0[key] = nil } }
                let answer = try await upstream.ask(question.target, credential, body: question.body)
                if answer.isSuccess { try confirm(answer, question) }
                return answer
            }
            running[key] = task
            return task
        }
        return try await task.value
    }

    private func confirm(_ answer: Answer, _ question: Question) throws {
        func fault(_ what: String) -> HubFault {
            HubFault(status: 502, message: "upstream's answer to \(question.target.printable) is not \(what)")
        }
        switch question.expected {
        case .json: guard answer.json != nil else { throw fault("JSON that can be read") }
        case .content(let digest):
            guard ContentHasher.digest(of: answer.body, like: digest) == digest else {
                throw fault("the content of its digest")
            }
        case .info(let repository, let revision):
            guard isInfo(answer, repository, revision) else { throw fault("about \(repository)") }
        }
    }

    /// Whether an answer is about a repository: it has the repository's id, or a redirect led from a former name to the
    /// address of the id that it has.
    private func isInfo(_ answer: Answer, _ repository: Repository, _ revision: String) -> Bool {
        guard let id = answer.json?["id"]?.string else { return false }
        if id.lowercased() == repository.id.name.lowercased() { return true }
        guard let name = try? RepositoryID(id) else { return false }
        let target = Question.infoTarget(Repository(repository.kind, name), revision)
        return answer.address.map { String($0.prefix { $0 != "?" }) } == "\(upstream.endpoint.address)\(target)"
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
}

extension Answer {
    fileprivate func orFault() throws -> Answer {
        guard isSuccess else { throw fault }
        return self
    }
}
