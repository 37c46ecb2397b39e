import HubCore
import Support
import Testing

/// What people mistype, and what a Hub answers no to: each told apart, each with what to do about it.
@Suite struct BadInputTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            try ModelRepository.tiny("org/tiny", in: root)
            let hidden = try ModelRepository("org/private", in: root)
            try hidden.write("config.json", "{}")
            try hidden.card(["private": true])
            let gated = try ModelRepository("org/gated", in: root)
            try gated.write("config.json", "{}")
            try gated.card(["gated": "manual"])
        }
    }

    /// 50 was surely meant as GB; taken as bytes it would empty the cache.
    @Test(arguments: [
        ["gc", "--max-size", "50", "--yes"], ["search", "--smaller-than", "50"], ["search", "--fits=50"],
        ["ls", "--larger-than", "50"],
    ])
    func aSizeWithoutAUnitIsRefused(words: [String]) async throws {
        let result = try await Stage().run(words)
        #expect(result.status == 2)
        #expect(result.error.contains("50 has no unit\n"), "\(result.error)")
        #expect(result.error.contains("write 50GB, 50MB or 50B"))
    }

    @Test(arguments: [
        (".x/y", "\".x/y\" is not a repository name: a part begins or ends with \".\""),
        (
            "café/x",
            "\"café/x\" is not a repository name: \"é\" is not allowed; letters, digits, \"_\", \".\" and \"-\" are"
        ),
        ("", "\"\" is not a repository name: a part is empty"),
        ("org/", "\"org/\" is not a repository name: a part is empty"),
        ("@main", "\"\" is not a repository name: a part is empty"),
        ("a--b/c", "\"a--b/c\" is not a repository name: it contains \"--\""),
    ])
    func aNameThatIsNoneIsExit2WithWhatIsWrong(name: String, fault: String) async throws {
        for command in ["info", "pull", "ls", "path", "pin", "rm", "verify"] {
            let result = try await stage.run(command, "--", name)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(result.error == "hub: \(fault)\n     names look like org/name\n", "\(command)")
        }
        #expect(try await stage.run("info", name, "--json").errorCode() == "invalid_input")
        #expect(stage.hub.requests.isEmpty && !FileSystem.exists(stage.cache))
    }

    @Test(arguments: [
        ("a/b/c", "\"a/b/c\" is not a repository name: it has 3 parts", "for a file of a/b write a/b:c"),
        (
            "org/tiny/sub/config.json", "\"org/tiny/sub/config.json\" is not a repository name: it has 4 parts",
            "for a file of org/tiny write org/tiny:sub/config.json"
        ),
        (
            "/etc", "\"/etc\" is not a repository name: it is a folder or file",
            "names look like org/name; hub try and hub chat take folders"
        ),
        (
            "./models", "\"./models\" is not a repository name: it is a folder or file",
            "names look like org/name; hub try and hub chat take folders"
        ),
        ("org/*", "\"org/*\" is not a repository name: it is a glob", "one model is meant here: write org/name"),
    ])
    func aPathIsToldFromAName(name: String, fault: String, advice: String) async throws {
        for command in ["info", "pull", "path"] {
            let result = try await stage.run(command, name)
            #expect(result.status == 2 && result.error == "hub: \(fault)\n     \(advice)\n")
        }
    }

    /// A git address that was copied with its password.
    @Test(arguments: [
        "http://user:SECRET@host/a/m", "HTTPS://user:SECRET@huggingface.co/a/m", "http:/user:SECRET@host/a/m",
        "http:user:SECRET@host/a/m", "ftp://user:SECRET@host/a/m", "git+https://user:SECRET@host/a/m",
        "//user:SECRET@host/a/m", "user:SECRET@host/a/m", "hf://user:SECRET@host/a/m", "http://SECRET@host/a/m",
        "http://user:SE/SECRET@host/a/m", "http://user:SE SECRET@host/a/m", "http://user:SE\"SECRET@host/a/m",
        "http://user:SE?SECRET@host/a/m", "http://host/a/m?token=SECRET", "http://host/a/m#SECRET",
        "http:\\\\user:SECRET@host\\a", "a/m@http://user:SECRET@host", "hf_SECRETsecretSECRETsecret0123456789ab",
    ])
    func credentialsInAReferenceAreNotRepeated(reference: String) async throws {
        for command in ["info", "pull", "path", "rm", "ls", "pin", "try", "verify"] {
            for form in ["-v", "--json"] {
                let result = try await stage.run(command, form, reference)
                #expect(result.status >= 2 && !(result.output + result.error).contains("SECRET"), "\(command)")
            }
        }
    }

    @Test func aNameNearAKnownOneIsPutRight() async throws {
        let asked = "     did you mean org/tiny?\n"
        // The Hub's list is what the catalog knows.
        #expect(try await stage.run("search", "-q").status == 0)
        for command in ["info", "pull", "try"] {
            let near = try await stage.run(command, "org/tinny")
            #expect(near.status == 3 && near.error.contains(asked), "\(command): \(near.error)")
        }
        let other = try await stage.run("pull", "nobody/Tiny")
        #expect(other.error.contains("     another author's: org/tiny\n"))
        #expect(other.error.contains("check the spelling"))
        #expect(try await stage.run("pull", "tiny").error.contains(asked))
        #expect(try await stage.run("pull", "org/zebra").error.contains("did you mean") == false)
        let path = try await stage.run("path", "org/tinny")
        #expect(path.status == 3 && !path.error.contains("did you mean"), "it is not cached either")
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        for command in ["path", "rm", "pin"] {
            let near = try await stage.run(command, "org/tinny")
            #expect(near.status == 3 && near.error.contains(asked), "\(command): \(near.error)")
        }
        let json = try await stage.run("info", "org/tinny", "--json").document()
        #expect(json["error"]?["advice"]?.string?.hasPrefix("did you mean org/tiny?\n") == true)
    }

    @Test func anAliasNearAKnownOneIsPutRight() async throws {
        let asked = "     did you mean llama-3.2-1b?\n"
        let near = try await stage.run("pull", "llama-3.2-1bb")
        #expect(near.status == 3 && near.error.contains(asked), "\(near.error)")
        // A command of the cache names only what is there.
        let cached = try await stage.run("rm", "llama-3.2-1bb", "--yes")
        #expect(cached.status == 3 && !cached.error.contains("did you mean"))
        let added = try await stage.run("registry", "add", "my-tiny", "org/tiny")
        #expect(added.status == 0, "\(added.error)")
        #expect(try await stage.run("pull", "-q", "my-tiny").status == 0)
        let own = try await stage.run("rm", "my-tinny", "--yes")
        #expect(own.status == 3 && own.error.contains("     did you mean my-tiny?\n"), "\(own.error)")
    }

    @Test func aNameOf97CharactersIsTooLong() async throws {
        let result = try await stage.run("pull", String(repeating: "a", count: 97))
        #expect(result.status == 2 && result.error.contains("97 characters, at most 96 are allowed"))
        #expect(try await stage.run("info", String(repeating: "a", count: 96)).status == 3)
    }

    /// `ftp://x` was taken for the file `//x` of a model `ftp`.
    @Test func anAddressOfAnotherHostOrKindIsExit2() async throws {
        let other = try await stage.run("pull", "https://example.com/org/tiny")
        #expect(other.status == 2)
        #expect(
            other.error == """
                hub: "https://example.com/org/tiny" is on another Hub than \(stage.hub.endpoint)
                     name that Hub: --endpoint https://example.com

                """)
        let scheme = try await stage.run("pull", "ftp://example.com/org/tiny")
        #expect(scheme.status == 2)
        #expect(
            scheme.error == """
                hub: "ftp://example.com/org/tiny" is not a reference: addresses begin with https://, http:// or hf://

                """)
        #expect(stage.hub.requests.isEmpty)
    }

    @Test(arguments: ["notaurl", "ftp://x", "http://user:secret@127.0.0.1:1", "http://127.0.0.1:1/?token=secret"])
    func anEndpointThatIsNoneIsExit2(endpoint: String) async throws {
        let result = try await stage.run("pull", "org/tiny", with: ["HF_ENDPOINT": endpoint])
        #expect(result.status == 2 && result.error.contains("is not the address of a Hub\n"))
        let flag = try await stage.run("--endpoint", endpoint, "search")
        #expect(flag.status == 2)
    }

    @Test func repositoryRevisionAndFileAreToldApart() async throws {
        let endpoint = stage.hub.endpoint
        for command in ["info", "pull"] {
            let repository = try await stage.run(command, "org/none")
            #expect(repository.status == 3)
            #expect(
                repository.error == """
                    hub: model org/none not found on \(endpoint)
                         check the spelling; a private repository looks the same without a token: hub auth login, or set HF_TOKEN

                    """)
            let revision = try await stage.run(command, "org/tiny@v9", "--json")
            #expect(revision.status == 3)
            #expect(try revision.errorCode() == "revision_not_found")
            #expect(revision.error.hasPrefix("hub: org/tiny has no revision \"v9\"\n"))
        }
        let file = try await stage.run("pull", "org/tiny:none.txt")
        #expect(file.status == 3 && file.error.hasPrefix("hub: no file of org/tiny matches \"none.txt\"\n"))
        #expect(!FileSystem.exists(stage.cache))
    }

    @Test func aPrivateRepositoryLooksMissingWithoutItsToken() async throws {
        let without = try await stage.run("pull", "org/private")
        let missing = try await stage.run("pull", "org/absent")
        #expect(without.status == 3 && missing.status == 3)
        #expect(without.error.replacing("org/private not", with: "org/absent not") == missing.error)
        let with = try await stage.run("pull", "org/private", "-q", with: ["HF_TOKEN": "hf_loopback"])
        #expect(with.status == 0 && with.error.isEmpty)
    }

    @Test func aGatedModelSaysWhereToAsk() async throws {
        let result = try await stage.run("pull", "org/gated")
        #expect(result.status == 4 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: org/gated is gated: its owner grants access
                     ask for access at \(stage.hub.endpoint)/org/gated, and give hub a token: hub auth login, or set HF_TOKEN

                """)
        #expect(try await stage.run("pull", "org/gated", "--json").errorCode() == "gated")
        // What it is can be read by all.
        let info = try await stage.run("info", "org/gated")
        #expect(info.status == 0 && info.output.contains("  access      gated (manual)\n"))
        #expect(try await stage.run("pull", "org/gated", "-q", with: ["HF_TOKEN": "hf_loopback"]).status == 0)
    }

    @Test func aTokenThatIsRefusedIsExit4AndNeverShown() async throws {
        stage.hub.fail(
            "/api/models/org/tiny",
            .status(401, body: "{\"error\":\"Invalid credentials in Authorization header\"}"),
            times: nil)
        for words in [["pull", "org/tiny", "-v"], ["info", "org/tiny", "-v", "--json"]] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words,
                environment: stage.environment.merging(["HF_TOKEN": "hf_verysecret"]) { $1 })
            #expect(result.status == 4)
            #expect(result.error.contains("HF_TOKEN"))
            #expect(!(result.error + result.output).contains("verysecret"))
        }
    }

    @Test func aHubThatIsAwayIsExit5() async throws {
        let environment = stage.environment.merging(Stage.away) { $1 }
        for words in [["pull", "org/tiny"], ["info", "org/tiny"], ["try", "org/tiny", "--yes"]] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: environment)
            #expect(result.status == 5 && result.output.isEmpty)
            #expect(result.error.hasPrefix("hub: \(ClosedPort.address) cannot be reached"))
            #expect(result.error.hasSuffix("     check the network, the proxy variables and HF_ENDPOINT\n"))
        }
        #expect(!FileSystem.exists(stage.cache))
    }
}
