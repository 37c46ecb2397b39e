import HubCore
import Support
import Testing

/// A machine on which the lines of a unit can run: what they name is there, and the models are cached.
final class ExampleWorld: Sendable {
    private let unit: ExampleUnit
    private let stage: Stage
    /// The models that are served, with the revisions that are named.
    private let models: [String: Set<String>]
    /// Answers as the Hub and as providers, where lines ask these.
    private let router: InferenceStandIn?
    /// Where one signs in.
    private let accounts: OAuthServer?

    init(_ unit: ExampleUnit) throws {
        let models = Self.models(unit)
        self.unit = unit
        self.models = models
        stage = try Stage { root in
            for (name, revisions) in models {
                try ExampleModels.serve(name, revisions: revisions, for: unit.commands[0], in: root)
            }
        }
        router = try Self.router(unit)
        accounts = try Self.accounts(unit)
        let folders = ["home/.config/fish/completions", "home/models", "bin", "stick", "disk", "weights", "work"]
        for name in folders { try FileSystem.createDirectories(stage.machine(name)) }
        try FileSystem.createSymlink(BuiltProduct.path(), at: stage.machine("bin/hub"))
        // Whatever opens a browser.
        for name in ["bin/open", "bin/xdg-open"] {
            try FileSystem.createSymlink("/usr/bin/true", at: stage.machine(name))
        }
        try ExampleFiles.write(into: stage.machine("work"))
    }

    // MARK: What is there

    private static func models(_ unit: ExampleUnit) -> [String: Set<String>] {
        let unnamed = unit.commands.flatMap(ExampleNeed.of).flatMap(\.models).map { ($0, Set<String>()) }
        return ExampleModels.named(in: unit.commands).merging(unnamed) { named, _ in named }
    }

    private static func router(_ unit: ExampleUnit) throws -> InferenceStandIn? {
        let line = unit.commands[0]
        let task: String
        switch ExampleModels.verb(of: line) ?? "" {
        case "image": task = "text-to-image"
        case "auth" where line.contains("--provider"): task = "conversational"
        case "transcribe": task = "automatic-speech-recognition"
        case "embed" where line.contains("--provider"): task = "feature-extraction"
        case "chat" where line.contains("--provider"), "try" where line.contains("--provider"):
            task = "conversational"
        default: return nil
        }
        // Whatever looks like a name.
        let names = line.split(separator: " ").map { String($0.prefix { $0 != ":" }) }.filter { $0.contains("/") }
        let honest = HonestRouter(
            tasks: Dictionary(names.map { ($0, task) }) { first, _ in first },
            providers: ["hf-inference", "together", "groq", "fal-ai"])
        return try InferenceStandIn { honest.answer($0) }
    }

    private static func accounts(_ unit: ExampleUnit) throws -> OAuthServer? {
        guard unit.commands.contains(where: { $0.contains("hub auth ") }) else { return nil }
        var options = OAuthServer.Options()
        options.device = ["interval": .double(0.05)]
        options.pasted = ["hf_pasted": "work"]
        let server = try OAuthServer(options)
        server.allow()
        return server
    }

    private var environment: [String: String] {
        var variables = stage.environment
        variables["PATH"] = stage.machine("bin") + ":/usr/bin:/bin"
        variables["WORLD"] = stage.machine.path
        variables["GITHUB_OUTPUT"] = stage.machine("output")
        variables["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        variables["HUB_NO_KEYRING"] = "1"
        variables["HUB_THREADS"] = "1"
        variables["DISPLAY"] = ":0"
        variables["TERM"] = "xterm"
        if let router {
            variables["HF_ENDPOINT"] = router.address
            variables["HUB_INFERENCE_ENDPOINT"] = router.address
            variables["HF_TOKEN"] = RemoteStage.token
        }
        if let accounts {
            variables["HF_ENDPOINT"] = accounts.endpoint
            variables["HF_DEVICE_CODE_OAUTH_CLIENT_ID"] = accounts.options.clientID
        }
        return variables
    }

    // MARK: Running

    /// Caches the models, unless the lines begin with fetching or serving them elsewhere.
    func prepare() async throws {
        guard router == nil, !unit.commands.contains(where: { $0.prefixMatch(of: /hub pull (?!--locked)/) != nil })
        else { return }
        let references = models.sorted { $0.key < $1.key }.flatMap { name, revisions in
            [name] + revisions.sorted().map { "\(name)@\($0)" }
        }
        guard !references.isEmpty else { return }
        let script = references.map { "hub pull -q \($0)" }.joined(separator: " && ")
        let result = try await start(script, terminal: nil).wait()
        try #require(result.status == 0, "\(unit.place): \(script): \(result.error)")
    }

    /// Runs a line to its end; a server until it has said where it is.
    ///
    /// - Parameter exports: the `export` lines before it.
    func run(_ line: String, exports: [String]) async throws -> ProcessResult {
        let needs = ExampleNeed.of(line)
        let typed = needs.first { $0.awaits != nil }
        let serves = line.prefixMatch(of: /hub serve(?! status)\b/) != nil
        let before = (["true"] + needs.map(\.before).filter { !$0.isEmpty }).joined(separator: " && ")
        let script =
            exports.map(here) + [
                "{ \(here(before)); } < /dev/null > ../before 2>&1 || { cat ../before >&2; exit 99; }",
                (serves ? "exec " : "") + here(line),
            ]
        let terminal = typed.map { _ in RunningProcess.Terminal(columns: 100) }
        let process = try start(script.joined(separator: "\n"), terminal: terminal)
        if serves {
            for text in ["stops it\n", "export "] { try await process.wait(forText: text) }
            process.interrupt()
        }
        if let typed, let awaited = typed.awaits {
            // Where nothing is asked, as where copies share their blocks, its status says the rest.
            do {
                try await process.wait(forText: awaited)
                process.write(typed.keys)
            } catch is ProcessEnded {}
        }
        return try await process.wait()
    }

    private func start(_ script: String, terminal: RunningProcess.Terminal?) throws -> RunningProcess {
        try RunningProcess(
            "/bin/bash", ["-c", "\(ExampleFiles.programs)\n\(script)"], environment: environment,
            directory: stage.machine("work"), terminal: terminal)
    }

    /// A line with the places of this machine in those that it names: folders, ports, and the ID of a conversation.
    private func here(_ line: String) -> String {
        let places = [
            ("/media/stick", stage.machine("stick")), ("/mnt/disk", stage.machine("disk")),
            ("/data/weights", stage.machine("weights")), ("--port 8080", "--port 0"), ("--port 11434", "--port 0"),
            ("3f0a", "$(hub chats -q | head -n 1)"),
            ("http://mirror.example:8080", "$url"), ("https://host/v1", "\(router?.address ?? "")/v1"),
            ("http://127.0.0.1:11434", router?.address ?? "http://127.0.0.1:11434"),
        ]
        return places.reduce(line) { $0.replacing($1.0, with: $1.1) }
    }
}
