import HubCore
import HubServer
import Libc
import Support
import Testing

@testable import HubCLI

/// What `hub serve` outlives: a file that is cut under it, and its own crash.
@Suite struct ServeSurvivalTests {
    private func chat(_ address: String, _ model: String) async throws -> HTTPReply {
        let body = JSON.object([
            "model": .string(model), "max_tokens": 4,
            "messages": .array([.object(["role": "user", "content": "To be"])]),
        ])
        return try await Thread.run {
            try HTTPConnection(address).request("POST", "/v1/chat/completions", body: Array(body.text().utf8))
        }
    }

    private func address(_ server: RunningProcess) async throws -> String {
        String(try await server.wait(forText: "export ").prefix { $0 != "\n" })
    }

    /// Two models with different weights, for equal ones would be one file.
    private func stage() throws -> Stage {
        try Stage { root in
            for (number, name) in ["org/tiny", "org/other"].enumerated() {
                let repository = try ModelRepository(name, in: root)
                for file in ["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"] {
                    try repository.write(file, Fixtures.bytes("tiny-shakespeare/\(file)"))
                }
                var weights = try Fixtures.bytes("tiny-shakespeare/model.safetensors")
                weights[weights.count - 1] ^= UInt8(number)
                try repository.write("model.safetensors", weights)
            }
        }
    }

    @Test func aFileThatIsCutFailsItsModelAlone() async throws {
        let stage = try stage()
        #expect(try await stage.run("pull", "org/tiny", "org/other", "-q").status == 0)
        let server = try stage.start("serve", "api")
        let address = try await address(server)
        for model in ["org/tiny", "org/other"] { #expect(try await chat(address, model).status == 200) }
        let blob = try #require(
            FileSystem.resolved(Path.join(try await stage.path("org/tiny"), "model.safetensors")))
        #expect(chmod(blob, 0o644) == 0 && truncate(blob, 0) == 0)
        let failed = try await chat(address, "org/tiny")
        let error = try #require(try failed.json()["error"])
        #expect(failed.status == 500 && error["code"] == "file_changed", "\(failed.text)")
        #expect(error["message"]?.string?.hasPrefix("org/tiny/model.safetensors: the file was cut") == true)
        #expect(try await chat(address, "org/other").status == 200)
        // The next request opens what is there.
        let refused = try await chat(address, "org/tiny")
        let code = try refused.json()["error"]?["code"]
        #expect(refused.status == 400 && code == "malformed_model", "\(refused.text)")
        #expect(try await stage.run("pull", "org/tiny", "--force", "-q").status == 0)
        #expect(try await chat(address, "org/tiny").status == 200)
        server.interrupt()
        let result = try await server.wait()
        #expect(result.status == 0 && !result.error.contains("crashed"))
    }

    /// Signals as faults raise them. Whoever comes meanwhile waits for the answer; the process, its address and its place in
    /// the system stay.
    @Test(arguments: [["serve", "api"], ["serve"], ["serve", "mirror"]]) func aCrashIsARestart(words: [String])
        async throws
    {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "org/tiny", "-q").status == 0)
        let server = try stage.start(words, with: ["SWIFT_BACKTRACE": "enable=no"])
        let address = try await address(server)
        let crashes: [(Int32, String)] = [
            (SIGSEGV, "SIGSEGV"), (SIGILL, "SIGILL"), (SIGBUS, "SIGBUS"), (SIGABRT, "SIGABRT"),
            (SIGTRAP, "SIGTRAP"),
        ]
        for (count, (number, name)) in crashes.enumerated() {
            server.send(number)
            try await server.wait(forText: "hub: the server crashed (\(name)) and starts again\n")
            try await server.wait(forText: "hub: serving again (crash \(count + 1) within a minute; ")
            #expect(try await HTTPClient.get("\(address)/health").status == 200)
        }
        if words.contains("api") { #expect(try await chat(address, "org/tiny").status == 200) }
        // A sixth within a minute is the end, with the signal's own status.
        server.send(SIGFPE)
        let result = try await server.wait()
        #expect(result.wasKilled && result.status == 128 + SIGFPE)
        #expect(result.error.contains("crashed (SIGFPE), as it did before within a minute: it ends\n"))
        // The address is said once.
        #expect(result.output.split(separator: "\n").count == 2 && result.output.hasPrefix(address + "\n"))
    }

    @Test func whoeverStopsItAfterACrashStopsIt() async throws {
        let stage = try Stage.withModel()
        let server = try stage.start("serve", "api")
        let address = try await address(server)
        server.send(SIGSEGV)
        try await server.wait(forText: "and starts again\n")
        // Before it serves again, or just then.
        server.send(SIGTERM)
        let result = try await server.wait()
        #expect(!result.wasKilled, "\(result.error)")
        #expect([0, ErrorCode.cancelled.facts.exitStatus].contains(result.status), "\(result.error)")
        await #expect(throws: (any Error).self) { try await HTTPClient.get("\(address)/health") }
    }
}
