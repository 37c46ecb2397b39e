import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

/// `hub auth` with a token from stdin; SecretPromptTests has the terminal.
@Suite struct AuthCommandTests {
    static let secret = "hf_loopback"
    let stage: Stage

    init() throws { stage = try Stage { try ModelRepository.tiny("org/tiny", in: $0) } }

    private var file: String { stage.machine("hf/token") }
    private var asked: [LoggedRequest] { stage.hub.requests("whoami") }

    // MARK: login

    @Test func aTokenThatTheHubKnowsIsKept() async throws {
        let result = try await stage.run("auth", "login", input: "\r\n  \(Self.secret) \r\n\n")
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(result.output == "Logged in as local; the token is in \(file)\n")
        #expect(try FileSystem.text(file) == Self.secret)
        #expect(try FileSystem.status(file)?.mode == 0o600)
        #expect(try FileSystem.status(stage.machine("hf"))?.mode == 0o700)
        #expect(
            try stage.listing(stage.machine.path) == [
                "hf", "hf/stored_tokens", "hf/stored_tokens.lock", "hf/token", "home",
            ], "no catalog is concerned, and no sign-in")
        #expect(asked.map(\.hasAuthorization) == [true])
        // And it is the one that is used from now on.
        #expect(try await stage.run("auth", "whoami", "-q").output == "local\n")
    }

    @Test func loginAnswersPrograms() async throws {
        #expect(try await stage.run("auth", "login", "-q", input: Self.secret).output == "local\n")
        let document = try await stage.run("auth", "login", "--json", input: Self.secret).document()
        #expect(
            document == [
                "user": "local", "full_name": "The owner of this Hub", "orgs": .array([]),
                "token_name": "hub serve",
                "token_role": "read", "endpoint": .string(stage.hub.endpoint), "token_source": "file",
                "token_path": .string(file),
            ])
    }

    @Test func theFileIsWherePythonLooks() async throws {
        let other = stage.machine("elsewhere/deep/secret")
        let result = try await stage.run("auth", "login", "-q", with: ["HF_TOKEN_PATH": other], input: Self.secret)
        #expect(result.status == 0)
        #expect(try FileSystem.text(other) == Self.secret)
        #expect(!FileSystem.exists(file))
    }

    @Test(arguments: ["0", "077", "777"]) func noUmaskOpensItOrShutsItsOwnerOut(mask: String) async throws {
        // One folder has to be made, so that even the last of these leaves a way to it.
        let result = try await stage.shell("umask \(mask); $hub auth login", input: Self.secret).wait()
        #expect(result.status == 0, "\(result.error)")
        #expect(try FileSystem.status(file)?.mode == 0o600)
        #expect(try FileSystem.status(stage.machine("hf"))?.mode == 0o700)
    }

    @Test func whatTheHubDoesNotKnowIsNotKept() async throws {
        try stage.machine.write("hf/token", "hf_before")
        for status in [401, 403] {
            if status == 403 { stage.hub.fail("whoami", .status(403, body: #"{"error":"blocked"}"#)) }
            let result = try await stage.run("auth", "login", input: "hf_wrong-one")
            #expect(result.status == 4 && result.output.isEmpty)
            #expect(
                result.error == """
                    hub: \(status == 401 ? "\(stage.hub.endpoint) refuses the token" : "the Hub refuses access to \(stage.hub.endpoint): blocked"); it was not saved
                         did you paste all of it? tokens are made at \(stage.hub.endpoint)/settings/tokens

                    """)
        }
        #expect(asked.count == 2, "a token that is refused is shown once")
        #expect(try FileSystem.text(file) == "hf_before")
    }

    @Test(arguments: ["", "\n\r\n", "   \n"]) func noTokenIsAMistake(input: String) async throws {
        let result = try await stage.run("auth", "login", input: input)
        #expect(result.status == 2 && result.error.hasPrefix("hub: no token was given\n"))
        #expect(stage.hub.requests.isEmpty && !FileSystem.exists(file))
    }

    @Test(arguments: ["hf_a b", "hf_\u{1B}[2J", "hf_ü", "hf_\u{0}x", "hf_\tx", "hf_\u{7F}"])
    func whatIsNoTokenIsNeitherShownNorSent(input: String) async throws {
        let result = try await stage.run("auth", "login", "--json", input: input)
        #expect(result.status == 2)
        #expect(try result.errorCode() == "invalid_input")
        #expect(
            result.error.hasPrefix("hub: not a valid token: it contains "))
        #expect(!(result.output + result.error).contains(String(input.dropFirst(3))))
        #expect(stage.hub.requests.isEmpty && !FileSystem.exists(file))
    }

    @Test func severalLinesAreNotOneToken() async throws {
        let result = try await stage.run("auth", "login", input: "\(Self.secret)\nlogin: ada\n")
        #expect(result.status == 2 && result.error.hasPrefix("hub: stdin has 2 lines, and a token is one line\n"))
        let flood = try await stage.run("auth", "login", input: String(repeating: "a", count: 1 << 20))
        #expect(flood.status == 2 && flood.error == "hub: standard input has more than 65536 bytes\n")
        #expect(stage.hub.requests.isEmpty)
    }

    /// `ps` shows everybody the words of a command line, and shells keep them.
    @Test(arguments: [
        ["auth", "login", secret], ["auth", secret], ["auth", "login", "--token", secret],
        ["auth", "login", "--token=" + secret], ["auth", "--token", secret, "login"], ["auth", "whoami", secret],
        ["auth", "login", "--", secret], ["--token", secret, "auth", "login"], ["auth", "login", "-t", secret],
    ])
    func aTokenOnTheCommandLineIsRefusedAndNotRepeated(words: [String]) async throws {
        for extra in [[], ["--json"], ["--verbose"]] {
            let words = words.contains("--") ? extra + words : words + extra
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words, environment: stage.environment, input: Array(Self.secret.utf8))
            #expect(result.status == 2, "\(words)")
            #expect(!(result.output + result.error).contains("loopback"), "\(words)")
            if words[0] == "auth", words.contains("login"), !words.contains("-t") {
                #expect(
                    result.error.contains("a token is not taken from the command line, where others"), "\(words)")
            }
            let advice = ["hub auth login asks for it", "login asks for the token"]
            #expect(
                advice.contains { result.error.contains($0) } || words[0] != "auth" || words.contains("-t"))
        }
        #expect(stage.hub.requests.isEmpty && !FileSystem.exists(file))
    }

    @Test func aWordNearAnActionIsPutRight() async throws {
        let result = try await stage.run("auth", "logn")
        #expect(result.status == 2)
        #expect(
            result.error
                == "hub: hub auth has no such subcommand\n     did you mean: hub auth login\n")
        #expect(
            try await stage.run("auth").error
                == "hub: hub auth needs a subcommand\n     it takes login, logout, ls, switch, whoami\n"
        )
    }

    @Test func withoutTheHubNothingIsKept() async throws {
        let offline = try await stage.run("auth", "login", "--offline", input: Self.secret)
        #expect(offline.status == 5)
        let away = try await stage.run(
            "auth", "login", with: Stage.away, input: Self.secret)
        #expect(away.status == 5 && away.error.hasPrefix("hub: \(ClosedPort.address) cannot be reached"))
        #expect(stage.hub.requests.isEmpty && !FileSystem.exists(stage.machine("hf")))
    }

    @Test func plainHTTPToAnotherMachineIsRefusedBeforeTheTokenIsRead() async throws {
        for action in ["login", "whoami"] {
            let result = try await stage.run(
                "auth", action, with: ["HF_ENDPOINT": "http://192.0.2.1", "HF_TOKEN": Self.secret],
                input: Self.secret)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(result.error.contains("hub: the token is not sent to http://192.0.2.1: it is plain http"))
        }
        #expect(!FileSystem.exists(file))
    }

    @Test(arguments: ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"])
    func aVariableThatGoesBeforeTheFileIsSaid(variable: String) async throws {
        for action in ["login", "logout"] {
            for flag in ["--color=never", "-q", "--json"] {
                let result = try await stage.run(
                    "auth", action, flag, with: [variable: "hf_other"], input: Self.secret)
                #expect(result.status == 0)
                #expect(
                    result.error == """
                        hub: warning: \(variable) is set and overrides the token file
                             unset \(variable)

                        """)
                if flag == "--json" {
                    #expect(try result.document()["environment_variable"] == .string(variable))
                }
            }
        }
        #expect(try await stage.run("auth", "login", with: [variable: " "], input: Self.secret).error.isEmpty)
    }

    @Test func aTokenThatNothingWillSendIsSaid() async throws {
        let variables = ["HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"]
        let login = try await stage.run("auth", "login", with: variables, input: Self.secret)
        #expect(login.status == 0 && login.error.contains("HF_HUB_DISABLE_IMPLICIT_TOKEN is set: no token is sent"))
        let whoami = try await stage.run("auth", "whoami", with: variables)
        #expect(whoami.status == 4 && whoami.error.contains("HF_HUB_DISABLE_IMPLICIT_TOKEN"))
    }

    @Test func aPlaceThatCannotHoldItIsExit6() async throws {
        try stage.machine.write("hf/token/inside", "x")
        let result = try await stage.run("auth", "login", input: Self.secret)
        #expect(result.status == 6 && result.output.isEmpty)
        #expect(
            result.error
                == "hub: the token file \(file) is not a file\n     HF_TOKEN_PATH chooses another file for the token\n"
        )
    }

    /// hub's token joins those of Python's client, which keep all that is known of them.
    @Test func storedTokensAreAddedToAndTakenFrom() async throws {
        let text = "[laptop]\nhf_token = hf_a\nrefresh_token = r%\nexpires_at = 1\n\n"
        let collection = try stage.machine.write("hf/stored_tokens", text)
        #expect(try await stage.run("auth", "login", input: Self.secret).status == 0)
        #expect(try FileSystem.text(collection) == "[hub serve]\nhf_token = \(Self.secret)\n\n" + text)
        #expect(try FileSystem.status(collection)?.mode == 0o600)
        let logout = try await stage.run("auth", "logout")
        #expect(
            logout.status == 0 && logout.error.isEmpty
                && logout.output == "signed out: \(file) is deleted, and \"hub serve\" is no longer saved\n")
        #expect(try FileSystem.text(collection) == text)
        let document = try await stage.run("auth", "logout", "--json").document()
        #expect(document == ["removed": false, "names": .array([]), "token_path": .string(file)])
    }

    @Test func damagedStoredTokensAreSaidAndLeft() async throws {
        let collection = try stage.machine.write("hf/stored_tokens", "what is this")
        let login = try await stage.run("auth", "login", input: Self.secret)
        #expect(login.status == 0, "the token itself is kept")
        let reason = "the stored tokens in \(collection) cannot be read: line 1 is text before the first section"
        #expect(login.error == "hub: warning: \(reason); the token is in \(file) alone\n")
        for words in [["ls"], ["switch", "x"], ["logout", "x"]] {
            let result = try await stage.run(["auth"] + words)
            #expect(result.status == 6 && result.error.hasPrefix("hub: \(reason)\n"), "\(words): \(result.error)")
        }
        let logout = try await stage.run("auth", "logout", "--all")
        #expect(logout.status == 6 && logout.output == "signed out: \(file) is deleted\n")
        #expect(try !FileSystem.exists(file) && FileSystem.text(collection) == "what is this")
    }

    // MARK: logout

    @Test func logoutRemovesTheFileAndAsksNobody() async throws {
        try stage.machine.write("hf/token", Self.secret)
        let result = try await stage.run("auth", "logout", "--offline")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.output == "signed out: \(file) is deleted\n")
        #expect(!FileSystem.exists(file))
        #expect(try await stage.run("auth", "logout").output == "not signed in: there is no token in \(file)\n")
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func logoutSaysWhatALinkLeavesBehind() async throws {
        try stage.machine.write("vault", Self.secret)
        try FileSystem.createDirectories(stage.machine("hf"))
        try FileSystem.createSymlink("../vault", at: file)
        let result = try await stage.run("auth", "logout")
        #expect(result.status == 0)
        #expect(
            result.error.hasPrefix(
                "hub: warning: \(file) was a link; the token is still in \(stage.machine("vault"))\n"))
        #expect(FileSystem.exists(stage.machine("vault")))
    }

    // MARK: whoami

    @Test func whoamiSaysWhoAndWhere() async throws {
        stage.hub.fail(
            "whoami",
            .status(
                200, headers: ["Content-Type": "application/json"],
                body: """
                    {"type":"user","name":"ada","fullname":"Ada L.","orgs":[{"name":"engines"},{"name":"notes"}],
                    "auth":{"type":"access_token","accessToken":{"displayName":"laptop","role":"fineGrained"}}}
                    """), times: nil)
        let result = try await stage.run("auth", "whoami", with: ["HF_TOKEN": Self.secret])
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(
            result.output == """
                ada (Ada L.)
                  orgs        engines, notes
                  token       laptop (fineGrained)
                  from        HF_TOKEN
                  endpoint    \(stage.hub.endpoint)

                """)
        try stage.machine.write("hf/token", Self.secret)
        try FileSystem.setMode(file, 0o600)
        #expect(try await stage.run("auth", "whoami").output.contains("  from        \(file)\n"))
        let document = try await stage.run("auth", "whoami", "--json").document()
        document.expectKeys("user full_name orgs token_name token_role token_source token_path endpoint cannot")
        #expect(document.strings("orgs") == ["engines", "notes"] && document["token_source"] == "file")
        let variable = try await stage.run("auth", "whoami", "--json", with: ["HUGGING_FACE_HUB_TOKEN": "hf_x"])
        #expect(try variable.document()["token_source"] == "HUGGING_FACE_HUB_TOKEN")
        #expect(try variable.document()["token_path"] == nil)
    }

    @Test func whoamiWithoutATokenIsExit4AndAsksNobody() async throws {
        for words in [["auth", "whoami"], ["auth", "whoami", "--offline"]] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(result.status == 4 && result.output.isEmpty)
            #expect(
                result.error == """
                    hub: not signed in: HF_TOKEN is not set and \(file) does not exist
                         hub auth login saves one

                    """)
        }
        #expect(try await stage.run("auth", "whoami", "--json").errorCode() == "unauthorized")
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func whoamiWithATokenThatIsRefusedSaysWhichItIs() async throws {
        let variable = try await stage.run("auth", "whoami", with: ["HF_TOKEN": "hf_wrong-one"])
        #expect(variable.status == 4 && variable.error.contains("HF_TOKEN overrides the token file"))
        #expect(asked.count == 1, "it is not shown again")
        try stage.machine.write("hf/token", "hf_wrong-two")
        try FileSystem.setMode(file, 0o600)
        let kept = try await stage.run("auth", "whoami")
        #expect(
            kept.error == """
                hub: \(stage.hub.endpoint) refuses the token
                     it comes from \(file): hub auth login saves another there

                """)
        #expect(asked.count == 2)
    }

    @Test func whoamiWithoutTheNetworkIsExit5() async throws {
        let offline = try await stage.run("auth", "whoami", "--offline", with: ["HF_TOKEN": Self.secret])
        #expect(offline.status == 5)
        #expect(
            try await stage.run("auth", "whoami", "--offline", "--json", with: ["HF_TOKEN": "hf_x"]).errorCode()
                == "offline")
        let away = try await stage.run(
            "auth", "whoami", with: ["HF_TOKEN": Self.secret, "HF_ENDPOINT": ClosedPort.address])
        #expect(away.status == 5 && away.error.contains("cannot be reached"))
    }

    // MARK: A file that others can read

    @Test func aTokenFileThatIsOpenToOthersIsSaidOnceByWhatUsesIt() async throws {
        try stage.machine.write("hf/token", Self.secret)
        try FileSystem.setMode(file, 0o644)
        let warning = "hub: warning: the token file is open to others (mode 644): chmod 600 '\(file)'\n"
        for words in [["pull", "org/tiny"], ["info", "org/tiny"], ["search", "tiny"], ["auth", "whoami"]] {
            for flag in ["--progress=none", "-q", "--json"] {
                let result = try await stage.run(words + [flag])
                #expect(result.status == 0 && result.error == warning, "\(words) \(flag): \(result.error)")
            }
        }
        for words in [
            ["ls"], ["search", "tiny", "--offline"], ["pull", "org/tiny", "--offline", "-q"], ["version"],
        ] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(result.status == 0 && result.error.isEmpty, "\(words): \(result.error)")
        }
        // Another token is used, so the file does not matter.
        let variable = try await stage.run("info", "org/tiny", "-q", with: ["HF_TOKEN": Self.secret])
        #expect(variable.error.isEmpty)
        #expect(try await stage.run("auth", "login", input: Self.secret).error.isEmpty, "login fixes it")
        #expect(try FileSystem.status(file)?.mode == 0o600)
    }
}
