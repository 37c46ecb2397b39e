package import Catalog
import HubCore
import ModelFormats

/// Reads README summaries: from the catalog, else from the cache, else from the Hub.
package struct CardReader: Sendable {
    private let catalog: Catalog?
    private let client: HubClient?

    /// - Parameter client: nil if offline.
    package init(catalog: Catalog?, client: HubClient?) {
        self.catalog = catalog
        self.client = client
    }

    /// The README summary of a plan's commit, with at most one request; nil if there is none or it is unknown. Stored
    /// permanently, because a commit's files cannot change.
    package func summary(_ plan: PullPlan) async throws -> String? {
        guard let file = plan.tree.files.first(where: { $0.path == "README.md" }), file.size > 0 else { return nil }
        let (catalog, repository, commit) = (catalog, plan.repository, plan.commit)
        if let known = try await Blocking.run({ try catalog?.card(of: repository, at: commit) }) {
            return known.isEmpty ? nil : known
        }
        guard let bytes = try await beginning(of: file, plan) else { return nil }
        return try await Blocking.run { [client] in
            if bytes.count == file.size {
                let found = ContentHasher.digest(of: bytes, like: file.digest)
                guard found == file.digest else {
                    throw AIError(
                        .digestMismatch,
                        "\(file.path) of \(repository) has the digest \(found) instead of \(file.digest)",
                        context: .init(repository: repository.description, path: file.path))
                }
            }
            // A server may quote the token.
            let summary = CardSummary.text(of: bytes).map { client?.masked($0) ?? $0 }
            try catalog?.remember(card: summary ?? "", of: repository, at: commit, now: Timestamp.now)
            return summary
        }
    }

    /// The whole README of a plan's commit, or its first 256 KiB, with at most one request; nil if there is none or it is
    /// unknown.
    package func text(_ plan: PullPlan) async throws -> String? {
        guard let file = plan.tree.files.first(where: { $0.path == "README.md" }), file.size > 0 else { return nil }
        guard let bytes = try await beginning(of: file, plan, limit: 256 << 10) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return client?.masked(text) ?? text
    }

    private func beginning(of file: RepositoryFile, _ plan: PullPlan, limit: Int = CardSummary.readLimit)
        async throws -> [UInt8]?
    {
        let count = Int(min(file.size, Int64(limit)))
        if let cached = try await Blocking.run({ try plan.cachedBeginning(of: file, count) }) { return cached }
        guard let client else { return nil }
        do {
            return try await client.beginning(
                of: file, count, in: plan.repository, at: plan.commit, isPatient: false)
        } catch let error as AIError { throw error.rewriting(client.masked) }
    }
}
