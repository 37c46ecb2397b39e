/// The file that keeps the token for every Hugging Face program of this user: the token and nothing else, readable by its
/// owner alone. `stored_tokens` beside it, the collection that Python's `hf auth switch` chooses from, is never touched.
package struct TokenFile: Sendable, Hashable {
    /// As the environment names it; a link is not resolved yet.
    package let path: String

    package init(_ path: String) { self.path = path }

    /// Python's collection of tokens.
    package var collection: String { Path.join(Path.parent(path), "stored_tokens") }

    /// Keeps a token in place of the one before. Nobody else can read it at any moment, whatever the umask, and who reads
    /// meanwhile gets the old token or the new one, whole.
    package func save(_ token: AccessToken) throws(AIError) {
        do throws(AIError) {
            let place = try place()
            let folder = Path.parent(place)
            // One that is there already may be shared on purpose, for the cache lies in it; the file guards itself.
            if try FileSystem.status(folder) == nil {
                try FileSystem.createDirectories(folder, mode: 0o700)
                try FileSystem.setMode(folder, 0o700)
            }
            try FileSystem.replace(
                place, with: Array(token.secret.utf8), mode: 0o600, isModeExact: true, durable: true)
        } catch {
            var told = error
            told.specificAdvice = error.specificAdvice ?? "HF_TOKEN_PATH chooses another file for the token"
            throw told
        }
    }

    /// What ``remove()`` found.
    package enum Removal: Sendable, Hashable {
        case nothing
        case file
        /// A link is gone; the file that it led to is somebody's own arrangement, and keeps the token.
        case link(to: String)
    }

    /// Takes the token away.
    package func remove() throws(AIError) -> Removal {
        guard let entry = try FileSystem.linkStatus(path) else { return .nothing }
        let target = entry.kind == .symlink ? FileSystem.resolved(path) : nil
        if entry.kind != .symlink { _ = try place() }
        guard try FileSystem.remove(path) else { return .nothing }
        return target.map { .link(to: $0) } ?? .file
    }

    /// A sentence for whoever can fix it where others than the owner may read or write the file; nil where all is well.
    package func exposure() throws(AIError) -> String? {
        guard let status = try FileSystem.status(path), status.kind == .file, status.mode & 0o077 != 0 else {
            return nil
        }
        let quoted = "'" + path.replacing("'", with: "'\\''") + "'"
        return "the token file is open to others (mode \(String(status.mode, radix: 8))): chmod 600 \(quoted)"
    }

    /// Where the bytes go: behind a link, as with Python. `HF_TOKEN_PATH` can name anything, and whoever runs as root
    /// must not find that `/dev/null` has become a file.
    private func place() throws(AIError) -> String {
        guard let entry = try FileSystem.linkStatus(path) else { return path }
        guard let place = entry.kind == .symlink ? FileSystem.resolved(path) : path else {
            throw AIError(
                .ioError, "the token file \(path) is a broken link", context: .init(path: path))
        }
        guard try FileSystem.status(place)?.kind == .file else {
            throw AIError(.ioError, "the token file \(path) is not a file", context: .init(path: path))
        }
        return place
    }
}
