import HubCore

/// `hub serve mirror` with a cache of its own. Ends with its last reference.
final class MirrorServer {
    let address: String
    let box: Sandbox
    private let process: LeashedProcess

    init(of upstream: String, _ name: String, _ suite: Suite, flags: [String] = []) throws {
        box = try Sandbox(Path.join(suite.largeFolder, name), address: upstream)
        let (output, log) = (suite.folder("\(name).address"), suite.folder("\(name).log"))
        try FileSystem.remove(output)
        process = try LeashedProcess(suite.hub(["serve", "mirror"] + flags, box), output: output, error: log)
        address = try process.wait("hub serve", error: log) {
            let line = try FileSystem.text(output) ?? ""
            return line.contains("\n") ? line.split(separator: "\n").first.map(String.init) : nil
        }
    }

    var port: String { String(address.split(separator: ":").last ?? "") }

    /// Empties its cache, so that everything comes from upstream again.
    func forget() throws {
        if FileSystem.exists(box.cache) { try Sandbox.remove(box.cache) }
    }

    /// The server's memory now.
    func memory() throws -> Double {
        guard let port = UInt16(port) else { throw AIError(.ioError, "\(address) has no port") }
        return try ServerLoad.memory(LoadConnection(port))
    }
}
