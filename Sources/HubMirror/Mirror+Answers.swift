import Fetcher
import HubCore
import HubServer

/// The answers that are upstream's own, kept.
extension Mirror {
    /// The commit of a revision.
    func commit(of repository: Repository, _ revision: String, _ exchange: Exchange) async throws -> Commit {
        if let commit = Commit(revision) { return commit }
        let question = Answers.Question(infoOf: repository, revision)
        do {
            let answer = try await answers.answer(question, exchange)
            guard let commit = answer.json?["sha"]?.string.flatMap(Commit.init) else {
                throw HubFault(status: 502, message: "upstream names no commit of \(repository) at \(revision)")
            }
            names.note(revision, commit, of: repository)
            return commit
        } catch let error as AIError {
            // The cache may know the branch from a pull.
            let folder = upstream.workspace.layout.repository(repository)
            guard let commit = try await Blocking.run({ try folder.commit(ofRef: revision) }) else { throw error }
            if !upstream.isOffline { exchange.markStale() }
            return commit
        }
    }

    func info(_ repository: Repository, _ revision: String, _ exchange: Exchange) async throws -> ServedResponse {
        try await access.admit(repository, exchange)
        var question = Answers.Question(infoOf: repository, revision, query: exchange.request.rawQuery)
        question.byCommit = Commit(revision) != nil
        do {
            let answer = try await answers.answer(question, exchange)
            if !question.byCommit, let commit = answer.json?["sha"]?.string.flatMap(Commit.init) {
                names.note(revision, commit, of: repository)
            }
            return renamed(repository, revision, answer, exchange) ?? pass(answer, exchange)
        } catch let error as AIError {
            // Enough for a client to go on with what is in the cache.
            guard let commit = try? await commit(of: repository, revision, exchange),
                let known = try? await trees.tree(of: repository, at: commit, exchange)
            else { throw error }
            return .json(.object(card(of: repository, known)))
        }
    }

    /// A redirect to the name that a repository has now, as the Hub answers: another mirror behind this one takes no other
    /// name for an answer.
    private func renamed(_ repository: Repository, _ revision: String, _ answer: Answer, _ exchange: Exchange)
        -> ServedResponse?
    {
        guard let id = answer.json?["id"]?.string, id.lowercased() != repository.id.name.lowercased(),
            let name = try? RepositoryID(id)
        else { return nil }
        var place = Answers.Question(infoOf: Repository(repository.kind, name), revision).target
        if !exchange.request.rawQuery.isEmpty { place += "?" + exchange.request.rawQuery }
        return ServedResponse(307, headers: ["Location": place])
    }

    /// What the cache can say about a repository.
    private func card(of repository: Repository, _ known: KnownTree) -> JSONObject {
        let id = repository.id.name
        return [
            "_id": .string(String(known.tree.commit.hash.prefix(24))), "id": .string(id), "modelId": .string(id),
            "sha": .string(known.tree.commit.hash), "private": false, "gated": false, "disabled": false,
            "tags": .array([]), "downloads": 0, "likes": 0,
            "siblings": .array(known.tree.files.map { .object(["rfilename": .string($0.path)]) }),
        ]
    }

    func refs(_ repository: Repository, _ exchange: Exchange) async throws -> ServedResponse {
        try await access.admit(repository, exchange)
        let question = Answers.Question(target: exchange.target)
        do { return try await pass(answers.answer(question, exchange), exchange) } catch let error as AIError {
            let folder = upstream.workspace.layout.repository(repository)
            let names = try await Blocking.run { try FileSystem.entries(folder.refs) ?? [] }
            var branches: [JSON] = []
            for name in names.sorted() {
                guard let commit = try folder.commit(ofRef: name) else { continue }
                branches.append(
                    .object([
                        "name": .string(name), "ref": .string("refs/heads/\(name)"),
                        "targetCommit": .string(commit.hash),
                    ]))
            }
            guard !branches.isEmpty else { throw error }
            if !upstream.isOffline { exchange.markStale() }
            return .json(.object(["branches": .array(branches), "converts": .array([]), "tags": .array([])]))
        }
    }

    /// A tree or paths with their last commits, which only upstream knows.
    func expanded(
        _ action: String, _ repository: Repository, _ revision: String, _ rest: String, _ exchange: Exchange
    ) async throws -> ServedResponse {
        try await access.admit(repository, exchange)
        let commit = try await commit(of: repository, revision, exchange)
        let query = exchange.request.rawQuery
        var question = Answers.Question(
            target: "/api/\(repository.kind.plural)/\(repository.id)/\(action)/\(commit)\(rest)"
                + (query.isEmpty ? "" : "?" + query))
        question.byCommit = true
        if exchange.request.method == "POST" {
            question.body = (
                exchange.request.headers["Content-Type"] ?? "application/x-www-form-urlencoded",
                exchange.request.body
            )
        }
        return try await pass(answers.answer(question, exchange), exchange)
    }

    /// A list of repositories, kept only where it is the same for everyone.
    func list(_ kind: RepositoryKind, _ exchange: Exchange) async throws -> ServedResponse {
        do { return try await other(exchange) } catch let error as AIError {
            guard upstream.isOffline, exchange.request.rawQuery.isEmpty else { throw error }
            let cached = try await Blocking.run { [layout = upstream.workspace.layout] in try layout.heldFolders() }
            let cards = cached.compactMap { Repository(folderName: $0) }.filter { $0.kind == kind }
                .map { $0.id.name }.sorted()
            return .json(
                .array(cards.map { .object(["_id": .string($0), "id": .string($0), "modelId": .string($0)]) }))
        }
    }

    /// Another address of the API.
    func other(_ exchange: Exchange) async throws -> ServedResponse {
        if case .client = exchange.credential { return try await live(exchange) }
        return try await pass(answers.answer(Answers.Question(target: exchange.target), exchange), exchange)
    }

    /// Upstream's answer for this client alone.
    func live(_ exchange: Exchange) async throws -> ServedResponse {
        let answer = try await answers.fresh(Answers.Question(target: exchange.target), exchange.credential)
        guard answer.isSuccess else { throw answer.fault }
        return pass(answer, exchange)
    }

    /// An answer with its addresses rewritten to this server's. A link that leads elsewhere is left out: clients would
    /// send their token there.
    func pass(_ answer: Answer, _ exchange: Exchange) -> ServedResponse {
        var headers = answer.headers
        // A browser must never run what upstream sends as a page of this origin.
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
        if let link = headers["Link"] {
            let base = "<\(upstream.endpoint.address)/"
            let parts = link.split(separator: ",").filter {
                $0.contains("rel=\"next\"") || $0.contains("rel=\"prev\"") || $0.contains("rel=\"first\"")
            }
            let own = parts.compactMap { part -> String? in
                let text = part.drop { $0 == " " }
                if text.hasPrefix(base) { return "<\(exchange.address)/\(text.dropFirst(base.count))" }
                return text.hasPrefix("</") ? "<\(exchange.address)\(text.dropFirst())" : nil
            }
            headers["Link"] = own.isEmpty ? nil : own.joined(separator: ", ")
        }
        return ServedResponse(answer.status, headers: headers, body: .bytes(answer.body))
    }
}
