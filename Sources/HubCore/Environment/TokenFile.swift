/// The token file shared by all Hugging Face programs of this user: only the token, readable only by its owner.
/// `stored_tokens` beside it, the collection that Python's `hf auth switch` chooses from, is never touched.
package struct TokenFile: Sendable, Hashable {
    /// The environment's path; links are not resolved yet.
    package let path: String

    package init(_ path: String) { self.path = path }

    /// Python's collection of tokens.
    package var collection: String { Path.join(Path.parent(path), "stored_tokens") }

    /// Replaces the token atomically. Other users can never read it, regardless of the umask.
    package func save(_ token: AccessToken) throws(AIError) {
        do throws(AIError) {
            let place = try place()
            let folder = Path.parent(place)
            // An existing folder may be shared on purpose, because it contains the cache; the file's mode protects the
            // token.
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

    /// The result of ``remove()``.
    package enum Removal: Sendable, Hashable {
        case nothing
        case file
        /// A link was removed; its target keeps the token.
        case link(to: String)
    }

    /// Removes the token.
    package func remove() throws(AIError) -> Removal {
        guard let entry = try FileSystem.linkStatus(path) else { return .nothing }
        let target = entry.kind == .symlink ? FileSystem.resolved(path) : nil
        if entry.kind != .symlink { _ = try place() }
        guard try FileSystem.remove(path) else { return .nothing }
        return target.map { .link(to: $0) } ?? .file
    }

    /// A warning if others than the owner may read or write the file; else nil.
    package func exposure() throws(AIError) -> String? {
        guard let status = try FileSystem.status(path), status.kind == .file, status.mode & 0o077 != 0 else {
            return nil
        }
        let quoted = "'" + path.replacing("'", with: "'\\''") + "'"
        return "the token file is open to others (mode \(String(status.mode, radix: 8))): chmod 600 \(quoted)"
    }

    /// The file to write, following a link as Python does. `HF_TOKEN_PATH` can be anything, and for root `/dev/null`
    /// must not become a file.
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
