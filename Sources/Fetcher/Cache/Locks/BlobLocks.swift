import HubCore

/// A class, so that a noncopyable lock can be in a list.
private final class HeldLock {
    let etag: String
    private let lock: FileLock
    init(etag: String, lock: consuming FileLock) {
        self.etag = etag
        self.lock = lock
    }
}

extension RepositoryFolder {
    /// Calls the closure with the entries of `blobs/` that are not locked elsewhere, while holding their locks; a
    /// hundred at a time, because each lock is an open file.
    func withBlobLocks(_ names: Set<String>, _ body: ([String]) throws(AIError) -> Void) throws(AIError) {
        var waiting = names.sorted()[...]
        while !waiting.isEmpty {
            var locks: [HeldLock] = []
            var free: [String] = []
            for name in waiting.prefix(100) {
                let etag = RepositoryFolder.etag(ofPartial: name)
                // A partial and its map share one lock.
                if locks.contains(where: { $0.etag == etag }) {
                    free.append(name)
                    continue
                }
                let attempt = try FileLock.attempt(lock(etag))
                switch consume attempt {
                case .held: continue
                case .unsupported: break
                case .taken(let lock): locks.append(HeldLock(etag: etag, lock: lock))
                }
                free.append(name)
            }
            waiting = waiting.dropFirst(100)
            try body(free)
            withExtendedLifetime(locks) {}
        }
    }

    /// The names of the blobs locked by some process now.
    func heldLocks() throws(AIError) -> Set<String> {
        var held: Set<String> = []
        for name in try FileSystem.entries(locks) ?? [] where name.hasSuffix(".lock") {
            // Opened for reading only, to also check another user's lock in a shared cache.
            guard let file = try? FileDescriptor(Path.join(locks, name), [.noFollow, .nonBlocking]) else {
                continue
            }
            if try file.tryLock(shared: true) == false { held.insert(String(name.dropLast(".lock".count))) }
        }
        return held
    }
}
