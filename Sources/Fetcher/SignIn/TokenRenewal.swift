import HubCore

/// Renews the token of a sign-in before it ends, for whoever is about to send it. One process at a time asks the Hub: a
/// refresh token is good once, and the answer brings the next.
///
/// What the Hub granted is on stable storage before anything else is done with it; until the token file has it, the next
/// command continues there. Only an answer that never arrived, or that was not yet written when hub was killed, is lost:
/// then the Hub refuses the old refresh token, and the person has to sign in again.
struct TokenRenewal: Sendable {
    let environment: HubEnvironment
    let engine: @Sendable () throws(AIError) -> HTTPEngine
    let log: @Sendable (String) -> Void
    let notice: @Sendable (String) -> Void

    private var accounts: Accounts { Accounts(environment, log: log, notice: notice) }

    /// Puts a new token in the token file, if the one there is of a sign-in and nearly over. A token of the environment
    /// is never renewed.
    ///
    /// - Throws: ``ErrorCode/unauthorized`` if the token has ended and the Hub does not renew it; the network's errors if
    ///   it has ended and the Hub cannot be asked.
    func run() async throws {
        guard environment.tokenVariable == nil, !environment.isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN"),
            let found = try await Blocking.run({ try find() }), found.needsWork
        else { return }
        var isLocked = false
        do {
            try await LockWait.with(accounts.signIns.lock, seconds: 600) {
                log("waiting for another process that renews the token")
            } _: {
                isLocked = true
                // Another process may have done it meanwhile.
                guard let found = try await Blocking.run({ try find() }), found.needsWork else { return }
                try await renew(found)
            }
        } catch  where !isLocked {
            try tolerate(AIError.wrapping(error), found.signIn, Timestamp.now)
        }
    }

    /// The active token and its sign-in.
    private struct Found {
        var token: AccessToken
        var signIn: SignIn

        /// Whether the token is nearly over, or a newer one is known.
        var needsWork: Bool {
            signIn.digest != SignIn.digest(of: token) || (signIn.isRenewable && signIn.isDue(Timestamp.now))
                || signIn.hasExpired(Timestamp.now)
        }
    }

    private func find() throws -> Found? {
        guard let token = try accounts.file.token() else { return nil }
        do throws(AIError) {
            return try accounts.signIns.signIn(of: token).map { Found(token: token, signIn: $0) }
        } catch {
            notice("\(error.message); the token is not renewed")
            return nil
        }
    }

    private func renew(_ found: Found) async throws {
        let old = found.token
        var signIn: SignIn
        do { signIn = try await accounts.signIns.whole(found.signIn) } catch {
            return try tolerate(AIError.wrapping(error), found.signIn, Timestamp.now)
        }
        guard let secrets = signIn.secrets else { return }
        if secrets.accessToken != old, !signIn.hasExpired(Timestamp.now) {
            log("continuing with the token that was granted before")
            return try await finish(&signIn, old)
        }
        guard let refreshToken = secrets.refreshToken, signIn.isRenewable else { throw Self.ended(signIn) }
        // In a task of its own: an interruption waits until what the Hub grants is kept.
        let whole = signIn
        try await Task(executorPreference: TaskThreads.shared) {
            try await ask(whole, secrets, refreshToken, old)
        }.value
    }

    private func ask(
        _ whole: SignIn, _ secrets: SignIn.Secrets, _ refreshToken: AccessToken, _ old: AccessToken
    ) async throws {
        var (signIn, now) = (whole, Timestamp.now)
        // The refresh token is spent only where what it brings can be kept.
        do { try await accounts.signIns.save(whole) } catch {
            return try tolerate(AIError.wrapping(error), whole, now)
        }
        let client = try OAuthClient(engine: try engine(), signIn, log: log)
        do {
            let form = [("grant_type", "refresh_token"), ("refresh_token", refreshToken.secret)]
            let grant = try await client.grant(form, hiding: [refreshToken.secret, secrets.accessToken.secret])
            signIn.replaced = SignIn.digest(of: old)
            now = Timestamp.now
            signIn.take(grant, now: now)
        } catch let refusal as OAuthClient.Refusal where refusal.code == "invalid_grant" {
            return try await giveUp(&signIn, old, now)
        } catch let refusal as OAuthClient.Refusal {
            return try tolerate(client.error(refusal), signIn, now)
        } catch {
            return try tolerate(AIError.wrapping(error), signIn, now)
        }
        try await finish(&signIn, old)
        log("the token of \(signIn.name) was renewed")
    }

    /// Keeps what was granted, and hands it on.
    private func finish(_ signIn: inout SignIn, _ old: AccessToken) async throws {
        guard let token = signIn.secrets?.accessToken else { return }
        var fault: (any Error)?
        do { try await accounts.signIns.save(signIn) } catch { fault = error }
        // The token itself is not lost with the record.
        try await accounts.handOn(token, inPlaceOf: old, expiresAt: signIn.expiresAt)
        if let fault { throw fault }
    }

    /// The Hub does not know the refresh token any more. Where locks do not work, another process may have used it.
    private func giveUp(_ signIn: inout SignIn, _ old: AccessToken, _ now: Double) async throws {
        if let found = try find(), found.signIn.digest != signIn.digest { return try await renew(found) }
        signIn.isRenewable = false
        try await accounts.signIns.save(signIn)
        guard !signIn.hasExpired(now) else { throw Self.ended(signIn) }
        notice("\(Self.ended(signIn).message); its token is good until \(Self.end(of: signIn))")
    }

    /// A token that is still good is used.
    private func tolerate(_ error: AIError, _ signIn: SignIn, _ now: Double) throws {
        guard error.code != .cancelled, !signIn.hasExpired(now) else {
            var error = error
            if error.code != .cancelled {
                error.message =
                    "the token of \(signIn.name.printable) has ended and cannot be renewed: \(error.message)"
            }
            throw error
        }
        notice(
            "the token of \(signIn.name.printable) cannot be renewed now: \(error.message); it is good until \(Self.end(of: signIn))"
        )
    }

    private static func ended(_ signIn: SignIn) -> AIError {
        AIError(
            .unauthorized, "the sign-in \(signIn.name.printable) has ended",
            advice: "sign in again: hub auth login --device, or --browser")
    }

    private static func end(of signIn: SignIn) -> String { signIn.expiresAt.map(Timestamp.iso8601) ?? "revoked" }
}
