package import Catalog
import HubCore
import ModelFormats

/// What READMEs say first: from the catalog, else from the cache, else from the Hub.
package struct CardReader: Sendable {
    private let catalog: Catalog?
    private let client: HubClient?

    /// - Parameter client: nil where nobody may be asked.
    package init(catalog: Catalog?, client: HubClient?) {
        self.catalog = catalog
        self.client = client
    }

    /// The first paragraph of the README of a plan's commit, in one request at most; nil where it has none or it is not
    /// known. Remembered for ever, for a commit's files cannot change.
    package func summary(_ plan: PullPlan) async throws -> String? {
        guard let file = plan.tree.files.first(where: { $0.path == "README.md" }), file.size > 0 else { return nil }
        let (catalog, repository, commit) = (catalog, plan.repository, plan.commit)
        if let known = try await Offload.run({ try catalog?.card(of: repository, at: commit) }) {
            return known.isEmpty ? nil : known
        }
        guard let bytes = try await beginning(of: file, plan) else { return nil }
        return try await Offload.run { [client] in
            if bytes.count == file.size {
                let found = ContentHasher.digest(of: bytes, like: file.digest)
                guard found == file.digest else {
                    throw AIError(
                        .digestMismatch,
                        "\(file.path) of \(repository) has the digest \(found) instead of \(file.digest)",
                        context: .init(repository: repository.description, path: file.path))
                }
            }
            // A server may have put the token where everybody reads it.
            let summary = CardSummary.text(of: bytes).map { client?.masked($0) ?? $0 }
            try catalog?.remember(card: summary ?? "", of: repository, at: commit, now: Timestamp.now)
            return summary
        }
    }

    private func beginning(of file: RepositoryFile, _ plan: PullPlan) async throws -> [UInt8]? {
        let count = Int(min(file.size, Int64(CardSummary.readLimit)))
        if let cached = try await Offload.run({ try plan.cachedBeginning(of: file, count) }) { return cached }
        guard let client else { return nil }
        do {
            return try await client.beginning(
                of: file, count, in: plan.repository, at: plan.commit, isPatient: false)
        } catch let error as AIError { throw error.rewriting(client.masked) }
    }
}
