import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

/// `hub serve api` as a program: what it says, what it refuses, and an answer. Peers has it between real clients.
@Suite struct ServeAPITests {
    private func ask(_ address: String, _ path: String, _ body: JSON, headers: HTTPHeaders = [:]) async throws
        -> HTTPReply
    {
        try await Thread.run {
            try HTTPConnection(address).request("POST", path, headers: headers, body: Array(body.text().utf8))
        }
    }

    private func stop(_ server: RunningProcess) async throws -> ProcessResult {
        server.interrupt()
        return try await server.wait()
    }

    private static let chat = JSON.object([
        "model": "org/tiny", "max_tokens": 4,
        "messages": .array([.object(["role": "user", "content": "To be"])]),
    ])

    @Test func itSaysHowItIsUsedAndAnswers() async throws {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "org/tiny", "-q").status == 0)
        let server = try stage.start("serve", "api")
        try await server.wait(forText: "may ask\n")
        let text = try await server.wait(forText: "export OPENAI_BASE_URL=")
        let address = String(text.prefix { $0 != "\n" })
        let answer = try await ask(address, "/v1/chat/completions", Self.chat)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try answer.json()["usage"]?["completion_tokens"] == 4)
        let result = try await stop(server)
        #expect(result.status == 0)
        #expect(result.output == "\(address)\nexport OPENAI_BASE_URL=\(address)/v1\n")
        #expect(
            result.error == """
                hub: answering with the models of \(stage.cache); Ctrl-C stops it
                hub: no key is needed: everyone on this machine may ask

                """)
    }

    @Test func modelsOfFurtherCachesAreServed() async throws {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "org/tiny", "-q").status == 0)
        let server = try stage.start(
            "serve", "api", with: ["HF_HOME": stage.machine("mine"), "HUB_CACHE_PATH": stage.cache])
        let address = String(try await server.wait(forText: "export OPENAI").prefix { $0 != "\n" })
        let models = try await HTTPClient.get("\(address)/v1/models").json()["data"]?.array
        #expect(models?.map { $0["id"]?.string } == ["org/tiny"])
        #expect(models?.first?["task"] == "text-generation" && models?.first?["chat"] == true)
        #expect(try await ask(address, "/v1/chat/completions", Self.chat).status == 200)
        #expect(try await stop(server).status == 0)
    }

    /// The Hub's calls and the API's share a port and the beginning of their paths.
    @Test func theMirrorAndTheAPIShareAPort() async throws {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "org/tiny", "-q").status == 0)
        let server = try stage.start("serve", "all", "--json")
        let document = try JSON.parse(try await server.wait(forText: "}\n"))
        let address = try #require(document["address"]?.string)
        #expect(document["needs_key"] == false && document["upstream"]?.string == stage.hub.endpoint)
        let hub = try await HTTPClient.get("\(address)/api/models/org/tiny")
        #expect(try hub.json()["id"] == "org/tiny")
        let tags = try await HTTPClient.get("\(address)/api/tags")
        #expect(try tags.json()["models"]?.array?.first?["name"] == "org/tiny")
        let models = try await HTTPClient.get("\(address)/v1/models")
        #expect(try models.json()["data"]?.array?.count == 1)
        #expect(try await stop(server).status == 0)
    }

    @Test func keysComeFromAFileAsDigests() async throws {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "org/tiny", "-q").status == 0)
        let digest = ContentHasher.digest(of: Array("sesame".utf8), like: .sha256("")).hex
        try FileSystem.replace(stage.machine("keys"), with: Array("# ours\n\(digest)\n".utf8))
        let server = try stage.start("serve", "api", "--api-key-file", "keys", "--log", "log")
        try await server.wait(forText: "stops it\n")
        let address = String(try await server.wait(forText: "export OPENAI").prefix { $0 != "\n" })
        for (key, status) in [(String?.none, 401), ("open", 401), (digest, 401), ("sesame", 200)] {
            let headers: HTTPHeaders = key.map { ["Authorization": "Bearer \($0)"] } ?? [:]
            #expect(try await ask(address, "/v1/chat/completions", Self.chat, headers: headers).status == status)
        }
        let result = try await stop(server)
        let log = try FileSystem.text(stage.machine("log")) ?? ""
        #expect(!log.contains("sesame") && !result.error.contains("sesame"))
    }

    @Test func whatDoesNotGoTogetherIsExit2() async throws {
        let stage = try Stage()
        let cases: [([String], String)] = [
            (["--idle", "1m"], "--idle is not a flag of hub serve hub"),
            (["page", "--idle", "1m"], "--idle is about the API"),
            (["api", "models"], "hub serve api does not know \"models\""),
            (["api", "mirrr"], "hub serve api does not know \"mirrr\"; did you mean mirror?"),
            (["api", "--host", "0.0.0.0"], "0.0.0.0 can be reached by others, and the API has no key"),
            (["api", "--ttl", "1m"], "--ttl is about the mirror"),
            (["api", "--models", "a//b"], "a//b"),
            (["api", "--exact", "--fast"], "--exact"),
        ]
        for (words, message) in cases {
            let result = try await stage.run(["serve"] + words)
            #expect(result.status == 2 && result.output.isEmpty, "\(words)")
            #expect(result.error.contains(message), "\(words): \(result.error)")
        }
    }
}
