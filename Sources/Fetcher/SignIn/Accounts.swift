package import HubCore

/// This user's tokens in all their places: the token file, the stored ones beside it, and hub's sign-ins.
package struct Accounts: Sendable {
    package let file: TokenFile
    package let signIns: SignInStore
    /// Called with what people should know.
    private let notice: @Sendable (String) -> Void

    package init(
        _ environment: HubEnvironment, log: @escaping @Sendable (String) -> Void = { _ in },
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        file = TokenFile(environment.tokenPath)
        signIns = SignInStore(environment, log: log)
        self.notice = notice
    }

    /// The tokens that have a name.
    package func stored() throws(AIError) -> StoredTokens { try StoredTokens(reading: file.collection) }

    /// A token and what is known of it.
    package struct Account: Sendable, Hashable {
        package var name: String
        package var token: AccessToken?
        package var isActive: Bool
        package var expiresAt: Double?
        /// Whether hub renews it.
        package var isRenewed: Bool
    }

    /// All of them, in the order of their names.
    package func all() throws(AIError) -> [Account] {
        let active = try file.token()
        let signIns = try signIns.all()
        return try stored().entries.map { entry in
            let signIn = entry.token.flatMap { token in signIns.first { $0.concerns(token) } }
            return Account(
                name: entry.name, token: entry.token, isActive: entry.token != nil && entry.token == active,
                expiresAt: signIn?.expiresAt ?? entry.expiresAt,
                isRenewed: signIn?.isRenewable ?? false)
        }
    }

    // MARK: Changes

    /// Makes a token the active one and stores it under its name.
    ///
    /// - Parameter signIn: what renews it. It is kept before anything else.
    package func keep(_ token: AccessToken, name: String, signIn: SignIn? = nil) async throws {
        let name = StoredTokens.name(for: name)
        try await Blocking.run { try file.check() }
        if var signIn {
            signIn.name = name
            try await signIns.changing(isNew: true) { [signIn] in try await signIns.save(signIn) }
        } else if let all = try? signIns.all(), all.contains(where: { $0.isNamed(name) }) {
            // Not under the lock before it is known to be needed: a renewal holds it while it asks the Hub.
            try await signIns.changing(isNew: false) { try await forget { $0.isNamed(name) } }
        }
        do {
            try await changing { stored in
                stored.set(name, token, expiresAt: signIn?.expiresAt)
            } then: { () throws(AIError) in
                try file.save(token)
            }
        } catch {
            // Nothing of an interrupted login stays, in a task that the interruption does not end.
            if signIn != nil {
                try await Task(executorPreference: TaskThreads.shared) {
                    try await signIns.changing(isNew: false) { try await forget { $0.isNamed(name) } }
                }.value
            }
            throw error
        }
    }

    /// Forgets sign-ins, and says what stays in a keyring that is not there.
    private func forget(where isGone: (SignIn) -> Bool) async throws {
        for item in try await signIns.remove(where: isGone) {
            notice("the desktop's keyring is not there now; delete its item \"\(item)\" in that session")
        }
    }

    /// Puts a renewed token wherever the old one is. The token file comes last: as long as it has the old one, the next
    /// command continues here.
    func handOn(_ new: AccessToken, inPlaceOf old: AccessToken, expiresAt: Double?) async throws {
        try await changing { stored in
            stored.replace(old, by: new, expiresAt: expiresAt)
        } then: { () throws(AIError) in
            // Someone may have chosen another meanwhile.
            if try file.token() == old { try file.save(new) }
        }
    }

    /// Makes a stored token the active one; nil if there is none of that name.
    package func choose(_ name: String) async throws -> AccessToken? {
        guard try FileSystem.status(file.collection) != nil else { return nil }
        return try await LockWait.with(file.lock) {
            try await Blocking.run { () throws(AIError) in
                guard let token = try stored().entry(named: name)?.token else { return nil }
                try file.save(token)
                return token
            }
        }
    }

    /// What ``forget(_:)`` removed.
    package struct Removal: Sendable {
        /// The token file, or the link in its place.
        package var file = TokenFile.Removal.nothing
        /// The names of the stored tokens.
        package var names: [String] = []
        /// Why the stored tokens stay.
        package var fault: AIError?
        /// Whether one of them was a sign-in.
        package var hadSignIn = false
        /// The tokens themselves.
        fileprivate var tokens: [AccessToken] = []
    }

    /// Which tokens are to go.
    package enum Choice: Sendable {
        case active
        case named(String)
        case all
    }

    /// Removes tokens from all their places. No request is sent: the Hub has no call that ends a token.
    package func forget(_ choice: Choice) async throws -> Removal {
        var removal = try await forgetFiles(choice)
        let gone = removal.tokens
        let isAll = if case .all = choice { true } else { false }
        try await signIns.changing(isNew: false) {
            let leaves: (SignIn) -> Bool = { signIn in isAll || gone.contains { signIn.concerns($0) } }
            removal.hadSignIn = try signIns.all().contains(where: leaves)
            try await forget(where: leaves)
        }
        return removal
    }

    private func forgetFiles(_ choice: Choice) async throws -> Removal {
        guard try FileSystem.status(Path.parent(file.path)) != nil else { return Removal() }
        return try await LockWait.with(file.lock) {
            try await Blocking.run { () throws(AIError) in
                var removal = Removal()
                // Read here, because a renewal may have just replaced it. A damaged file is removed like another.
                let active = try? file.token()
                do throws(AIError) {
                    var stored = try stored()
                    for entry in stored.entries where choice.takes(entry, active: active) {
                        _ = stored.remove(entry.name)
                        removal.names.append(entry.name)
                        if let token = entry.token { removal.tokens.append(token) }
                    }
                    if !removal.names.isEmpty { try stored.write(to: file.collection) }
                } catch {
                    if case .named = choice { throw error }
                    removal.fault = error
                }
                if case .named = choice {
                    if let active, removal.tokens.contains(active) { removal.file = try file.remove() }
                } else {
                    removal.file = try file.remove()
                    if let active { removal.tokens.append(active) }
                }
                return removal
            }
        }
    }

    /// Changes the stored tokens, and then something else, under the lock of Python's client. A damaged collection stays
    /// as it is, and does not prevent the rest.
    private func changing(
        _ change: @escaping @Sendable (inout StoredTokens) -> Void,
        then rest: @escaping @Sendable () throws(AIError) -> Void
    ) async throws {
        try await Blocking.run { try TokenFile.createFolder(of: file.path) }
        let fault = try await LockWait.with(file.lock) {
            try await Blocking.run { () throws(AIError) -> AIError? in
                var fault: AIError?
                do throws(AIError) {
                    var stored = try stored()
                    let before = stored
                    change(&stored)
                    if stored != before { try stored.write(to: file.collection) }
                } catch {
                    fault = error
                }
                try rest()
                return fault
            }
        }
        if let fault { notice("\(fault.message); the token is in \(file.path) alone") }
    }
}

extension Accounts.Choice {
    fileprivate func takes(_ entry: StoredTokens.Entry, active: AccessToken?) -> Bool {
        switch self {
        case .active: active != nil && entry.token == active
        case .named(let name): ExactText(entry.name) == ExactText(name)
        case .all: true
        }
    }
}
