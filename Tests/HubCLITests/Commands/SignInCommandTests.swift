import HubCore
import HubServer
import Support
import Testing

/// `hub auth login --device` and `--browser`, with the real program.
@Suite struct SignInCommandTests {
    // MARK: Device: trap 23

    @Test func aConfirmedCodeSignsIn() async throws {
        let stage = try SignInStage()
        let process = try stage.start("auth", "login", "--device")
        try await process.wait(forText: "Open https://hf.co/oauth/device and enter the code ABCD-1234\n")
        try await stage.server.wait(for: "/oauth/token", count: 2)
        stage.server.allow()
        let result = try await process.wait()
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output == "Logged in as ada; the token is in \(stage.tokenPath)\n")
        let token = try #require(try FileSystem.text(stage.tokenPath))
        #expect(token.hasPrefix("hf_oauth_Access"))
        let stored = try #require(try FileSystem.text(stage.storedPath))
        #expect(stored.hasPrefix("[oauth-ada]\nhf_token = \(token)\nexpires_at = "))
        for path in [stage.tokenPath, stage.storedPath, stage.signInsPath] {
            #expect(try FileSystem.status(path)?.mode == 0o600)
        }
        let refresh = token.replacing("hf_oauth_Access", with: "Refresh")
        #expect(try stage.places(of: refresh) == ["state/sign-ins.json"], "Python must not present it")
        #expect(result.error.contains("; hub renews it before\n"))
        for secret in stage.server.secrets { #expect(!(result.output + result.error).contains(secret)) }
    }

    @Test func programsAreToldInTheirWay() async throws {
        let stage = try SignInStage { $0.givesRefreshToken = false }
        stage.server.allow()
        let result = try await stage.run("auth", "login", "--device", "--json", "--progress=json", "--verbose")
        #expect(result.status == 0)
        let document = try result.document()
        #expect(document["user"] == "ada" && document["token_path"] == .string(stage.tokenPath))
        #expect(document["expires_at"]?.string.flatMap(Timestamp.parse) != nil)
        let events = try result.error.split(separator: "\n").map { try JSON.parse(String($0)) }
        let event = try #require(events.first { $0["event"] == "sign_in" })
        #expect(event["code"] == "ABCD-1234" && event["address"] == "https://hf.co/oauth/device")
        #expect(events.contains { $0["message"]?.string?.hasSuffix("and then you have to sign in again") == true })
        for secret in stage.server.secrets { #expect(!(result.output + result.error).contains(secret)) }
    }

    @Test func anInterruptedSignInLeavesNothing() async throws {
        let stage = try SignInStage()
        let process = try stage.start("auth", "login", "--device")
        try await stage.server.wait(for: "/oauth/token", count: 2)
        process.interrupt()
        let result = try await process.wait()
        #expect(result.status == 130 && result.error.hasSuffix("hub: interrupted\n     no token was saved\n"))
        #expect(try stage.listing() == ["home"])
    }

    @Test func aDeniedOrExpiredCodeLeavesNothing() async throws {
        for (answer, status) in [("access_denied", Int32(4)), ("expired_token", 5), ("invalid_grant", 4)] {
            let stage = try SignInStage()
            stage.server.script(.html(502), .json(400, #"{"error":"\#(answer)"}"#))
            let result = try await stage.run("auth", "login", "--device")
            #expect(result.status == status && result.output.isEmpty, "\(result.error)")
            #expect(try stage.listing() == ["home"])
        }
        let late = try SignInStage { $0.device = ["interval": .double(0.05), "expires_in": .double(0.2)] }
        let result = try await late.run("auth", "login", "--device", "--json")
        #expect(try result.status == 5 && result.errorCode() == "timed_out")
        #expect(try late.listing() == ["home"])
    }

    @Test func aTokenThatTheHubThenRefusesIsNotKept() async throws {
        let stage = try SignInStage()
        stage.server.script(.json(200, #"{"access_token":"hf_oauth_unknown","refresh_token":"r"}"#))
        let result = try await stage.run("auth", "login", "--device")
        #expect(result.status == 4 && result.error.contains("it was not saved"))
        #expect(try stage.listing() == ["home"])
    }

    @Test(arguments: ["--device", "--browser"]) func withoutAnAppItIsSaidHowToMakeOne(flag: String) async throws {
        let stage = try SignInStage()
        let none = ["HF_DEVICE_CODE_OAUTH_CLIENT_ID": ""]
        let result = try await stage.run("auth", "login", flag, with: none)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.error.hasPrefix("hub: signing in without a token needs an OAuth app, and hub has none\n"))
        #expect(
            result.error.contains("make one at \(stage.server.endpoint)/settings/applications/new: a public app"))
        #expect(result.error.contains("http://127.0.0.1/callback"))
        #expect(stage.server.log.isEmpty)
        try stage.machine.write("state/oauth-client-id", "two words\n")
        #expect(
            try await stage.run("auth", "login", flag, with: none).error.contains("has spaces or several lines"))
        try stage.machine.write("state/oauth-client-id", "other-app\n")
        if flag == "--device" {
            let unknown = try await stage.run("auth", "login", flag, with: none)
            #expect(unknown.status == 4 && unknown.error.contains("refuses the OAuth app other-app"))
        }
    }

    @Test func flagsThatDoNotGoTogetherAreRefused() async throws {
        let stage = try SignInStage()
        for words in [["login", "--device", "--browser"], ["login", "--token-stdin", "--device"]] {
            let result = try await stage.run("auth", words[0], words[1], words[2])
            #expect(result.status == 2 && result.error.contains("cannot be used together"))
        }
        let foreign = try await stage.run("auth", "whoami", "--device")
        #expect(
            foreign.status == 2
                && foreign.error
                    == "hub: --device is not a flag of hub auth whoami\n     hub auth login takes it\n"
        )
        let offline = try await stage.run("auth", "login", "--device", "--offline")
        #expect(offline.status == 5 && stage.server.log.isEmpty)
    }

    @Test func aTokenFromStdinIsTakenWithoutAQuestion() async throws {
        let stage = try SignInStage { $0.pasted = ["hf_pasted-by-hand": "laptop"] }
        let result = try await stage.run("auth", "login", "--token-stdin", input: "hf_pasted-by-hand\n")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(try FileSystem.text(stage.storedPath) == "[laptop]\nhf_token = hf_pasted-by-hand\n\n")
        #expect(!FileSystem.exists(stage.machine("state")), "it is no sign-in")
        let terminal = try RunningProcess(
            BuiltProduct.path(), ["auth", "login", "--token-stdin"], environment: stage.environment(),
            directory: stage.machine.path, terminal: .init())
        let refused = try await terminal.wait()
        #expect(refused.status == 2 && refused.terminal.contains("stdin is a terminal"))
    }

    // MARK: Browser: trap 24

    /// The address that the program prints, once it has.
    private func address(_ process: RunningProcess) async throws -> String {
        let text = try await process.wait(forText: "Waiting for its answer")
        return try #require(text.split(separator: "\n").map(String.init).first { $0.hasPrefix("http") })
    }

    /// Where the Hub sends the browser once its person has allowed it.
    private func callback(_ address: String) async throws -> String {
        try #require(try await HTTPClient.get(address).headers["Location"])
    }

    @Test func theBrowserBringsTheAnswerAndNothingElseCounts() async throws {
        let stage = try SignInStage()
        let gate = Gate()
        stage.server.script(.hold(gate))
        let process = try stage.start("auth", "login", "--browser", "-v")
        let address = try await address(process)
        let good = try await callback(address)
        let origin = String(good.prefix { $0 != "?" }.dropLast("/callback".count))
        #expect(origin.hasPrefix("http://127.0.0.1:"))
        let code = try #require(good.split(separator: "=").dropFirst().first?.split(separator: "&").first)
        for (target, status) in [
            ("/favicon.ico", 404), ("/", 404), ("/callback", 400), ("/callback?code=\(code)", 400),
            ("/callback?code=\(code)&state=wrong", 400), ("/callback?error=access_denied&state=wrong", 400),
            ("/callback?error=access_denied", 400), ("/callback/?code=\(code)", 404), ("/callback?%", 400),
        ] {
            #expect(try await HTTPClient.get(origin + target).status == status, "\(target)")
        }
        #expect(try await HTTPClient.request("POST", good).status == 405)
        #expect(try await HTTPClient.get(good, headers: ["Host": "evil.example"]).status == 400)
        #expect(stage.server.log.allSatisfy { $0.path == "/oauth/authorize" }, "none of them was redeemed")

        let page = try await HTTPClient.get(good)
        #expect(page.status == 200 && page.isComplete && page.text.contains("You can close this page."))
        #expect(page.headers["Content-Security-Policy"] == "default-src 'none'")
        #expect(page.headers["Cache-Control"] == "no-store" && !page.text.contains(code))
        try await gate.reached()
        #expect(try await HTTPClient.get(good).status == 410, "it is good once")
        gate.release()
        let result = try await process.wait()
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output == "Logged in as ada; the token is in \(stage.tokenPath)\n")
        for secret in stage.server.secrets { #expect(!(result.output + result.error + address).contains(secret)) }
        #expect(!result.error.contains("code_verifier") && !result.error.contains(code))
        #expect(throws: (any Error).self) { _ = try HTTPConnection(origin).request("GET", "/callback") }
    }

    @Test func aRefusalEndsIt() async throws {
        for (query, status) in [("error=access_denied&error_description=no", Int32(4)), ("error=invalid_scope", 5)]
        {
            let stage = try SignInStage()
            let process = try stage.start("auth", "login", "--browser")
            let good = try await callback(try await address(process))
            let state = try #require(good.split(separator: "&").last)
            let page = try await HTTPClient.get(good.prefix { $0 != "?" } + "?\(query)&\(state)")
            #expect(page.status == 200 && page.text.contains("refused"))
            let result = try await process.wait()
            #expect(result.status == status, "\(result.error)")
            #expect(try stage.listing() == ["home"])
        }
    }

    @Test func anInterruptedBrowserLeavesNothing() async throws {
        let stage = try SignInStage()
        let process = try stage.start("auth", "login", "--browser")
        _ = try await address(process)
        process.interrupt()
        let result = try await process.wait()
        #expect(result.status == 130 && result.error.hasSuffix("hub: interrupted\n     no token was saved\n"))
        #expect(try stage.listing() == ["home"])
    }

    /// The program for addresses gets the address, and no secret.
    @Test func theBrowserIsOpenedWithoutSecrets() async throws {
        let stage = try SignInStage()
        #if os(macOS)
        let name = "open"
        #else
        let name = "xdg-open"
        #endif
        let program = try stage.machine.write(
            "bin/\(name)",
            "#!/bin/sh\n{ echo \"$@\"; env; } > \(stage.machine("seen.new"))\nmv \(stage.machine("seen.new")) \(stage.machine("seen"))\necho noise\n"
        )
        try FileSystem.setMode(program, 0o755)
        let process = try stage.start(
            "auth", "login", "--browser",
            with: [
                "PATH": stage.machine("bin") + ":/usr/bin:/bin", "DISPLAY": ":0",
                "HF_TOKEN": "hf_of-the-environment",
                "HUB_SERVE_TOKEN": "served",
            ])
        let address = try await address(process)
        try await eventually("the browser") { FileSystem.exists(stage.machine("seen")) }
        let seen = try #require(try FileSystem.text(stage.machine("seen")))
        #expect(seen.hasPrefix(address + "\n") && seen.contains("\nHOME="))
        #expect(!seen.contains("hf_of-the-environment") && !seen.contains("served"))
        _ = try await HTTPClient.get(try await callback(address))
        let result = try await process.wait()
        #expect(result.status == 0 && !result.output.contains("noise") && !result.error.contains("noise"))
        #expect(result.error.contains("HF_TOKEN is set and overrides the token file"))
    }
}
