import HubCore
import HubServer
import Support
import Testing

/// The keys that `hub auth login --provider URL` keeps.
@Suite struct ProviderKeyTests {
    private static let key = "own-key-NeverSeenOutside"

    @Test func aKeyIsKeptForItsServerAloneAndUsed() async throws {
        let stage = try RemoteStage()
        let address = stage.server.address
        let login = try await stage.run("auth", "login", "--provider", address + "/v1", input: Self.key + "\n")
        #expect(login.status == 0, "\(login.error)")
        #expect(!(login.output + login.error).contains(Self.key))
        #expect(login.output.hasPrefix("The key for \(address) is in "))
        let file = try #require(login.output.split(separator: " ").last).trimmingNewline
        #expect(try FileSystem.status(file)?.mode == 0o600)
        #expect(stage.server.requests.map(\.path) == ["/v1/models"])
        #expect(stage.server.requests[0].headers["Authorization"] == "Bearer \(Self.key)")

        #expect(try await stage.run("chat", "--provider", address, "m", "Hi").status == 0)
        #expect(stage.calls.last?.headers["Authorization"] == "Bearer \(Self.key)")
        let other = try await stage.run(
            "chat", "--provider", address, "m", "Hi", with: ["HUB_PROVIDER_KEY": "another-key"])
        #expect(other.status == 0 && stage.calls.last?.headers["Authorization"] == "Bearer another-key")
        // Another origin has another key: none.
        let second = try RemoteStage()
        _ = try await stage.run("chat", "--provider", second.server.address, "m", "Hi")
        #expect(second.calls.last.map { $0.headers["Authorization"] == nil } == true)

        let list = try await stage.run("auth", "ls", "--json").document()
        #expect(list["providers"]?.array?.map { $0["provider"]?.string } == [address])
        #expect(list["providers"]?.array?.first?["key"]?.string == "own****side")

        let logout = try await stage.run("auth", "logout", "--provider", address)
        #expect(logout.output == "The key for \(address) is deleted\n" && !FileSystem.exists(file))
        #expect(
            try await stage.run("auth", "logout", "--provider", address).output == "No key for \(address) is kept\n"
        )
        _ = try await stage.run("chat", "--provider", address, "m", "Hi")
        #expect(stage.calls.last.map { $0.headers["Authorization"] == nil } == true)
    }

    @Test func aRefusedKeyIsNotKept() async throws {
        let stage = try RemoteStage { _ in .json(#"{"error":{"message":"bad key"}}"#, status: 401) }
        let login = try await stage.run("auth", "login", "--provider", stage.server.address, input: Self.key)
        #expect(login.status == 4 && login.error.contains("the key was not saved"), "\(login.error)")
        let logout = try await stage.run("auth", "logout", "--provider", stage.server.address, "--json").document()
        #expect(logout["removed"]?.bool == false)
    }

    @Test func aServerWithoutAListKeepsTheKeyUnchecked() async throws {
        let stage = try RemoteStage { _ in .json(#"{"error":"Not Found"}"#, status: 404) }
        let login = try await stage.run("auth", "login", "--provider", stage.server.address, input: Self.key)
        #expect(login.status == 0 && login.error.contains("no list of models"), "\(login.error)")
    }

    @Test(arguments: [
        (["--provider", "http://host.example"], "plain http"),
        (["--provider", "host"], "not the address of a server"),
        (["--provider", "https://h", "--device"], "together"),
    ])
    func wrongUses(_ words: [String], _ message: String) async throws {
        let stage = try RemoteStage()
        let result = try await stage.stage.run(["auth", "login"] + words, with: stage.variables, input: Self.key)
        #expect(result.status == 2 && result.error.contains(message), "\(result.error)")
        #expect(stage.server.requests.isEmpty)
    }
}

extension Substring {
    fileprivate var trimmingNewline: String { String(hasSuffix("\n") ? dropLast() : self) }
}
