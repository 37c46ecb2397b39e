import HubCore
import Libc

/// The programs that take part.
struct Tools {
    /// A program, or why it is not there.
    enum Tool {
        case at(String)
        case missing(String)

        var path: String? { if case .at(let path) = self { path } else { nil } }
    }

    let hub: String
    let hf: Tool
    /// The Python that has huggingface_hub.
    let clientPython: Tool
    /// Any Python, for the simulated Hub.
    let python: Tool
    let curl = Self.find("curl")
    let aria2 = Self.find("aria2c")
    let openssl = Self.find("openssl")
    let nginx: Tool
    /// The Python that has llama.cpp and transformers.
    let enginePython: Tool

    init(_ options: Options) {
        hub = options.hub
        if let folder = options.peers {
            hf = Self.program("hf", in: folder)
            clientPython = Self.program("python", in: folder)
        } else {
            hf = .missing(options.whyNoPeers)
            clientPython = .missing(options.whyNoPeers)
        }
        nginx = options.nginx.map { .at($0) } ?? .missing(options.whyNoNginx)
        enginePython = options.enginePython.map { .at($0) } ?? .missing(options.whyNoEngine)
        python = clientPython.path.map { .at($0) } ?? Self.find("python3")
    }

    /// A contestant where the tool is there.
    static func peer(_ tool: Tool, _ name: String, _ make: (String) throws -> Contestant) rethrows -> Peer {
        switch tool {
        case .at(let path): .present(try make(path))
        case .missing(let reason): .missing(name: name, reason: reason)
        }
    }

    /// The first line of `PROGRAM --version` or the like.
    static func version(_ tool: Tool, _ arguments: [String], _ runner: Runner) -> String? {
        guard let path = tool.path else { return nil }
        let command = Command(path, arguments, in: Sandbox.plainEnvironment)
        let result = try? runner.attempt(command)
        // nginx says it on its standard error. What follows in parentheses is of no interest.
        let line = result.map { $0.output.isEmpty ? $0.error : $0.output }?.split(separator: "\n").first
        return line.map { $0.prefix { $0 != "(" }.split(separator: " ").joined(separator: " ") }
    }

    private static func program(_ name: String, in folder: String) -> Tool {
        let path = Path.join(folder, name)
        return access(path, X_OK) == 0 ? .at(path) : .missing("there is no \(path)")
    }

    private static func find(_ name: String) -> Tool {
        for folder in (HubEnvironment.process["PATH"] ?? "").split(separator: ":") {
            let path = Path.join(String(folder), name)
            if access(path, X_OK) == 0 { return .at(path) }
        }
        return .missing("\(name) is not installed")
    }
}
