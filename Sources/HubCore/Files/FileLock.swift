/// A lock that Python's clients take too: flock on a file of its own, which is never deleted. Around one blob it is
/// `<cache>/.locks/<repository>/<etag>.lock`, where it avoids double work; correctness relies on digests.
package struct FileLock: ~Copyable, Sendable {
    private let descriptor: FileDescriptor

    /// The result of an attempt.
    package enum Attempt: ~Copyable {
        case taken(FileLock)
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
                if try file.status().links > 0 { return .taken(FileLock(file)) }
            }
        }
    }
}
