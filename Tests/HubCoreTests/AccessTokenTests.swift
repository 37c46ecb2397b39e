import HubCore
import Support
import Testing

@Suite struct AccessTokenTests {
    /// Trap 38: a token file may end in a line end.
    @Test(
        arguments: [
            ("hf_abc", "hf_abc"), ("  hf_abc\n", "hf_abc"), ("hf_\r\nabc\r", "hf_abc"),
            ("\u{A0}hf_abc\t", "hf_abc"),
            ("", nil), (" \r\n", nil), ("hf abc", nil), ("hf_ä", nil), ("hf_\u{0}", nil), ("hf_\u{1B}[1m", nil),
            ("a\tb", nil), ("\n\r\n\r", nil),
        ] as [(String, String?)])
    func isCleanedAsPythonDoesAndCannotSplitAHeader(_ text: String, _ secret: String?) {
        #expect(AccessToken(text)?.secret == secret)
    }

    @Test func aServersWordsAreShownWithoutIt() throws {
        let token = try #require(AccessToken("hf_verysecret"))
        #expect(token.masked(in: "Bearer hf_verysecret, hf_verysecret!") == "Bearer (token), (token)!")
        #expect(token.masked(in: "hf_verysecre") == "hf_verysecre")
        #expect(AccessToken("a")?.masked(in: "a banana") == "a banana")
    }

    private struct Holder { var token: AccessToken; var provider: HFTokenProvider; var list: [AccessToken?] }

    @Test func noWayOfPrintingShowsIt() throws {
        let secret = "hf_verysecret"
        let token = try #require(AccessToken(secret))
        let holder = Holder(token: token, provider: .static(token), list: [token])
        var dumped = ""
        dump(holder, to: &dumped)
        dump(token, to: &dumped)
        dump([token: token], to: &dumped)
        let error = AIError(.unauthorized, "the token \(token) was refused", context: .init(path: "\(token)"))
        let texts = [
            dumped, "\(token)", String(describing: token), String(reflecting: token), "\(holder)",
            String(reflecting: holder), "\(HFTokenProvider.static(token))",
            String(reflecting: HFTokenProvider.static(token)), "\([token: 1])", "\(Optional(token) as Any)",
            "\(error)", String(reflecting: error), "\(Mirror(reflecting: token).children.map(\.value))",
        ]
        for text in texts { #expect(!text.contains(secret) && !text.contains("verysecret"), "\(text)") }
        #expect(dumped.contains("(token)"))
    }
}

@Suite struct HFTokenProviderTests {
    private func environment(_ folder: TemporaryFolder, _ variables: [String: String] = [:]) -> HubEnvironment {
        HubEnvironment(["HF_HOME": folder.path].merging(variables) { $1 })
    }

    /// Trap 37: HUGGING_FACE_HUB_TOKEN still counts.
    @Test func theVariablesComeBeforeTheFile() throws {
        let folder = try TemporaryFolder()
        try folder.write("token", "hf_file\n")
        func secret(_ variables: [String: String]) throws -> String? {
            try HFTokenProvider.auto.token(in: environment(folder, variables))?.secret
        }
        #expect(try secret([:]) == "hf_file")
        #expect(try secret(["HUGGING_FACE_HUB_TOKEN": "hf_old"]) == "hf_old")
        #expect(try secret(["HF_TOKEN": "hf_new", "HUGGING_FACE_HUB_TOKEN": "hf_old"]) == "hf_new")
        #expect(try secret(["HF_TOKEN": "", "HUGGING_FACE_HUB_TOKEN": " \n"]) == "hf_file")
        #expect(try secret(["HF_TOKEN": "hf_new", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"]) == nil)
        #expect(try secret(["HF_HUB_DISABLE_IMPLICIT_TOKEN": "0"]) == "hf_file")
        try folder.write("other", "hf_other")
        #expect(try secret(["HF_TOKEN_PATH": folder("other")]) == "hf_other")
    }

    @Test func withoutAnyTokenOneIsAnonymous() throws {
        let folder = try TemporaryFolder()
        #expect(try HFTokenProvider.auto.token(in: environment(folder)) == nil)
        try folder.write("token", "\n")
        #expect(try HFTokenProvider.auto.token(in: environment(folder)) == nil)
        #expect(try HFTokenProvider.none.token(in: environment(folder, ["HF_TOKEN": "hf_x"])) == nil)
    }

    @Test func aGivenTokenIsTakenWhateverTheEnvironmentSays() throws {
        let folder = try TemporaryFolder()
        let token = try #require(AccessToken("hf_given"))
        let found = try HFTokenProvider.static(token).token(
            in: environment(folder, ["HF_TOKEN": "hf_x", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"]))
        #expect(found == token)
    }

    @Test func aTokenThatIsNoneNamesItsSourceAndNotItself() throws {
        let folder = try TemporaryFolder()
        try folder.write("token", "hf_half secret\n")
        for variables in [[:], ["HF_TOKEN": "hf_half secret"]] {
            let error = #expect(throws: AIError.self) {
                try HFTokenProvider.auto.token(in: environment(folder, variables))
            }
            #expect(error?.code == .invalidInput)
            #expect(error?.message.contains(variables.isEmpty ? folder("token") : "HF_TOKEN") == true)
            #expect(error?.message.contains("secret") == false)
        }
    }

    #if !canImport(Security)
    @Test func aSystemWithoutAKeychainSaysSo() {
        let error = #expect(throws: AIError.self) {
            try HFTokenProvider.keychain(service: "s", account: "a").token()
        }
        #expect(error?.code == .invalidInput)
    }
    #endif

    @Test func aProviderIsDescribedByItsSource() {
        #expect(HFTokenProvider.keychain(service: "s", account: "a").description == "keychain item s/a")
        #expect(HFTokenProvider.none.description == "no token")
    }
}
