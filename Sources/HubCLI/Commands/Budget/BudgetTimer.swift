import HubCore

/// What applies the budget every day: a timer of systemd for the user, on macOS an agent of launchd.
struct BudgetTimer {
    let environment: HubEnvironment

    init(_ environment: HubEnvironment) { self.environment = environment }

    /// The files and their texts; the last one is started.
    private func files() throws(AIError) -> [(path: String, text: String)] {
        let program = FileSystem.resolved("/proc/self/exe") ?? "hub"
        let own = ["HF_HOME", "HF_HUB_CACHE", "HUB_HOME"].compactMap { name in environment[name].map { (name, $0) }
        }
        guard (own.map(\.1) + [program]).allSatisfy({ !$0.contains("\"") && !$0.contains(where: \.isNewline) })
        else {
            throw AIError(.invalidInput, "a path with a quote cannot be written into a timer")
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
            <key>ProgramArguments</key><array><string>hub</string><string>budget</string><string>--yes</string></array>
            <key>EnvironmentVariables</key><dict>\(variables)</dict>
            <key>StartInterval</key><integer>86400</integer>
            </dict></plist>

            """
        return [(path, text)]
        #else
        let home = environment.expand(environment["XDG_CONFIG_HOME"] ?? "~/.config")
        let folder = Path.join(home, "systemd/user")
        // systemd expands % and $ in values.
        func escaped(_ text: String) -> String {
            text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
        }
        let variables = own.map { "Environment=\"\($0.0)=\(escaped($0.1))\"\n" }.joined()
        let service = """
            [Unit]
            Description=Keeps the cache of Hugging Face models within hub's budget

            [Service]
            Type=oneshot
            \(variables)ExecStart="\(escaped(program))" budget --yes

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

    /// Writes the files; the path of the last.
    func install() throws(AIError) -> String {
        let files = try files()
        for (path, text) in files {
            try FileSystem.createDirectories(Path.parent(path))
            try FileSystem.replace(path, with: Array(text.utf8))
        }
        return files[files.count - 1].path
    }

    func remove() throws(AIError) {
        for (path, _) in try files() { try FileSystem.remove(path) }
    }
}
