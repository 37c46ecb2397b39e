package import HubCore

/// hub's own record of sign-ins: a file of `HUB_HOME` for its owner alone. Where the desktop has a keyring, the tokens are
/// in there, and the file only says which.
///
/// Python's `stored_tokens` has no place for them: its client would renew them with its own id.
package struct SignInStore: Sendable {
    package let path: String
    private let keyring: Keyring?
    private let log: @Sendable (String) -> Void

    /// The lock around everything that changes a sign-in, the question to the Hub included.
    var lock: String { path + ".lock" }

    package init(_ environment: HubEnvironment, log: @escaping @Sendable (String) -> Void = { _ in }) {
        path = Path.join(environment.stateDirectory, "sign-ins.json")
        keyring = Keyring(environment)
        self.log = log
    }

    /// Runs the closure under the lock; not at all if there is nothing to change.
    ///
    /// - Parameter isNew: whether it adds one.
    func changing(isNew: Bool, _ body: () async throws -> Void) async throws {
        guard try isNew || FileSystem.status(path) != nil else { return }
        try await LockWait.with(lock) { try await body() }
    }

    /// All of them; those of the keyring without their secrets.
    ///
    /// - Throws: ``ErrorCode/ioError`` for a damaged file, which is not overwritten.
    package func all() throws(AIError) -> [SignIn] {
        guard let bytes = try FileSystem.contents(path, limit: 4 << 20) else { return [] }
        guard let json = try? JSON.parse(bytes), let list = json["sign_ins"]?.array else {
            throw damage("it is not hub's JSON")
        }
        do throws(SignIn.Fault) { return try list.map { json throws(SignIn.Fault) in try SignIn(json) } } catch {
            throw damage(error.reason)
        }
    }

    private func damage(_ reason: String) -> AIError {
        AIError(
            .ioError, "the sign-ins in \(path) cannot be read: \(reason)",
            advice: "correct the file or move it away, and sign in again", context: .init(path: path))
    }

    /// The one whose token this is, or was until the last renewal.
    package func signIn(of token: AccessToken) throws(AIError) -> SignIn? {
        let all = try all()
        return all.first { $0.digest == SignIn.digest(of: token) } ?? all.first { $0.concerns(token) }
    }

    /// The same with its secrets. What the keyring holds may be newer than the file, if hub was killed in between.
    func whole(_ signIn: SignIn) async throws -> SignIn {
        guard let item = signIn.keyringItem, signIn.secrets == nil else { return signIn }
        guard let keyring else {
            throw AIError(
                .unauthorized,
                "the sign-in \(signIn.name.printable) is in the desktop's keyring, which is not there now",
                advice: "use hub in that session, or set HUB_NO_KEYRING=1 and sign in again")
        }
        guard let text = try await keyring.text(of: item), let json = try? JSON.parse(text),
            let whole = try? SignIn(json), whole.secrets != nil
        else {
            throw AIError(
                .unauthorized, "the sign-in \(signIn.name.printable) is no longer in the desktop's keyring",
                advice: "sign in again")
        }
        return whole
    }

    /// Keeps a sign-in, in place of one of the same name. It is on stable storage when this returns.
    package func save(_ signIn: SignIn) async throws {
        let others = try all().filter { !$0.isNamed(signIn.name) }
        let replaced = try all().first { $0.isNamed(signIn.name) }
        let kept = try await keptInKeyring(signIn, item: replaced?.keyringItem)
        try await write(others + [kept ?? signIn.withoutKeyring])
        if kept == nil, let item = replaced?.keyringItem { log("the keyring's item \"\(item)\" is no longer used") }
    }

    /// nil if there is no keyring, or it fails: then the file is the place.
    private func keptInKeyring(_ signIn: SignIn, item: String?) async throws -> SignIn? {
        guard let keyring else { return nil }
        var kept = signIn
        let item = item ?? "\(signIn.name) \(FileSystem.randomHex(4))"
        kept.keyringItem = item
        let text = JSON.object(kept.json(withSecrets: true)).text()
        do {
            try await keyring.store(text, as: item)
            guard try await keyring.text(of: item) == text else { return nil }
        } catch let error as AIError {
            log("\(error.message); the sign-in is kept in \(path)")
            return nil
        }
        return kept
    }

    /// Forgets the sign-ins that the closure is true of. One whose item the keyring does not give up is kept.
    ///
    /// - Returns: the items that stay, because the keyring is not there.
    @discardableResult
    package func remove(where isGone: (SignIn) -> Bool) async throws -> [String] {
        let all = try all()
        var (left, kept, fault): ([String], Set<String>, (any Error)?) = ([], [], nil)
        for signIn in all where isGone(signIn) {
            guard let item = signIn.keyringItem else { continue }
            guard let keyring else {
                left.append(item)
                continue
            }
            do { try await keyring.remove(item) } catch {
                kept.insert(item)
                fault = fault ?? error
            }
        }
        let rest = all.filter { signIn in !isGone(signIn) || signIn.keyringItem.map(kept.contains) == true }
        if rest != all { try await write(rest) }
        if let fault { throw fault }
        return left
    }

    private func write(_ all: [SignIn]) async throws {
        let path = path
        try await Blocking.run {
            guard !all.isEmpty else {
                try FileSystem.remove(path)
                return
            }
            let list = all.map { JSON.object($0.json(withSecrets: $0.keyringItem == nil)) }
            try TokenFile.replace(path, with: JSON.object(["sign_ins": .array(list)]).text(.pretty) + "\n")
        }
    }
}

extension SignIn {
    fileprivate var withoutKeyring: SignIn {
        var copy = self
        copy.keyringItem = nil
        return copy
    }
}
