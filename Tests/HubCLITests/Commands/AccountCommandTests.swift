import HubCore
import HubServer
import Support
import Testing

/// `hub auth ls`, `switch`, `logout` and what `whoami` says of a token's rights.
@Suite struct AccountCommandTests {
    private static let work = "hf_WorkWorkWorkWorkWorkWork0123456789"
    private static let play = "hf_Play0123456789abcdefghijklmnopqr"

    private func stage() throws -> SignInStage {
        try SignInStage { $0.pasted = [Self.work: Self.work100, Self.play: "play"] }
    }
    private static let work100 = "wörk 100%"

    @Test func tokensAreListedMaskedAndSwitched() async throws {
        let stage = try stage()
        let none = try await stage.run("auth", "ls")
        #expect(none.status == 0 && none.output.isEmpty && none.error.contains("no token is saved"))
        #expect(try await stage.run("auth", "ls", "--json").document() == ["tokens": .array([])])
        for token in [Self.work, Self.play] {
            #expect(try await stage.run("auth", "login", "--token-stdin", input: token).status == 0)
        }
        try await stage.signIn()
        let list = try await stage.run("auth", "ls", "--offline")
        let lines = list.output.split(separator: "\n").map(String.init)
        #expect(list.status == 0 && list.error.isEmpty && lines.count == 4)
        #expect(lines[0].hasPrefix("   NAME") && lines[1].hasPrefix("*  oauth-ada  hf_****"))
        #expect(lines[1].hasSuffix("Z (renewed)"))
        #expect(lines[2].hasPrefix("   play       hf_****opqr") && lines[3].hasPrefix("   wörk 100%  hf_****6789"))

        let switched = try await stage.run("auth", "switch", Self.work100, "--offline")
        #expect(switched.status == 0 && switched.output == "Using wörk 100%; the token is in \(stage.tokenPath)\n")
        #expect(try FileSystem.text(stage.tokenPath) == Self.work)
        #expect(try FileSystem.status(stage.tokenPath)?.mode == 0o600)
        #expect(try await stage.run("auth", "ls", "-q").output == "oauth-ada\nplay\nwörk 100%\n")
        let rows = try await stage.run("auth", "ls", "--json").document().objects("tokens")
        #expect(rows.map { $0["name"]?.string } == ["oauth-ada", "play", Self.work100])
        #expect(rows.map { $0["active"]?.bool } == [false, false, true])
        #expect(rows.map { $0["renewed"]?.bool } == [true, false, false])
        #expect(rows[1]["token"] == "hf_****opqr" && rows[0]["expires_at"]?.string != nil)
        for row in rows { row.expectKeys("name active token expires_at renewed") }
        #expect(try await stage.run("auth", "ls", "--json=lines").output.split(separator: "\n").count == 3)
        #expect(try await stage.run("auth", "switch", "play", "--json").document()["name"] == "play")
    }

    /// The word may be a token that someone typed in the wrong place.
    @Test func aNameThatIsNotThereIsNotRepeated() async throws {
        let stage = try stage()
        for action in ["switch", "logout"] {
            let result = try await stage.run("auth", action, Self.work)
            #expect(result.status == 3, "\(result.error)")
            #expect(result.error == "hub: no saved token has that name\n     hub auth ls shows the names\n")
        }
        #expect(try await stage.run("auth", "switch").status == 2)
        #expect(try await stage.run("auth", "logout", "x", "--all").status == 2)
        #expect(try await stage.run("auth", "ls", Self.work).status == 2)
        #expect(try stage.listing() == ["home"])
    }

    @Test func aShortTokenIsMaskedWhole() async throws {
        let stage = try stage()
        try stage.machine.write("hf/stored_tokens", "[a]\nhf_token = hf_secret\n\n[b]\n")
        #expect(try await stage.run("auth", "ls").output == "  NAME  TOKEN\n  a     hf_****\n  b\n")
        #expect(try await stage.run("auth", "ls").error.contains("hub auth switch NAME uses one"))
        #expect(try await stage.run("auth", "switch", "b").status == 3, "it has no token")
    }

    @Test func logoutTakesOneOrAll() async throws {
        let stage = try stage()
        for token in [Self.work, Self.play] {
            _ = try await stage.run("auth", "login", "--token-stdin", input: token)
        }
        try await stage.signIn()
        let other = try await stage.run("auth", "logout", "play", "--offline")
        #expect(other.status == 0 && other.output == "removed \"play\" from the saved tokens\n")
        #expect(try stage.places(of: Self.play).isEmpty && FileSystem.exists(stage.tokenPath))
        let active = try await stage.run("auth", "logout", "--offline")
        #expect(
            active.output == "signed out: \(stage.tokenPath) is deleted, and \"oauth-ada\" is no longer saved\n")
        #expect(
            active.error
                == "hub: \(stage.server.endpoint)/settings/connected-applications ends the sign-in at the Hub, too\n"
        )
        for secret in stage.server.secrets { #expect(try stage.places(of: secret).isEmpty) }
        #expect(try await stage.run("auth", "ls", "-q").output == "wörk 100%\n")

        try await stage.signIn()
        let all = try await stage.run("auth", "logout", "--all", "--json", "--offline").document()
        #expect(all.strings("names") == ["oauth-ada", Self.work100] && all["removed"] == true)
        for secret in stage.server.secrets.union([Self.work]) { #expect(try stage.places(of: secret).isEmpty) }
        #expect(
            try stage.listing() == [
                "hf", "hf/stored_tokens.lock", "home", "state", "state/sign-ins.json.lock",
            ])
        #expect(try await stage.run("auth", "logout", "--all").output.hasPrefix("not signed in"))
    }

    /// Trap 25.
    @Test func aVariableThatStillGivesATokenIsSaid() async throws {
        let stage = try stage()
        try await stage.signIn()
        for words in [["list"], ["logout", "--all"], ["logout"]] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["auth"] + words, environment: stage.environment(["HF_TOKEN": Self.work]))
            #expect(
                result.status == 0
                    && result.error.contains("HF_TOKEN is set and overrides the token file\n     unset HF_TOKEN\n"))
        }
    }

    @Test func whoamiSaysWhatATokenCannotDo() async throws {
        let stage = try stage()
        try await stage.signIn()
        let result = try await stage.run("auth", "whoami")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.output.hasPrefix("ada (Ada L.)\n  scopes      openid, profile, read-repos\n"))
        #expect(
            result.output.contains(
                "  cannot      calls to inference providers are refused; gated repositories are refused; nothing can be written\n"
            ))
        let document = try await stage.run("auth", "whoami", "--json").document()
        #expect(document.strings("scopes") == ["openid", "profile", "read-repos"])
        #expect(document.strings("cannot").count == 3 && document["expires_at"]?.string != nil)
        _ = try await stage.run("auth", "login", "--token-stdin", input: Self.work)
        let write = try await stage.run("auth", "whoami", "--json").document()
        #expect(write["token_role"] == "write" && write.strings("cannot").isEmpty && write["scopes"] == nil)
    }

    @Test(arguments: [
        (#""accessToken":{"displayName":"r","role":"read"}"#, ["nothing can be written"]),
        (#""accessToken":{"displayName":"r","role":"write"}"#, []),
        (
            #""accessToken":{"displayName":"f","role":"fineGrained","fineGrained":{"canReadGatedRepos":true,"global":[],"scoped":[{"entity":{"name":"ada"},"permissions":["repo.content.read","inference.serverless.write"]}]}}"#,
            ["nothing can be written"]
        ),
        (
            #""accessToken":{"displayName":"f","role":"fineGrained","fineGrained":{"global":[],"scoped":[]}}"#,
            [
                "calls to inference providers are refused", "private repositories are refused",
                "gated repositories are refused", "nothing can be written",
            ]
        ), (#""type":"oauth","scopes":["inference-api","write-repos","gated-repos"]"#, []),
        (#""type":"oauth","scope":"inference-api gated-repos read-repos write-repos""#, []),
    ])
    func whatTheHubSaysOfATokenDecides(auth: String, cannot: [String]) async throws {
        let stage = try Stage()
        stage.hub.fail(
            "whoami",
            .status(
                200, headers: ["Content-Type": "application/json"],
                body: #"{"type":"user","name":"ada","auth":{\#(auth)}}"#))
        let document = try await stage.run("auth", "whoami", "--json", with: ["HF_TOKEN": "hf_loopback"]).document()
        #expect(document.strings("cannot") == cannot)
    }

    @Test func completionOffersTheNames() async throws {
        let stage = try stage()
        _ = try await stage.run("auth", "login", "--token-stdin", input: Self.play)
        for (words, offered) in [
            (["switch", ""], "play\n"), (["logout", "p"], "play\n"), (["login", ""], ""), (["whoami", ""], ""),
        ] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["__complete", "--", "auth"] + words, environment: stage.environment())
            #expect(result.output == offered, "\(words)")
        }
        let actions = try await stage.run("__complete", "--", "auth", "")
        #expect(actions.lines.map { $0.prefix { $0 != "\t" } } == ["login", "logout", "ls", "switch", "whoami"])
    }
}
