package import HubCore

/// The lock that Python takes around one blob: flock on `<cache>/.locks/<repository>/<etag>.lock`. It spares work; what
/// keeps the cache right are digests. The file is never deleted.
package struct BlobLock: ~Copyable, Sendable {
    private let descriptor: FileDescriptor

    /// What a try came to.
    package enum Attempt: ~Copyable {
        case taken(BlobLock)
        /// Another process holds it.
        case held
        /// The file system has no flock: go on without.
        case unsupported
    }

    private init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Tries to take a lock without waiting. Opened as `filelock` does: no truncation, no link followed, mode 0664.
    package static func attempt(_ path: String) throws(AIError) -> Attempt {
        try FileSystem.createDirectories(Path.parent(path))
        while true {
            let file = try FileDescriptor(path, [.write, .create, .noFollow, .nonBlocking], mode: 0o664)
            // The group of a shared cache must be able to take it, whatever our umask. Another user's file has its mode
            // from them.
            if try file.status().mode != 0o664 { try? file.setMode(0o664) }
            switch try file.tryLock() {
            case nil: return .unsupported
            case false?: return .held
            case true?:
                // A file that was deleted between opening and locking locks nobody out.
                if try file.status().links > 0 { return .taken(BlobLock(file)) }
            }
        }
    }
}

/// A lock in a list: what cannot be copied goes into none.
private final class HeldLock {
    let etag: String
    private let lock: BlobLock
    init(etag: String, lock: consuming BlobLock) {
        self.etag = etag
        self.lock = lock
    }
}

extension RepositoryFolder {
    /// Calls the closure with those entries of `blobs/` whose locks nobody else holds, the locks held meanwhile; a hundred
    /// at a time, for each lock is an open file.
    func withBlobLocks(_ names: Set<String>, _ body: ([String]) throws(AIError) -> Void) throws(AIError) {
        var waiting = names.sorted()[...]
        while !waiting.isEmpty {
            var locks: [HeldLock] = []
            var free: [String] = []
            for name in waiting.prefix(100) {
                let etag = DeletionPlanner.etag(ofPartial: name)
                // A partial and its map have one lock.
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

    /// The blobs whose lock some process holds now, by name. A lock file that was never made locks nothing.
    func heldLocks() throws(AIError) -> Set<String> {
        var held: Set<String> = []
        for name in try FileSystem.entries(locks) ?? [] where name.hasSuffix(".lock") {
            // Opened for reading only, so that another user's lock in a shared cache can be looked at too.
            guard let file = try? FileDescriptor(Path.join(locks, name), [.noFollow, .nonBlocking]) else {
                continue
            }
            if try file.tryLock(shared: true) == false { held.insert(String(name.dropLast(".lock".count))) }
        }
        return held
    }
}
