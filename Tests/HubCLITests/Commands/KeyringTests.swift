import HubCore
import Support
import Testing

/// Sign-ins in the Secret Service of a desktop: a session bus and a keyring of the test's own.
@Suite(.enabled(if: Desktop.isPossible, "dbus-run-session, gnome-keyring or libsecret is missing"))
struct KeyringTests {
    @Test func whatRenewsATokenIsInTheKeyring() async throws {
        let stage = try SignInStage()
        stage.server.allow()
        let result = try await Desktop.run(
            """
            "$hub" auth login --device -v
            cp "$HUB_HOME/sign-ins.json" "$HOME/first"
            sed -E 's/("expires_at": *)[0-9.e+]+/\\11/' "$HOME/first" > "$HUB_HOME/sign-ins.json"
            "$hub" auth whoami -q
            """, stage)
        #expect(result.status == 0 && result.output.hasSuffix("ada\n"), "\(result.output)\(result.error)")
        #expect(stage.server.renewals.count == 1)
        let token = try #require(try FileSystem.text(stage.tokenPath))
        for secret in stage.server.secrets where secret.hasPrefix("Refresh") {
            #expect(try stage.places(of: secret).isEmpty, "neither a file of hub's nor one of Python's")
        }
        #expect(try stage.places(of: token) == ["hf/stored_tokens", "hf/token"])
        #expect(try FileSystem.text(stage.machine("home/first"))?.contains("keyring_item") == true)

        // Without the desktop a token that is still good is used, and it is said where the rest is.
        try stage.age(toSecondsLeft: 100)
        let good = try await stage.run("auth", "whoami", "-q", with: ["HUB_NO_KEYRING": ""])
        #expect(good.status == 0 && good.output == "ada\n", "\(good.error)")
        #expect(good.error.contains("cannot be renewed now: the sign-in oauth-ada is in the desktop's keyring"))
        try stage.age(toSecondsLeft: -10)
        let apart = try await stage.run("auth", "whoami", with: ["HUB_NO_KEYRING": ""])
        #expect(apart.status == 4)
        #expect(
            apart.error.hasPrefix(
                "hub: the token of oauth-ada has ended and cannot be renewed: the sign-in oauth-ada is in the desktop's keyring"
            ),
            "\(apart.error)")

        let again = try await Desktop.run(
            #""$hub" auth whoami -q && "$hub" auth logout && "$hub" auth login --device -q && "$hub" auth list -q"#,
            stage)
        #expect(again.status == 0 && again.output.hasSuffix("ada\noauth-ada\n"), "\(again.output)\(again.error)")
        #expect(stage.server.renewals.count == 2)
    }

    @Test func whoeverWantsNoKeyringHasAFile() async throws {
        let stage = try SignInStage()
        stage.server.allow()
        let result = try await Desktop.run(#"HUB_NO_KEYRING=1 "$hub" auth login --device -q"#, stage)
        #expect(result.status == 0, "\(result.error)")
        #expect(try FileSystem.text(stage.signInsPath)?.contains("refresh_token") == true)
    }

    /// A bus without the service: the file is the place, and --verbose says so.
    @Test func aSessionWithoutTheServiceHasAFile() async throws {
        let stage = try SignInStage()
        stage.server.allow()
        let result = try await Desktop.run(#""$hub" auth login --device -v"#, stage, withKeyring: false)
        #expect(result.status == 0 && result.error.contains("the desktop's keyring fails: "), "\(result.error)")
        #expect(try FileSystem.text(stage.signInsPath)?.contains("refresh_token") == true)
    }
}

/// A session of a desktop without a screen.
private enum Desktop {
    static let isPossible =
        ["dbus-run-session", "gnome-keyring-daemon"].allSatisfy { FileSystem.exists("/usr/bin/\($0)") }
        && ["x86_64", "aarch64"].contains { FileSystem.exists("/usr/lib/\($0)-linux-gnu/libsecret-1.so.0") }

    /// Runs a script in which `hub` is the program.
    static func run(_ script: String, _ stage: SignInStage, withKeyring: Bool = true) async throws -> ProcessResult
    {
        // Only what is named here is started on the bus: no service of the machine.
        let bus = try stage.machine.write(
            "bus.conf",
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
            </busconfig>
            """)
        let keyring =
            withKeyring
            ? "printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1\n" : ""
        let file = try stage.machine.write("script", "set -e\n\(keyring)\(script)\n")
        var environment = stage.environment(["HUB_NO_KEYRING": ""])
        environment["hub"] = try BuiltProduct.path()
        environment["XDG_RUNTIME_DIR"] = stage.machine.path
        return try await RunningProcess.run(
            "/usr/bin/dbus-run-session", ["--config-file=\(bus)", "--", "/bin/sh", file], environment: environment,
            directory: stage.machine.path)
    }
}
