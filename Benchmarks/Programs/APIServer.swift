import HubCore

/// `hub serve api` over a cache with one model. Ends with its last reference.
final class APIServer {
    static let model = "bench/chat"
    let port: String
    let box: Sandbox
    private let process: LeashedProcess

    /// - Parameter file: a GGUF file.
    init(_ file: String, _ suite: Suite) throws {
        box = try Sandbox(suite.folder("api"))
        try box.reset()
        let (place, commit) = (box.cache(of: Self.model), String(repeating: "1", count: 40))
        let blob = String(repeating: "a", count: 64)
        for folder in ["blobs", "refs", "snapshots/\(commit)"] {
            try FileSystem.createDirectories(Path.join(place, folder))
        }
        let path = FileSystem.resolved(file) ?? file
        try FileSystem.createSymlink(path, at: Path.join(place, "blobs/\(blob)"))
        try FileSystem.createSymlink(
            "../../blobs/\(blob)", at: Path.join(place, "snapshots/\(commit)/chat-Q4_0.gguf"))
        try FileSystem.replace(Path.join(place, "refs/main"), with: Array(commit.utf8))
        let (output, log) = (suite.folder("api.address"), suite.folder("api.log"))
        try FileSystem.remove(output)
        process = try LeashedProcess(
            suite.hub(["serve", "api", "--threads", "2"], box), output: output, error: log)
        let address = try process.wait("hub serve", error: log) {
            let line = try FileSystem.text(output) ?? ""
            return line.contains("\n") ? line.split(separator: "\n").first.map(String.init) : nil
        }
        port = String(address.split(separator: ":").last ?? "")
    }
}
