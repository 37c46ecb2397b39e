/// The token file shared by all Hugging Face programs of this user: only the token, readable only by its owner.
/// ``StoredTokens`` beside it has the tokens to choose from.
package struct TokenFile: Sendable, Hashable {
    /// The environment's path; links are not resolved yet.
    package let path: String

    package init(_ path: String) { self.path = path }

    /// The file of ``StoredTokens``.
    package var collection: String { Path.join(Path.parent(path), "stored_tokens") }
    /// The lock of Python's client around a change of either file.
    package var lock: String { collection + ".lock" }

    /// The token in the file; nil if there is none.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for characters that no token has.
    package func token() throws(AIError) -> AccessToken? {
        try HFTokenProvider.clean(FileSystem.text(path), from: path)
    }

    /// Replaces the token atomically. Other users can never read it, regardless of the umask.
    package func save(_ token: AccessToken) throws(AIError) {
        do throws(AIError) {
            try Self.replace(place(), with: token.secret)
        } catch {
            throw Self.advised(error)
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

    /// Whether a token can be put there.
    ///
    /// - Throws: ``ErrorCode/ioError`` for what is not a file.
    package func check() throws(AIError) {
        do throws(AIError) { _ = try place() } catch { throw Self.advised(error) }
    }

    private static func advised(_ error: AIError) -> AIError {
        var told = error
        told.specificAdvice = error.specificAdvice ?? "HF_TOKEN_PATH chooses another file for the token"
        return told
    }

    /// The file to write.
    private func place() throws(AIError) -> String { try Self.target(of: path, "token file") }

    /// The file that a path means, following a link as Python does. `HF_TOKEN_PATH` can be anything, and for root
    /// `/dev/null` must not become a file.
    static func target(of path: String, _ what: String) throws(AIError) -> String {
        guard let entry = try FileSystem.linkStatus(path) else { return path }
        guard let place = entry.kind == .symlink ? FileSystem.resolved(path) : path else {
            throw AIError(.ioError, "the \(what) \(path) is a broken link", context: .init(path: path))
        }
        guard try FileSystem.status(place)?.kind == .file else {
            throw AIError(.ioError, "the \(what) \(path) is not a file", context: .init(path: path))
        }
        return place
    }

    /// Makes the folder of a file of secrets. An existing one may be shared on purpose, because it contains the cache; the
    /// file's mode protects the token.
    package static func createFolder(of path: String) throws(AIError) {
        let folder = Path.parent(path)
        guard try FileSystem.status(folder) == nil else { return }
        try FileSystem.createDirectories(folder, mode: 0o700)
        try FileSystem.setMode(folder, 0o700)
    }

    /// Replaces a file of secrets.
    package static func replace(_ path: String, with text: String) throws(AIError) {
        try createFolder(of: path)
        try FileSystem.replace(path, with: Array(text.utf8), mode: 0o600, isModeExact: true, durable: true)
    }
}
