import HubCore

/// nginx on a folder, in place of the simulated Hub's own CDN where that one's speed would be in the figures. Ends with
/// its last reference.
final class ContentServer {
    /// `http://127.0.0.1:PORT`
    let address: String
    private let process: LeashedProcess

    /// - Parameter folder: for its configuration and logs.
    init(_ root: String, nginx: String, folder: String) throws {
        try FileSystem.createDirectories(folder)
        // Below the ephemeral ports. A port in use is an error.
        let port = Int.random(in: 20000..<30000)
        let (pid, log) = (Path.join(folder, "pid"), Path.join(folder, "log"))
        let configuration = Path.join(folder, "nginx.conf")
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \"\(Path.join(folder, "temporary"))\";"
        }
        let text = """
            daemon off;
            master_process off;
            pid "\(pid)";
            error_log "\(log)";
            events { worker_connections 512; }
            http {
                access_log off;
                sendfile on;
                tcp_nopush on;
                etag off;
                keepalive_requests 1000000;
                default_type application/octet-stream;
                \(temporary.joined(separator: " "))
                server { listen 127.0.0.1:\(port); root "\(root)"; }
            }

            """
        try FileSystem.replace(configuration, with: Array(text.utf8))
        try FileSystem.remove(pid)
        let command = Command(nginx, ["-p", folder, "-c", configuration], in: Sandbox.plainEnvironment)
        process = try LeashedProcess(command, output: log + ".output", error: log + ".error")
        // Written once it listens.
        try process.wait("nginx", error: log) { FileSystem.exists(pid) ? () : nil }
        address = "http://127.0.0.1:\(port)"
    }
}
