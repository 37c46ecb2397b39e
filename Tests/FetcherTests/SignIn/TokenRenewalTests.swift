import HubCore
import Support
import Testing

@testable import Fetcher

/// Trap 24: tokens that end are renewed by whoever is about to send them.
@Suite struct TokenRenewalTests {
    private func user(_ bench: SignInBench, _ variables: [String: String] = [:]) async throws -> String {
        try await bench.workspace(variables).client().whoami().name
    }

    @Test func aTokenThatIsNearlyOverIsRenewedInEveryPlace() async throws {
        let bench = try SignInBench()
        let old = try await bench.signIn(secondsAgo: 28_000)
        #expect(try await user(bench) == "ada")
        let renewal = try #require(bench.server.renewals.first)
        #expect(
            renewal.form == [
                "grant_type": "refresh_token", "refresh_token": old.secrets!.refreshToken!.secret,
                "client_id": "hub-tests-app",
            ])
        let token = try bench.tokenFile
        #expect(token.hasPrefix("hf_oauth_") && token != old.secrets?.accessToken.secret)
        #expect(try bench.storedToken == token)
        let kept = try #require(try bench.accounts.signIns.all().first)
        #expect(
            kept.secrets?.accessToken.secret == token && kept.isRenewable
                && kept.scope == "openid profile read-repos")
        #expect(kept.secrets?.refreshToken != old.secrets?.refreshToken)
        let expiry = try #require(try bench.accounts.stored().entry(named: "oauth-ada")?.expiresAt)
        #expect(expiry > Timestamp.now + 28_000)
        // And it is good for a while.
        #expect(try await user(bench) == "ada" && bench.server.renewals.count == 1)
        #expect(try FileSystem.status(bench.accounts.signIns.path)?.mode == 0o600)
    }

    /// Less than a tenth of eight hours, or of ten minutes, or half of a life that is shorter than that.
    @Test(arguments: [
        (28_800.0, 2_890.0, false), (28_800, 2_870, true), (3_600, 610, false), (3_600, 590, true),
        (600, 310, false), (600, 290, true), (2_592_000, 259_300, false), (2_592_000, 259_100, true),
    ])
    func howMuchMustBeLeft(lifetime: Double, left: Double, isDue: Bool) async throws {
        let bench = try SignInBench()
        let signIn = try await bench.signIn(secondsAgo: lifetime - left, lifetime: lifetime)
        // By the sign-in's own clock, however long the test has waited for a processor.
        let end = try #require(signIn.expiresAt)
        #expect(signIn.isDue(end - left) == isDue)
    }

    @Test func aRefreshTokenThatIsNotReplacedIsKept() async throws {
        var options = OAuthServer.Options()
        options.rotates = false
        options.lifetime = nil
        options.scope = nil
        let bench = try SignInBench(options)
        let old = try await bench.signIn(secondsAgo: 28_000)
        _ = try await user(bench)
        let kept = try #require(try bench.accounts.signIns.all().first)
        #expect(kept.secrets?.refreshToken == old.secrets?.refreshToken && kept.secrets != old.secrets)
        #expect(kept.expiresAt == nil && kept.scope == "openid", "without a date it does not end")
        _ = try await user(bench)
        #expect(bench.server.renewals.count == 1)
    }

    @Test func whatIsNotOfASignInIsLeftAlone() async throws {
        var options = OAuthServer.Options()
        options.pasted = ["hf_pasted-by-hand": "laptop"]
        let bench = try SignInBench(options)
        try await bench.signIn(secondsAgo: 28_000)
        // The environment's token, whatever the file has.
        #expect(try await user(bench, ["HF_TOKEN": "hf_pasted-by-hand"]) == "ada")
        _ = try? await user(bench, ["HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"])
        _ = try await bench.workspace(isOffline: true).client()
        let given = Workspace(
            environment: bench.environment(),
            configuration: .default.token(.static(try #require(AccessToken("hf_pasted-by-hand")))),
            isOffline: false,
            opensCatalog: false)
        #expect(try await given.client().whoami().name == "ada")
        try await bench.accounts.keep(try #require(AccessToken("hf_pasted-by-hand")), name: "laptop")
        #expect(try await user(bench) == "ada")
        #expect(bench.server.renewals.isEmpty)
    }

    @Test func anEndedSignInIsSaidOnceAndThenAsked() async throws {
        let bench = try SignInBench()
        let signIn = try await bench.signIn(secondsAgo: 28_000)
        bench.server.revoke(signIn.secrets!.refreshToken!.secret)
        #expect(try await user(bench) == "ada", "its token is still good")
        let notices = bench.said.update { $0.filter { $0.hasPrefix("notice") } }
        #expect(
            notices.count == 1
                && notices[0].hasPrefix("notice: the sign-in oauth-ada has ended; its token is good until 2"))
        #expect(try await user(bench) == "ada" && bench.server.renewals.count == 1, "it is not asked again")

        let late = try SignInBench()
        let ended = try await late.signIn(secondsAgo: 30_000)
        late.server.revoke(ended.secrets!.refreshToken!.secret)
        for _ in 0..<2 {
            let error = await AIError.of { _ = try await user(late) }
            #expect(error?.code == .unauthorized && error?.message == "the sign-in oauth-ada has ended")
            #expect(error?.recoverySuggestion == "sign in again: hub auth login --device, or --browser")
        }
        #expect(late.server.renewals.count == 1 && late.server.log.count == 1, "a token that has ended is not sent")
    }

    @Test func withoutARefreshTokenItEndsWithItsToken() async throws {
        let bench = try SignInBench()
        try await bench.signIn(secondsAgo: 28_000, refresh: false)
        #expect(try await user(bench) == "ada")
        let late = try SignInBench()
        try await late.signIn(secondsAgo: 30_000, refresh: false)
        #expect(await AIError.of { _ = try await user(late) }?.message == "the sign-in oauth-ada has ended")
        #expect(bench.server.renewals.isEmpty && late.server.log.isEmpty)
    }

    @Test func aHubThatIsAwayDoesNotTakeAGoodToken() async throws {
        for answer in [
            OAuthServer.Answer.html(502), .cut, .json(500, "{}"), .json(400, #"{"error":"invalid_client"}"#),
        ] {
            let bench = try SignInBench()
            try await bench.signIn(secondsAgo: 28_000)
            bench.server.script(answer)
            let before = try bench.tokenFile
            #expect(try await user(bench) == "ada" && bench.tokenFile == before)
            #expect(
                bench.said.update { $0 }.contains {
                    $0.hasPrefix("notice: the token of oauth-ada cannot be renewed now: ")
                        && $0.contains("it is good until")
                })
            #expect(try await user(bench) == "ada" && bench.tokenFile != before, "the next one asks again")

            let late = try SignInBench()
            try await late.signIn(secondsAgo: 30_000)
            late.server.script(answer)
            let error = await AIError.of { _ = try await user(late) }
            #expect(error?.message.hasPrefix("the token of oauth-ada has ended and cannot be renewed: ") == true)
            #expect(try await user(late) == "ada")
        }
    }

    /// hub was killed after it had written what the Hub granted, and before the token file.
    @Test func whatWasGrantedIsHandedOnByTheNextCommand() async throws {
        let bench = try SignInBench()
        let old = try await bench.signIn(secondsAgo: 30_000)
        let pair = bench.server.grant()
        var new = old
        new.replaced = old.digest
        new.take(
            TokenGrant(
                accessToken: try #require(AccessToken(pair.access)), refreshToken: AccessToken(pair.refresh),
                expiresIn: 28_800), now: Timestamp.now)
        try await bench.accounts.signIns.save(new)
        bench.server.revoke(old.secrets!.accessToken.secret)
        #expect(try bench.tokenFile == old.secrets?.accessToken.secret)
        #expect(try await user(bench) == "ada")
        #expect(try bench.tokenFile == pair.access && bench.storedToken == pair.access)
        #expect(bench.server.renewals.isEmpty, "nobody was asked")
    }

    /// The same for one stored token while another is in use.
    @Test func aTokenThatIsNotInUseStaysAsItIs() async throws {
        var options = OAuthServer.Options()
        options.pasted = ["hf_pasted-by-hand": "laptop"]
        let bench = try SignInBench(options)
        let old = try await bench.signIn(secondsAgo: 28_000)
        let gate = Gate()
        bench.server.script(.hold(gate))
        let renewing = Task { try await user(bench) }
        try await gate.reached()
        // Someone chooses another token while the Hub is asked.
        try await bench.accounts.keep(try #require(AccessToken("hf_pasted-by-hand")), name: "laptop")
        gate.release()
        #expect(try await renewing.value == "ada")
        #expect(try bench.tokenFile == "hf_pasted-by-hand")
        #expect(try bench.storedToken != old.secrets?.accessToken.secret, "the stored one is the new one")
        #expect(try await bench.accounts.choose("oauth-ada")?.secret == bench.storedToken)
        #expect(try await user(bench) == "ada" && bench.server.renewals.count == 1)
    }

    @Test func damageIsSaidAndLeft() async throws {
        let bench = try SignInBench()
        try await bench.signIn(secondsAgo: 28_000)
        let path = bench.accounts.signIns.path
        for text in [
            "{", "{}", #"{"sign_ins":[{"name":"x"}]}"#,
            #"{"sign_ins":[{"name":"x","client_id":"a","token_endpoint":"b","token_sha256":"c"}]}"#,
        ] {
            try FileSystem.replace(path, with: Array(text.utf8))
            #expect(try await user(bench) == "ada")
            #expect(
                bench.said.update { $0 }.contains {
                    $0.hasPrefix("notice: the sign-ins in \(path) cannot be read: ")
                })
            #expect(await AIError.of { try await bench.signIn(secondsAgo: 0) }?.exitStatus == 6)
            #expect(try FileSystem.text(path) == text)
        }
    }

    @Test func damagedStoredTokensDoNotStopIt() async throws {
        let bench = try SignInBench()
        let old = try await bench.signIn(secondsAgo: 28_000)
        try bench.box.write("hf/stored_tokens", "damage")
        #expect(try await user(bench) == "ada")
        #expect(try bench.tokenFile != old.secrets?.accessToken.secret)
        #expect(try FileSystem.text(bench.box("hf/stored_tokens")) == "damage")
        #expect(
            bench.said.update { $0 }.contains {
                $0.contains("cannot be read: line 1")
                    && $0.hasSuffix("the token is in \(bench.box("hf/token")) alone")
            })
    }

    /// Many at once, in one process: flock is per open file.
    @Test func whoeverComesMeanwhileTakesTheResult() async throws {
        let bench = try SignInBench()
        try await bench.signIn(secondsAgo: 30_000)
        let gate = Gate()
        bench.server.script(.hold(gate))
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<6 { group.addTask { try await user(bench) } }
            try await gate.reached()
            gate.release()
            for try await name in group { #expect(name == "ada") }
        }
        #expect(bench.server.renewals.count == 1)
    }

    @Test func noSecretIsSaid() async throws {
        let bench = try SignInBench()
        try await bench.signIn(secondsAgo: 28_000)
        let secrets = bench.server.secrets
        let quoted = secrets.map { "\"\($0)\"" }.joined(separator: " ")
        bench.server.script(
            .json(400, JSON.object(["error": .string("e " + quoted), "error_description": .string(quoted)]).text()))
        _ = try await user(bench)
        let said = bench.said.update { $0 }.joined(separator: "\n")
        #expect(
            said.contains("cannot be renewed now") && said.contains("POST \(bench.server.endpoint)/oauth/token"))
        for secret in secrets { #expect(!said.contains(secret)) }
    }
}
