import HubCore

/// A separate home folder with a cache and a catalog, for either client.
struct Sandbox {
    let home: String
    let environment: [String: String]

    /// - Parameter address: of the Hub to ask; nil for programs that ask none.
    init(_ home: String, address: String? = nil) throws {
        self.home = home
        var variables = Self.plainEnvironment
        variables["HOME"] = home
        variables["HF_HOME"] = Path.join(home, "huggingface")
        variables["HUB_HOME"] = Path.join(home, "state")
        variables["HF_ENDPOINT"] = address ?? "http://127.0.0.1:9"
        // Turns off the additional requests of Python's client: version check and telemetry.
        for name in ["TELEMETRY", "UPDATE_CHECK", "PROGRESS_BARS", "XET"] {
            variables["HF_HUB_DISABLE_\(name)"] = "1"
        }
        environment = variables
        try FileSystem.createDirectories(home)
    }

    /// Empties it.
    func reset() throws {
        try Self.remove(home)
        try FileSystem.createDirectories(home)
    }

    /// Removes a folder with everything in it.
    static func remove(_ path: String) throws {
        try OpenFolder.open(Path.parent(path))?.removeTree(Path.name(path))
    }

    /// The cache of both clients.
    var cache: String { Path.join(home, "huggingface/hub") }
    /// hub's catalog folder.
    var state: String { Path.join(home, "state") }

    /// The folder of a model in the cache.
    func cache(of model: String) -> String {
        let folder = "models--" + model.split(separator: "/").joined(separator: "--")
        return Path.join(cache, folder)
    }

    /// The commit of a model's main branch in the cache.
    func commit(of model: String) throws -> String {
        let path = Path.join(cache(of: model), "refs/main")
        guard let commit = try FileSystem.text(path) else { throw AIError(.fileNotFound, "there is no \(path)") }
        return commit
    }

    /// The minimal environment: no settings of Hub clients, no proxy.
    static var plainEnvironment: [String: String] {
        var variables = ["LANG": "C.UTF-8", "NO_COLOR": "1", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"]
        for name in ["PATH", "TMPDIR", "LD_LIBRARY_PATH"] { variables[name] = HubEnvironment.process[name] }
        return variables
    }
}
