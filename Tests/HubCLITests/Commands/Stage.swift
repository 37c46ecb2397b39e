import HubCore
import Support
import Testing

@testable import HubCLI

/// The real program on a simulated machine: a home, a cache, a catalog, and a Hub on the loopback.
final class Stage: Sendable {
    /// What the Hub serves.
    let root: TemporaryFolder
    /// The machine: `home`, `hf` and `state` lie in it.
    let machine: TemporaryFolder
    let hub: LoopbackHub

    init(options: LoopbackHub.Options = .init(), _ fill: (TemporaryFolder) throws -> Void = { _ in }) throws {
        root = try TemporaryFolder("served")
        machine = try TemporaryFolder("machine")
        try FileSystem.createDirectories(machine("home"))
        try fill(root)
        hub = try LoopbackHub(root, options: options)
    }

    /// The cache folder.
    var cache: String { machine("hf/hub") }
    /// The catalog's file.
    var catalog: String { machine("state/catalog.sqlite3") }

    var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "HOME": machine("home"), "HF_HOME": machine("hf"),
            "HUB_HOME": machine("state"), "HF_ENDPOINT": hub.endpoint, "LC_ALL": "C.UTF-8", "HUB_SERVE_PORT": "0",
        ]
    }

    /// The Hub's address is one where nobody listens.
    static let away = ["HF_ENDPOINT": ClosedPort.address]

    private func environment(with variables: [String: String]) -> [String: String] {
        environment.merging(variables) { $1 }.filter { !$0.value.isEmpty }
    }

    /// Runs `hub` to its end. Without a terminal and unless `variables` say otherwise it shows no progress: on a busy
    /// machine there would be some, and stderr is compared.
    ///
    /// - Parameters:
    ///   - variables: over those of ``environment``; an empty one is not set.
    ///   - input: its standard input.
    func run(
        _ words: String..., with variables: [String: String] = [:], input: String = "",
        terminal: RunningProcess.Terminal? = nil
    ) async throws -> ProcessResult {
        try await run(words, with: variables, input: input, terminal: terminal)
    }

    /// The same, of words in a list.
    func run(
        _ words: [String], with variables: [String: String] = [:], input: String = "",
        terminal: RunningProcess.Terminal? = nil
    ) async throws -> ProcessResult {
        let progress = terminal == nil ? ["HF_HUB_DISABLE_PROGRESS_BARS": "1"] : [:]
        return try await RunningProcess.run(
            BuiltProduct.path(), words, environment: environment(with: progress.merging(variables) { $1 }),
            directory: machine.path, input: Array(input.utf8), terminal: terminal)
    }

    /// Runs a line of `/bin/sh` that calls `hub`.
    func shell(_ line: String, input: String = "", terminal: RunningProcess.Terminal? = nil) throws
        -> RunningProcess
    {
        let hub = ShellQuoting.posix(try BuiltProduct.path())
        return try RunningProcess(
            "/bin/sh", ["-c", "hub=\(hub); \(line)"], environment: environment, directory: machine.path,
            input: Array(input.utf8), terminal: terminal)
    }

    /// Starts `hub` and lets it run.
    func start(
        _ words: String..., with variables: [String: String] = [:], terminal: RunningProcess.Terminal? = nil
    ) throws -> RunningProcess {
        try start(words, with: variables, terminal: terminal)
    }

    /// The same with words that a test chooses.
    func start(
        _ words: [String], with variables: [String: String] = [:], terminal: RunningProcess.Terminal? = nil
    ) throws -> RunningProcess {
        try RunningProcess(
            BuiltProduct.path(), words, environment: environment(with: variables), directory: machine.path,
            terminal: terminal)
    }

    /// Every name below a folder, links not followed; empty if there is no folder.
    func listing(_ folder: String) throws -> [String] {
        var names: [String] = []
        func walk(_ place: String, _ prefix: String) throws {
            for name in try FileSystem.entries(place) ?? [] {
                names.append(prefix + name)
                let path = Path.join(place, name)
                if try FileSystem.linkStatus(path)?.kind == .directory { try walk(path, prefix + name + "/") }
            }
        }
        try walk(folder, "")
        return names.sorted()
    }

    /// A repository's snapshot folder, as printed by `hub path`.
    func path(_ reference: String) async throws -> String {
        let result = try await run("path", reference)
        try #require(result.status == 0, "\(result.error)")
        return String(result.output.dropLast())
    }

    /// Makes a repository of the cache by hand, the way another tool of Hugging Face leaves it.
    ///
    /// - Parameter files: name and content of each file of the one revision.
    @discardableResult
    func plant(
        _ folder: String, commit: String, ref: String? = "main", files: [String: String]
    ) throws -> String {
        let place = Path.join(cache, folder)
        let snapshot = Path.join(place, "snapshots/\(commit)")
        for directory in ["blobs", "refs", "snapshots/\(commit)"] {
            try FileSystem.createDirectories(Path.join(place, directory))
        }
        for (name, text) in files {
            let content = Array(text.utf8)
            let blob = ContentHasher.digest(of: content, like: .sha256("")).hex
            if !FileSystem.exists(Path.join(place, "blobs/\(blob)")) {
                try FileSystem.replace(Path.join(place, "blobs/\(blob)"), with: content)
            }
            try FileSystem.createSymlink("../../blobs/\(blob)", at: Path.join(snapshot, name))
        }
        if let ref { try FileSystem.replace(Path.join(place, "refs/\(ref)"), with: Array(commit.utf8)) }
        return snapshot
    }

    /// The small model of the fixtures, as `org/tiny`.
    static func withModel() throws -> Stage {
        try Stage { root in
            let repository = try ModelRepository("org/tiny", in: root)
            for name in [
                "config.json", "generation_config.json", "model.safetensors", "special_tokens_map.json",
                "tokenizer.json", "tokenizer_config.json",
            ] { try repository.write(name, Fixtures.bytes("tiny-shakespeare/\(name)")) }
        }
    }
}

extension ProcessResult {
    /// stdout as the one JSON document that `--json` promises.
    func document() throws -> JSONObject {
        #expect(output.hasSuffix("\n") && !output.dropLast().contains("\n"), "more than one line: \(output)")
        return try #require(try JSON.parse(outputBytes).object, "\(output)")
    }

    /// The `"error"` of the document: its code, after a look at its other members.
    func errorCode() throws -> String {
        let error = try #require(try document()["error"]?.object, "\(output)")
        #expect(Set(error.keys).isSubset(of: ["code", "message", "advice", "retryable"]))
        #expect(error["retryable"]?.bool != nil && error["message"]?.string?.isEmpty == false)
        return try #require(error["code"]?.string)
    }

    var lines: [String] { output.split(separator: "\n").map(String.init) }
}

extension JSONObject {
    func objects(_ key: String) -> [JSONObject] { self[key]?.array?.compactMap(\.object) ?? [] }
    func strings(_ key: String) -> [String] { self[key]?.array?.compactMap(\.string) ?? [] }

    /// Whether it has no key that the contract does not name; what is not known may be absent.
    func expectKeys(_ allowed: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let allowed = Set(allowed.split(separator: " ").map(String.init))
        #expect(Set(keys).subtracting(allowed).isEmpty, sourceLocation: sourceLocation)
    }
}

/// A commit that no server made.
func commit(_ digit: Character) -> String { String(repeating: digit, count: 40) }

/// The text with what changes from run to run taken out: ages and free space, and runs of spaces made one.
func settled(_ text: String) -> String {
    text.replacing(/a few seconds ago|\d+ (second|minute)s? ago/, with: "AGE")
        .replacing(/[\d.]+ [kMGTP]?B free/, with: "SIZE free")
        .replacing(/\ {2,}/, with: "  ")
}
