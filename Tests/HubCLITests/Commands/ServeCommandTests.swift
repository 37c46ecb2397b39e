@testable import HubCLI
import HubCore
import HubServer
import Support
import Testing

@Suite struct ServeCommandTests {
    let stage: Stage

    init() throws { stage = try Stage { try ModelRepository.tiny("org/tiny", in: $0) } }

    private func address(of server: RunningProcess) async throws -> String {
        let text = try await server.wait(forText: "export HF_ENDPOINT=")
        try await server.wait(forText: "stops it\n")
        let address = text.prefix { $0 != "\n" }
        #expect(address.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+/) != nil)
        return String(address)
    }

    @Test func theFirstLineIsTheAddressAndAnotherHubCanPullFromIt() async throws {
        let server = try stage.start("serve", stage.root.path)
        let address = try await address(of: server)
        let pulled = try await stage.run("--endpoint", address, "pull", "org/tiny", "-q")
        #expect(pulled.status == 0 && pulled.error.isEmpty)
        server.interrupt()
        let result = try await server.wait()
        #expect(result.output == "\(address)\nexport HF_ENDPOINT=\(address)\n")
        #expect(result.error == "hub: serving 1 model from \(stage.root.path); Ctrl-C stops it\n")
    }

    /// A client that was told an address once finds the server there again; where the port is taken, another will do.
    @Test func theUsualPortIsKept() async throws {
        let first = try stage.start("serve", stage.root.path, "--port", "0")
        let address = try await address(of: first)
        let port = try #require(address.split(separator: ":").last.map(String.init))
        let second = try stage.start(["serve", stage.root.path], with: ["HUB_SERVE_PORT": port])
        let other = try await self.address(of: second)
        let otherPort = try #require(other.split(separator: ":").last.map(String.init))
        #expect(other != address)
        second.interrupt()
        #expect(
            try await second.wait().error.hasPrefix(
                "hub: port \(port) is taken; this server has port \(otherPort)\n"))
        first.interrupt()
        _ = try await first.wait()
        let third = try stage.start(["serve", stage.root.path], with: ["HUB_SERVE_PORT": port])
        #expect(try await self.address(of: third) == address)
        let status = try await stage.run(["serve", "status"], with: ["HUB_SERVE_PORT": port, "HF_ENDPOINT": ""])
        #expect(status.status == 0 && status.output.hasPrefix("\(address) answers: "), "\(status.error)")
        #expect(status.output.contains("started") && status.output.contains("requests"))
        #expect(!status.output.contains("_total") && !status.output.contains("_bucket"))
        let all = try await stage.run(
            ["serve", "status", "-v"], with: ["HUB_SERVE_PORT": port, "HF_ENDPOINT": ""])
        #expect(all.output.contains("process_cpu_seconds_total"))
        third.interrupt()
        _ = try await third.wait()
        let gone = try await stage.run("serve", "status", address)
        #expect(gone.status == 5 && gone.error.contains("is hub serve running there?"), "\(gone.error)")
        let typo = try await stage.run("serve", "statsu")
        #expect(typo.status == 3 && typo.error.contains("did you mean: hub serve status"), "\(typo.error)")
        #expect(try await stage.run("serve", "status", "foo").error.contains("write it like http://127.0.0.1:"))
        let wrong = try await stage.run(["serve", stage.root.path], with: ["HUB_SERVE_PORT": "x"])
        #expect(wrong.status == 2 && wrong.error.contains("HUB_SERVE_PORT is \"x\", which is no port"))
        #expect(try await stage.run("serve", "mirror", "--open").status == 2)
    }

    /// A folder with nothing to serve, or a cache, was served without a word.
    @Test func aFolderWithoutModelsIsWarnedOf() async throws {
        let layout = "     hub serve takes a folder that holds org/name folders"
        let root = try #require(FileSystem.resolved(stage.root.path))
        let snapshots = "hf/hub/models--org--tiny/snapshots"
        #expect(try await stage.run("pull", "org/tiny", "-q").status == 0)
        try FileSystem.createDirectories(stage.machine("empty"))
        var cases = [
            ("empty", "no models found in empty", layout),
            (
                "\(root)/org/tiny", "\(root)/org/tiny is one model",
                "     hub serve \(ShellQuoting.word(root)) serves it"
            ),
        ]
        for folder in ["hf/hub", "hf", "hf/hub/models--org--tiny", snapshots] {
            cases.append(
                (
                    folder, "\(folder) is a cache or part of one, and not a folder of models",
                    "     hub serve without a folder serves the cache"
                ))
        }
        for (folder, warning, advice) in cases {
            let server = try stage.start("serve", folder)
            try await server.wait(forText: advice + "\n")
            server.interrupt()
            let result = try await server.wait()
            #expect(result.error == "hub: warning: \(warning)\n\(advice)\n")
        }
    }

    @Test func everyRequestIsALineOfTheLog() async throws {
        let line = /\d{4}-\d\d-\d\dT[0-9:.]+Z 127\.0\.0\.1 GET \/api\/models\/org\/tiny\?x=\(token\) 200 \d+/
        let refused = /\S+Z 127\.0\.0\.1 POST \/ 400 \d+/
        for log in ["log.txt", "-"] {
            let server = try stage.start(
                "serve", stage.root.path, "--log", log, with: ["HUB_SERVE_TOKEN": "secret-secret"])
            let address = try await address(of: server)
            #expect(try await HTTPClient.get("\(address)/api/models/org/tiny?x=secret-secret").status == 200)
            try await Thread.run {
                let connection = try HTTPConnection(address)
                try connection.send("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")
                #expect(try connection.reply().status == 400)
            }
            server.interrupt()
            let result = try await server.wait()
            let written = log == "-" ? result.error : try #require(try FileSystem.text(stage.machine(log)))
            let lines = written.split(separator: "\n").filter { !$0.hasPrefix("hub: ") }
            try #require(lines.count == 2, "\(written)")
            #expect(lines[0].wholeMatch(of: line) != nil, "\(lines[0])")
            #expect(lines[1].wholeMatch(of: refused) != nil, "\(lines[1])")
        }
    }

    #if os(Linux)
    /// Deep JSON takes more than 100 KiB of a thread's stack, whose connection may then stay idle.
    @Test func anIdleConnectionKeepsNoDeepStack() async throws {
        // A sanitizer has memory of its own for each thread.
        guard Sanitizer.options.isEmpty else { try Test.cancel("not under a sanitizer") }
        let server = try stage.start("serve", stage.root.path)
        let address = try await address(of: server)
        let growth = try await Thread.run {
            func memory() throws -> Int {
                let text = try HTTPConnection(address).request("GET", "/metrics").text
                let line = text.split(separator: "\n").first { $0.hasPrefix("process_resident_memory_") }
                return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
            }
            let lists = String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000)
            let deep = Array(#"{"paths":\#(lists)}"#.utf8)
            func idle() throws -> HTTPConnection {
                let connection = try HTTPConnection(address)
                for _ in 0..<2 { try #require(connection.request("GET", "/api/models/org/tiny").status == 200) }
                let reply = try connection.request(
                    "POST", "/api/models/org/tiny/paths-info/main", headers: ["Content-Type": "application/json"],
                    body: deep)
                try #require(reply.status == 400)
                return connection
            }
            let first = try idle()
            let before = try memory()
            let others = try (0..<100).map { _ in try idle() }
            return try withExtendedLifetime((first, others)) { (try memory() - before) / others.count }
        }
        #expect(growth < 80 << 10)
        server.interrupt()
        #expect(try await server.wait().status == 0)
    }
    #endif

    /// Being asked to stop is how a server ends, not a failure.
    @Test(arguments: [2, 15] as [Int32]) func aSignalIsItsOrdinaryEnd(signal: Int32) async throws {
        let server = try stage.start("serve", stage.root.path)
        try await server.wait(forText: "stops it\n")
        server.send(signal)
        let result = try await server.wait()
        #expect(result.status == 0 && !result.wasKilled)
    }

    /// The document was written when the server ended, too late to use its address.
    @Test func theDocumentComesAtOnceAndIsTheOnlyOne() async throws {
        let server = try stage.start("serve", stage.root.path, "--json")
        try await server.wait(forText: "\n")
        server.interrupt()
        let result = try await server.wait()
        let document = try result.document()
        document.expectKeys("address models")
        #expect(document["models"] == 1)
        #expect(document["address"]?.string?.hasPrefix("http://127.0.0.1:") == true)
        #expect(result.status == 0)
    }

    /// The advice was about the files of a model.
    @Test func whatIsNoFolderIsExit3() async throws {
        try FileSystem.replace(stage.machine("file"), with: [])
        for word in ["nowhere", "file"] {
            let result = try await stage.run("serve", word)
            #expect(result.status == 3 && result.output.isEmpty)
            #expect(
                result.error == """
                    hub: \(word) is not a folder
                         hub serve takes a folder that holds org/name folders

                    """)
        }
    }

    @Test func aPortInUseIsExit6() async throws {
        let port = String(stage.hub.endpoint.split(separator: ":").last!)
        let result = try await stage.run("serve", stage.root.path, "--port", port)
        #expect(result.status == 6 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: cannot listen on 127.0.0.1:\(port): Address already in use
                     --port 0 takes a port that is free

                """)
    }

    @Test func offTheLoopbackItWantsATokenOfItsOwn() async throws {
        for variables in [[:], ["HF_TOKEN": "hf_mine"], ["HUB_SERVE_TOKEN": ""]] {
            let result = try await stage.run("serve", stage.root.path, "--host", "0.0.0.0", with: variables)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(
                result.error == """
                    hub: 0.0.0.0 can be reached by others, and no token is set
                         set HUB_SERVE_TOKEN, or serve on 127.0.0.1

                    """)
        }
    }

    /// The requests that hub refuses before it listens, and what it says.
    @Test func flagsThatDoNotGoTogetherAreExit2() async throws {
        try FileSystem.replace(stage.machine("empty"), with: Array("# none\n".utf8))
        let cases: [([String], String)] = [
            (["mirror", "models"], "hub serve mirror does not know \"models\""),
            (["--ttl", "1m"], "--ttl is not a flag of hub serve hub"),
            (["mirror", "--auth-file", "x"], "--auth-file needs --auth own"),
            (["mirror", "--auth", "own"], "--auth own needs a token"),
            (["mirror", "--auth", "own", "--auth-file", "empty"], "empty holds no token"),
            (["mirror", "--auth", "forward", "--offline"], "--auth forward asks the Hub about each client"),
            (["mirror", "--host", "0.0.0.0"], "--auth is missing"),
            (["mirror", "--host", "0.0.0.0", "--auth", "none"], "0.0.0.0 can be reached by others"),
            (
                ["mirror", "--trust-proxy", "127.0.0.1"],
                "by a proxy this server can be reached by others, and --auth"
            ),
            (["models", "--trust-proxy", "127.0.0.1"], "can be reached by others, and no token is set"),
            (["--trust-proxy", "proxy.test"], "proxy.test is not an IP address"),
            (["--host", "0.0.0.0"], "0.0.0.0 can be reached by others, and no token is set"),
            (
                ["mirror", "--port", "7999", "--upstream", "http://localhost:7999"],
                "http://localhost:7999 is this mirror itself"
            ),
            (
                ["mirror", "--upstream", "http://127.0.0.1:4820", "--port", "4820"],
                "http://127.0.0.1:4820 is this mirror itself"
            ),
            (["a", "b"], "unexpected argument \"b\""),
        ]
        for (words, message) in cases {
            let result = try await stage.run(["serve"] + words)
            #expect(result.status == 2 && result.output.isEmpty, "\(words)")
            #expect(result.error.contains(message), "\(words): \(result.error)")
        }
    }

    /// Without a folder it serves what the cache has, whichever tool put it there, and asks nobody.
    @Test func aloneItServesTheCache() async throws {
        #expect(try await stage.run("pull", "org/tiny", "-q").status == 0)
        try stage.plant("models--acme--other", commit: String(repeating: "5", count: 40), files: ["a.txt": "a"])
        let asked = stage.hub.traffic.requests
        let server = try stage.start("serve")
        let address = try await address(of: server)
        let other = try Stage()
        for (model, file) in [("org/tiny", "config.json"), ("acme/other", "a.txt")] {
            let pulled = try await other.run("--endpoint", address, "pull", model, "-q")
            #expect(pulled.status == 0, "\(pulled.error)")
            #expect(FileSystem.exists(try await Path.join(other.path(model), file)))
        }
        #expect(try await HTTPClient.get("\(address)/org/tiny/resolve/main/none.txt").status == 404)
        #expect(stage.hub.traffic.requests == asked)
        server.interrupt()
        #expect(try await server.wait().status == 0)
    }

    @Test func theLogHasTheFormThatIsWanted() async throws {
        let common =
            /127\.0\.0\.1 - - \[\d\d\/[A-Z][a-z]{2}\/\d{4}:[\d:]{8} \+0000\] "GET \/health HTTP\/1\.1" 200 15/
        for form in ["common", "json"] {
            let server = try stage.start("serve", stage.root.path, "--log", "\(form).txt", "--log-format", form)
            let address = try await address(of: server)
            #expect(try await HTTPClient.get("\(address)/health").status == 200)
            server.interrupt()
            _ = try await server.wait()
            let text = try #require(try FileSystem.text(stage.machine("\(form).txt")))
            if form == "common" {
                #expect(text.dropLast().wholeMatch(of: common) != nil, "\(text)")
            } else {
                let line = try JSON.parse(text)
                #expect(line["target"] == "/health" && line["status"] == 200 && line["bytes"] == 15, "\(text)")
            }
        }
    }

    /// Datasets and spaces pass through a mirror like models.
    @Test func aMirrorServesOtherKindsToo() async throws {
        let stage = try Stage { root in
            for kind in ["datasets", "spaces"] { try ModelRepository.tiny("\(kind)/org/tiny", in: root) }
        }
        let server = try stage.start("serve", "mirror")
        let address = try await address(of: server)
        for kind in ["datasets", "spaces"] {
            let file = try await HTTPClient.get("\(address)/\(kind)/org/tiny/resolve/main/sub/dir/vocab.txt")
            #expect(file.status == 200 && file.text == "a\nb\n", "\(kind)")
        }
        server.interrupt()
        #expect(try await server.wait().status == 0)
    }
}
