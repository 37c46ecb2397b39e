#if os(Linux)
import HubCore
import Support
import Testing

/// The libraries that change what the file system does for a program, see Tests/Preload.
enum FaultyDisk {
    /// Builds one into a folder; returns its path, for LD_PRELOAD. Cancels the test if that fails.
    static func library(in folder: TemporaryFolder, source name: String = "faulty_disk") async throws -> String {
        // A sanitizer must be the first library of a program.
        guard Sanitizer.options.isEmpty else { try Test.cancel("not under a sanitizer") }
        let path = HubEnvironment.process["PATH"] ?? ""
        let source = Path.join(Path.parent(Fixtures.path), "Preload/\(name).c")
        let library = folder("\(name).so")
        for compiler in ["clang", "cc"] {
            for place in path.split(separator: ":") where FileSystem.exists("\(place)/\(compiler)") {
                let made = try await RunningProcess.run(
                    "\(place)/\(compiler)", ["-shared", "-fPIC", "-o", library, source, "-ldl"],
                    environment: ["PATH": path])
                if made.status == 0 { return library }
                Issue.record("\(place)/\(compiler): \(made.error)")
            }
        }
        try Test.cancel("there is no C compiler in PATH")
    }
}
#endif
