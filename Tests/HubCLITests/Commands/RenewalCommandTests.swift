import HubCore
import Support
import Testing

/// Trap 24, with real processes: the token of a sign-in is renewed by whatever command needs it.
@Suite struct RenewalCommandTests {
    @Test func twoProcessesRenewOnce() async throws {
        let stage = try SignInStage()
        try await stage.signIn()
        try stage.age(toSecondsLeft: -10)
        let gate = Gate()
        stage.server.script(.hold(gate))
        let first = try stage.start("auth", "whoami", "-v")
        try await gate.reached()
        let second = try stage.start("auth", "whoami", "-v")
        try await second.wait(forText: "waiting for another process that renews the token")
        gate.release()
        for process in [first, second] {
            let result = try await process.wait()
            #expect(result.status == 0 && result.output.hasPrefix("ada (Ada L.)\n"), "\(result.error)")
            for secret in stage.server.secrets { #expect(!(result.output + result.error).contains(secret)) }
        }
        #expect(stage.server.renewals.count == 1)
        #expect(stage.server.log.filter { $0.path == "/api/whoami-v2" }.count == 3)
    }

    /// Killed while the Hub is asked: if the Hub has not granted anything yet, the next command asks again.
    @Test func aKilledRenewalIsRepeated() async throws {
        let stage = try SignInStage()
        try await stage.signIn()
        try stage.age(toSecondsLeft: 60)
        let gate = Gate()
        stage.server.script(.json(503, "{}"), .hold(gate))
        #expect(try await stage.run("auth", "whoami").error.contains("cannot be renewed now"))
        let process = try stage.start("auth", "whoami")
        try await gate.reached()
        process.killHard()
        _ = try await process.wait()
        // The Hub has not come to answering: it is still the same refresh token.
        let result = try await stage.run("auth", "whoami", "-q")
        gate.release()
        #expect(result.status == 0 && result.output == "ada\n" && result.error.isEmpty, "\(result.error)")
    }

    /// Other commands take the token at the same place.
    @Test func everyCommandThatAsksTheHubRenews() async throws {
        let stage = try Stage { root in
            try ModelRepository("org/hidden", in: root).write("config.json", "{}")
        }
        let server = try OAuthServer()
        let old = server.grant()
        for words in [["info", "org/hidden", "--refresh"], ["search", "hidden"], ["pull", "org/hidden"]] {
            try stage.machine.write("hf/token", old.access)
            try FileSystem.setMode(stage.machine("hf/token"), 0o600)
            let digest = ContentHasher.digest(of: Array(old.access.utf8), like: .sha256("")).hex
            try stage.machine.write(
                "state/sign-ins.json",
                """
                {"sign_ins":[{"name":"oauth-ada","client_id":"app","token_endpoint":"\(server.endpoint)/oauth/token",
                "token_sha256":"\(digest)","expires_at":1,"lifetime":28800,"renewable":true,
                "access_token":"\(old.access)","refresh_token":"\(old.refresh)"}]}
                """)
            server.script(.json(200, #"{"access_token":"hf_loopback","expires_in":28800}"#))
            let result = try await stage.run(words)
            #expect(result.status == 0, "\(words): \(result.error)")
            #expect(try FileSystem.text(stage.machine("hf/token")) == "hf_loopback")
        }
        #expect(server.renewals.count == 3)
        // What does not ask the Hub asks nobody.
        for words in [["ls"], ["path", "org/hidden"], ["search", "hidden", "--offline"], ["auth", "ls"]] {
            try stage.machine.write("hf/token", old.access)
            try FileSystem.setMode(stage.machine("hf/token"), 0o600)
            #expect(try await stage.run(words).status == 0)
        }
        #expect(server.renewals.count == 3)
    }

    @Test func anEndedSignInIsExit4WithWhatToDo() async throws {
        let stage = try SignInStage { $0.givesRefreshToken = false }
        try await stage.signIn()
        try stage.age(toSecondsLeft: -10)
        let result = try await stage.run("auth", "whoami")
        #expect(
            result.status == 4
                && result.error
                    == "hub: the sign-in oauth-ada has ended\n     sign in again: hub auth login --device, or --browser\n"
        )
        #expect(try await stage.run("auth", "ls").output.contains("(over)"))
        try await stage.signIn()
        #expect(try await stage.run("auth", "whoami", "-q").output == "ada\n")
    }
}
