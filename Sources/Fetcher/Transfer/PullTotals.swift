import HubCore

/// The combined cost of plans. Shared content is fetched once, because they run in one session.
package struct PullTotals: Sendable, Hashable {
    /// Bytes to fetch.
    package private(set) var downloadBytes: Int64 = 0
    /// Bytes that partials hold already.
    package private(set) var partialBytes: Int64 = 0
    /// Additional bytes needed on disk: a partial has its space already, cached content is linked, and a local folder
    /// needs separate files, as does content of other programs.
    package private(set) var neededBytes: Int64 = 0

    package init(_ plans: [PullPlan]) {
        var fetched = Contents()
        var placed = Contents()
        let hasFolders = plans.contains { !$0.destination.isCache }
        for plan in plans {
            for (file, state) in plan.files {
                // Content named by SHA-256 is counted once, other content once per repository.
                let owner = file.isLFS ? "" : plan.folder.path
                // A local folder needs every file itself.
                let place =
                    switch plan.destination {
                    case .cache: owner
                    case .folder(let folder): folder.place(file.path)
                    }
                switch state {
                case .present, .blob, .foreign: break
                case .elsewhere(let source):
                    let isCopied = !plan.destination.isCache || plan.foreign.contains(source)
                    guard isCopied, source != place else { continue }
                    if placed.insert(file, of: place) { neededBytes = neededBytes.addingClamped(file.size) }
                case .missing(let safe):
                    let isNew = fetched.insert(file, of: owner)
                    if isNew {
                        downloadBytes = downloadBytes.addingClamped(file.size - safe)
                        partialBytes = partialBytes.addingClamped(safe)
                    }
                    // If everything goes to the cache, fetched content is in place.
                    let isPlaced = hasFolders ? placed.insert(file, of: place) : isNew
                    guard isPlaced else { continue }
                    let reserved = min(file.size, plan.reservedBytes[file.path] ?? 0)
                    neededBytes = neededBytes.addingClamped(file.size - reserved)
                }
            }
        }
    }

    /// The counted contents: 16 MB for a million files.
    private struct Contents {
        private var known: [String: Set<ContentKey>] = [:]

        /// Returns whether it was not counted before.
        mutating func insert(_ file: RepositoryFile, of owner: String) -> Bool {
            known[owner, default: []].insert(file.content).inserted
        }
    }
}
