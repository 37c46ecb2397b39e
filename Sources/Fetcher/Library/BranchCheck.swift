package import HubCore

/// One cached branch: a ref with a snapshot.
package struct CachedBranch: Sendable, Hashable {
    package var repository: Repository
    /// The name below `refs/`: `main`, `refs/pr/1`.
    package var name: String
    /// Its revision.
    package var revision: CachedRevision

    /// As it is typed: `org/name`, `org/name@dev`.
    package var reference: ModelReference { ModelReference(repository, revision: name == "main" ? nil : name) }
}

extension CachedRepository {
    /// The branches and tags with snapshots, by name.
    package var branches: [CachedBranch] {
        revisions.flatMap { revision in
            revision.refs.map { CachedBranch(repository: repository, name: $0, revision: revision) }
        }.sorted { $0.name < $1.name }
    }
}

/// The Hub's answer about a cached branch.
package struct BranchAnswer: Sendable {
    package var branch: CachedBranch
    /// The repository's metadata at the branch; nil on failure.
    package var info: RepositoryInfo?
    /// The plan of pulling the branch, if it has moved.
    package var plan: PullPlan?
    /// Why there is no plan though it has moved: the Hub no longer has the files that earlier pulls chose.
    package var choiceFault: AIError?
    package var error: AIError?

    /// Whether the branch has another commit now.
    package var hasMoved: Bool { info.map { $0.commit != branch.revision.commit } ?? false }

    /// Whether the Hub answered that the branch can no longer be fetched.
    package var isGone: Bool {
        let codes: [ErrorCode] = [.repositoryNotFound, .revisionNotFound, .gated, .disabled]
        return error.map { codes.contains($0.code) } ?? false
    }
}

/// Compares cached branches with the Hub: one request each, and the tree of those that have moved.
package struct BranchCheck: Sendable {
    private let puller: Puller
    /// Number of concurrent requests.
    private static let width = 8

    package init(_ puller: Puller) { self.puller = puller }

    /// The Hub's answer for each branch, in order. Once the Hub is unreachable, the remaining branches get that error
    /// without a request.
    ///
    /// - Throws: only if the task was cancelled.
    package func answers(_ branches: [CachedBranch]) async throws -> [BranchAnswer] {
        var answers: [Int: BranchAnswer] = [:]
        try await withThrowingTaskGroup(of: (Int, BranchAnswer).self) { group in
            var away: AIError?
            func take(_ index: Int, _ answer: BranchAnswer) {
                answers[index] = answer
                if let error = answer.error, [.unreachable, .timedOut].contains(error.code) {
                    away = away ?? error
                }
            }
            for (index, branch) in branches.enumerated() {
                if index >= Self.width, let (done, answer) = try await group.next() { take(done, answer) }
                if let away {
                    answers[index] = BranchAnswer(branch: branch, error: away)
                } else {
                    group.addTask { (index, try await answer(branch)) }
                }
            }
            for try await (done, answer) in group { take(done, answer) }
        }
        return branches.indices.compactMap { answers[$0] }
    }

    private func answer(_ branch: CachedBranch) async throws -> BranchAnswer {
        var answer = BranchAnswer(branch: branch)
        do {
            let info = try await puller.info(branch.reference)
            answer.info = info
            guard info.commit != branch.revision.commit else { return answer }
            let tree = try await puller.tree(of: branch.repository, at: info.commit)
            var reference = branch.reference
            reference.revision = branch.name
            var options = Puller.Options()
            options.earlierChoice = .isFollowed
            do {
                answer.plan = try await puller.plan(.init(reference: reference, tree: tree), options)
            } catch let error as AIError where [.nothingMatches, .invalidInput].contains(error.code) {
                answer.choiceFault = error
            }
        } catch {
            let error = AIError.wrapping(error)
            guard error.code != .cancelled else { throw error }
            answer.error = error
        }
        return answer
    }
}
