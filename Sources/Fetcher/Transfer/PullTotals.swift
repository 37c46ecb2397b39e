import HubCore

/// What plans cost together. Content that several of them want is fetched once, for they are carried out in one session.
package struct PullTotals: Sendable, Hashable {
    /// Bytes to fetch.
    package private(set) var downloadBytes: Int64 = 0
    /// Bytes that partials hold already.
    package private(set) var partialBytes: Int64 = 0
    /// Bytes the disk must still find room for: a partial has its space already, what the cache holds is linked, and what
    /// goes to a folder of one's own is a file of its own.
    package private(set) var neededBytes: Int64 = 0

    package init(_ plans: [PullPlan]) {
        var fetched = Contents()
        var placed = Contents()
        let hasFolders = plans.contains { $0.local != nil }
        for plan in plans {
            for (file, state) in plan.files {
                // Counted once: content wherever it is named by SHA-256, else within its repository.
                let owner = file.isLFS ? "" : plan.folder.path
                switch state {
                case .present, .blob, .foreign: break
                case .elsewhere(let source):
                    guard let place = plan.local?.place(file.path), source != place else { continue }
                    if placed.insert(file, of: place) { neededBytes = neededBytes.addingClamped(file.size) }
                case .missing(let safe):
                    let isNew = fetched.insert(file, of: owner)
                    if isNew {
                        downloadBytes = downloadBytes.addingClamped(file.size - safe)
                        partialBytes = partialBytes.addingClamped(safe)
                    }
                    // Where everything goes to the cache, what is fetched is placed.
                    let isPlaced =
                        hasFolders ? placed.insert(file, of: plan.local?.place(file.path) ?? owner) : isNew
                    guard isPlaced else { continue }
                    let reserved = min(file.size, plan.reservedBytes[file.path] ?? 0)
                    neededBytes = neededBytes.addingClamped(file.size - reserved)
                }
            }
        }
    }

    /// Contents that were counted, by what they are counted within: of a million files these are 16 MB.
    private struct Contents {
        private var known: [String: Set<ContentKey>] = [:]

        /// Whether it was not counted before.
        mutating func insert(_ file: RepositoryFile, of owner: String) -> Bool {
            known[owner, default: []].insert(file.content).inserted
        }
    }
}
