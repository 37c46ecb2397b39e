package import HubCore

/// The lock that Python takes around one blob: flock on `<cache>/.locks/<repository>/<etag>.lock`. It avoids double
/// work; correctness relies on digests. The file is never deleted.
package struct BlobLock: ~Copyable, Sendable {
    private let descriptor: FileDescriptor

    /// The result of an attempt.
    package enum Attempt: ~Copyable {
        case taken(BlobLock)
        /// Another process holds it.
        case held
        /// The file system has no flock: continue without.
        case unsupported
    }

    private init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Tries to take a lock without waiting. Opened as `filelock` does: no truncation, no link followed, mode 0664.
    package static func attempt(_ path: String) throws(AIError) -> Attempt {
        try FileSystem.createDirectories(Path.parent(path))
        while true {
            let file = try FileDescriptor(path, [.write, .create, .noFollow, .nonBlocking], mode: 0o664)
            // The group of a shared cache must be able to take it, whatever our umask. Another user's file keeps its
            // mode.
            if try file.status().mode != 0o664 { try? file.setMode(0o664) }
            switch try file.tryLock() {
            case nil: return .unsupported
            case false?: return .held
            case true?:
                // A file deleted between opening and locking excludes nobody.
                if try file.status().links > 0 { return .taken(BlobLock(file)) }
            }
        }
    }
}

/// A class, so that a noncopyable lock can be in a list.
private final class HeldLock {
    let etag: String
    private let lock: BlobLock
    init(etag: String, lock: consuming BlobLock) {
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
                let attempt = try BlobLock.attempt(lock(etag))
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
