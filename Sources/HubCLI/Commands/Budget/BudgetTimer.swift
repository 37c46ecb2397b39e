import HubCore
import Libc

/// What applies the budget every day: a timer of systemd for the user, on macOS an agent of launchd.
struct BudgetTimer {
    private let environment: HubEnvironment
    /// The folder of the cache that it applies to.
    private let cache: String

    init(_ environment: HubEnvironment, cache: String) { (self.environment, self.cache) = (environment, cache) }

    /// The files and their texts; the last one is started.
    private func files() throws(AIError) -> [(path: String, text: String)] {
        let program = try ProgramPath.own()
        // A timer runs without the variables of this shell.
        let own = [("HF_HUB_CACHE", cache), ("HUB_HOME", environment.stateDirectory)]
        guard (own.map(\.1) + [program]).allSatisfy({ !$0.contains { "\"\\".contains($0) || $0.isNewline } }) else {
            throw AIError(
                .invalidInput, "a path with a quote, a backslash or a line's end cannot be written into a timer")
        }
        #if os(macOS)
        let path = environment.expand("~/Library/LaunchAgents/hub.budget.plist")
        func escaped(_ text: String) -> String {
            text.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
                .split(separator: "<", omittingEmptySubsequences: false).joined(separator: "&lt;")
        }
        let variables = own.map { "<key>\($0.0)</key><string>\(escaped($0.1))</string>" }.joined()
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict>
            <key>Label</key><string>hub.budget</string>
            <key>ProgramArguments</key><array><string>\(escaped(program))</string><string>cache</string><string>budget</string><string>--yes</string></array>
            <key>EnvironmentVariables</key><dict>\(variables)</dict>
            <key>StartInterval</key><integer>86400</integer>
            </dict></plist>

            """
        return [(path, text)]
        #else
        let home = environment.expand(environment["XDG_CONFIG_HOME"] ?? "~/.config")
        let folder = Path.join(home, "systemd/user")
        // systemd expands % everywhere, and $ in commands. systemd.service(5)
        func escaped(_ text: String, _ marks: Set<Character> = ["%"]) -> String {
            String(text.flatMap { marks.contains($0) ? [$0, $0] : [$0] })
        }
        let variables = own.map { "Environment=\"\($0.0)=\(escaped($0.1))\"\n" }.joined()
        let service = """
            [Unit]
            Description=Keeps the cache of Hugging Face models within hub's budget

            [Service]
            Type=oneshot
            \(variables)ExecStart="\(escaped(program, ["%", "$"]))" cache budget --yes

            """
        let timer = """
            [Unit]
            Description=Applies hub's budget every day

            [Timer]
            OnCalendar=daily
            Persistent=true

            [Install]
            WantedBy=timers.target

            """
        return [
            (Path.join(folder, "hub-budget.service"), service), (Path.join(folder, "hub-budget.timer"), timer),
        ]
        #endif
    }

    /// How the user starts it.
    static var startCommand: String {
        #if os(macOS)
        "launchctl load ~/Library/LaunchAgents/hub.budget.plist"
        #else
        "systemctl --user enable --now hub-budget.timer"
        #endif
    }

    /// And stops it. That works after its files are gone, which systemctl disable needs.
    static var stopCommand: String {
        #if os(macOS)
        "launchctl remove hub.budget"
        #else
        "systemctl --user stop hub-budget.timer"
        #endif
    }

    /// Writes the files; the path of the last.
    func install() throws(AIError) -> String {
        let files = try files()
        for (path, text) in files {
            try FileSystem.createDirectories(Path.parent(path))
            try FileSystem.replace(path, with: Array(text.utf8))
        }
        return files[files.count - 1].path
    }

    /// The last of its files.
    func path() throws(AIError) -> String {
        let files = try files()
        return files[files.count - 1].path
    }

    func isInstalled() throws(AIError) -> Bool { FileSystem.exists(try path()) }

    /// Whether there was one.
    func remove() throws(AIError) -> Bool {
        var was = false
        for (path, _) in try files() where try FileSystem.remove(path) { was = true }
        #if !os(macOS)
        // The link by which systemctl enable starts it. systemd.unit(5)
        let timer = try path()
        try FileSystem.remove(Path.join(Path.parent(timer), "timers.target.wants/\(Path.name(timer))"))
        #endif
        return was
    }
}
