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
        var fetched: Set<Key> = []
        var placed: Set<Key> = []
        for plan in plans {
            for (file, state) in plan.files {
                let content = Key(content: file.content, owner: file.isLFS ? "" : plan.folder.path)
                let place = plan.local.map { Key(content: file.content, owner: $0.place(file.path)) } ?? content
                switch state {
                case .present, .blob, .foreign: break
                case .elsewhere(let source):
                    guard let local = plan.local, source != local.place(file.path) else { continue }
                    if placed.insert(place).inserted { neededBytes = neededBytes.addingClamped(file.size) }
                case .missing(let safe):
                    if fetched.insert(content).inserted {
                        downloadBytes = downloadBytes.addingClamped(file.size - safe)
                        partialBytes = partialBytes.addingClamped(safe)
                    }
                    guard placed.insert(place).inserted else { continue }
                    let reserved = min(file.size, plan.reservedBytes[file.path] ?? 0)
                    neededBytes = neededBytes.addingClamped(file.size - reserved)
                }
            }
        }
    }

    /// What is counted once: content wherever it is named by SHA-256, else within its repository; or a file of its own.
    private struct Key: Hashable {
        let content: ContentKey
        let owner: String
    }
}
