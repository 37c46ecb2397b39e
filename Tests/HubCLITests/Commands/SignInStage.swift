import HubCore
import Support
import Testing

/// The real program on a machine whose Hub is a place to sign in to.
final class SignInStage: Sendable {
    let server: OAuthServer
    let machine: TemporaryFolder

    init(_ change: (inout OAuthServer.Options) -> Void = { _ in }) throws {
        var options = OAuthServer.Options()
        options.device = ["interval": .double(0.05)]
        change(&options)
        server = try OAuthServer(options)
        machine = try TemporaryFolder("machine")
        try FileSystem.createDirectories(machine("home"))
    }

    var tokenPath: String { machine("hf/token") }
    var storedPath: String { machine("hf/stored_tokens") }
    var signInsPath: String { machine("state/sign-ins.json") }

    func environment(_ variables: [String: String] = [:]) -> [String: String] {
        let usual = [
            "PATH": "/usr/bin:/bin", "HOME": machine("home"), "HF_HOME": machine("hf"),
            "HUB_HOME": machine("state"),
            "HF_ENDPOINT": server.endpoint, "LC_ALL": "C.UTF-8", "HUB_NO_KEYRING": "1",
            "HF_DEVICE_CODE_OAUTH_CLIENT_ID": server.options.clientID, "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        ]
        return usual.merging(TestTimeout.variables) { $1 }.merging(variables) { $1 }.filter { !$0.value.isEmpty }
    }

    func start(_ words: String..., with variables: [String: String] = [:]) throws -> RunningProcess {
        try RunningProcess(
            BuiltProduct.path(), words, environment: environment(variables), directory: machine.path)
    }

    func run(_ words: String..., with variables: [String: String] = [:], input: String = "") async throws
        -> ProcessResult
    {
        try await RunningProcess.run(
            BuiltProduct.path(), words, environment: environment(variables), directory: machine.path,
            input: Array(input.utf8))
    }

    /// Signs in with a code that is confirmed at once.
    @discardableResult
    func signIn(with variables: [String: String] = [:]) async throws -> ProcessResult {
        server.allow()
        let result = try await run("auth", "login", "--device", with: variables)
        #expect(result.status == 0, "\(result.error)")
        return result
    }

    /// Makes the sign-in old, as if hub had not run for some time.
    func age(toSecondsLeft left: Double) throws {
        var document = try #require(try JSON.parse(FileSystem.contents(signInsPath) ?? []).object)
        var signIn = try #require(document["sign_ins"]?.array?.first?.object)
        signIn["expires_at"] = .double(Timestamp.now + left)
        document["sign_ins"] = .array([.object(signIn)])
        try FileSystem.replace(signInsPath, with: Array(JSON.object(document).text().utf8), mode: 0o600)
    }

    /// Every name below the machine, links not followed.
    func listing() throws -> [String] {
        var names: [String] = []
        func walk(_ place: String, _ prefix: String) throws {
            for name in try FileSystem.entries(place) ?? [] {
                names.append(prefix + name)
                let path = Path.join(place, name)
                if try FileSystem.linkStatus(path)?.kind == .directory { try walk(path, prefix + name + "/") }
            }
        }
        try walk(machine.path, "")
        return names.sorted()
    }

    /// The files that hold a text.
    func places(of secret: String) throws -> [String] {
        try listing().filter { try FileSystem.text(machine($0))?.contains(secret) ?? false }
    }
}
