import HubCore

/// A whole cache for oneself: of every repository the lock that pulls share, and the locks of unfinished downloads, which
/// Python takes too. Without locks it excludes nobody.
final class CacheClaim {
    private var repositories: [RepositoryUse.Claim] = []
    private var locks: [HeldLock] = []

    private final class HeldLock {
        private let lock: FileLock
        init(_ lock: consuming FileLock) { self.lock = lock }
    }

    /// - Throws: ``ErrorCode/ioError`` while a program downloads into the cache.
    static func take(_ layout: CacheLayout) throws(AIError) -> CacheClaim {
        Machine.raiseOpenFileLimit(to: .max)
        let claim = CacheClaim()
        for folder in try folders(layout) {
            guard let use = try RepositoryUse.claim(folder) else { throw inUse(folder) }
            claim.repositories.append(use)
            let names = try FileSystem.entries(folder.blobs) ?? []
            var own: Set<String> = []
            for etag in Set(names.filter { $0.hasSuffix(".incomplete") }.map(RepositoryFolder.etag(ofPartial:))) {
                let attempt = try FileLock.attempt(folder.lock(etag))
                switch consume attempt {
                case .held: throw inUse(folder)
                case .unsupported: break
                case .taken(let lock):
                    claim.locks.append(HeldLock(lock))
                    own.insert(etag)
                }
            }
            // Python is about to write what it has locked.
            guard try folder.heldLocks().subtracting(own).isEmpty else { throw inUse(folder) }
        }
        return claim
    }

    /// Looks whether a program downloads into the cache now.
    static func check(_ layout: CacheLayout) throws(AIError) {
        for folder in try folders(layout) {
            guard try RepositoryUse.claim(folder) != nil, try folder.heldLocks().isEmpty else {
                throw inUse(folder)
            }
        }
    }

    private static func folders(_ layout: CacheLayout) throws(AIError) -> [RepositoryFolder] {
        (try FileSystem.entries(layout.root) ?? []).filter { Repository(folderName: $0) != nil }.map {
            RepositoryFolder(cache: layout, name: $0)
        }
    }

    private static func inUse(_ folder: RepositoryFolder) -> AIError {
        let name = Repository(folderName: folder.name)?.description ?? folder.name
        return AIError(
            .ioError, "\(name) is being downloaded", advice: "run the same command again when that has finished",
            context: .init(path: folder.path))
    }
}
