import Fetcher
import HubCore

extension DoctorCommand {
    /// The token: whether there is one, where it comes from, and who else can read it. Never the token itself.
    @Sendable static func accountFindings(_ context: Context, _ workspace: Workspace) async throws
        -> [DoctorFinding]
    {
        let environment = context.environment
        let file = TokenFile(environment.tokenPath)
        var findings: [DoctorFinding] = []
        func add(_ name: String, _ level: DoctorFinding.Level, _ text: String, _ advice: String? = nil) {
            findings.append(
                DoctorFinding(section: "account", name: name, level: level, text: text, advice: advice))
        }
        switch try HFTokenProvider.auto.find(in: environment)?.source {
        case .variable(let name): add("token", .good, "there is a token, from \(name)")
        case .file(let path): add("token", .good, "there is a token, from \(path)")
        case .keychain, .caller: add("token", .good, "there is a token")
        case nil where environment.isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN"):
            add("token", .note, "no token is sent: HF_HUB_DISABLE_IMPLICIT_TOKEN is set")
        case nil:
            add(
                "token", .note, "there is no token: private and gated models cannot be downloaded",
                "hub auth login saves one")
        }
        if let name = environment.tokenVariable, FileSystem.exists(file.path) {
            add(
                "token_variable", .note, "\(name) is set and overrides \(file.path)",
                "unset \(name) to use the file's token")
        }
        let origin = workspace.configuration.endpoint.origin
        if !origin.isSafeForCredentials {
            add("token_unsafe", .note, "the token is not sent to \(origin): it is plain http and not this machine")
        }
        if let exposure = try file.exposure() {
            findings.append(
                DoctorFinding(
                    section: "account", name: "token_exposed", level: .bad, text: exposure,
                    fix: {
                        try await Blocking.run { try FileSystem.setMode(file.path, 0o600) }
                        return ("only its owner can read \(file.path) now", true)
                    }))
        }
        return findings
    }
}
