import HubCore
import Support
import Testing

@testable import HubCLI

/// A namespace whose `/proc` is empty.
private enum NoProc {
    static let program = "/usr/bin/unshare"
    static let isPossible = FileSystem.exists(program) && (try? execute(program, words("true")))?.status == 0

    static func words(_ line: String) -> [String] {
        ["-rm", "/bin/sh", "-c", "mount -t tmpfs none /proc && \(line)"]
    }
}

/// The real program where `/proc` is empty, as in a bare chroot.
@Suite(.enabled(if: NoProc.isPossible, "this system has no namespaces for it")) struct WithoutProcTests {
    let stage: Stage

    init() throws {
        // A sanitizer reads its options, and looks for leaks, through /proc.
        guard Sanitizer.options.isEmpty else { try Test.cancel("not under a sanitizer") }
        stage = try Stage()
    }

    private func hub(_ line: String) async throws -> ProcessResult {
        let hub = ShellQuoting.posix(try BuiltProduct.path())
        return try await RunningProcess.run(
            NoProc.program, NoProc.words("\(hub) \(line)"), environment: stage.environment,
            directory: stage.machine.path)
    }

    /// Swift itself would find no arguments, and every command would be none.
    @Test func theArgumentsAreThere() async throws {
        let wrong = try await hub("rm --frobnicate")
        #expect(wrong.status == 2 && wrong.output.isEmpty && wrong.error.contains("unknown flag --frobnicate"))
        #expect(try await hub("version").output == "hub \(Version.number)\n")
    }

    @Test func theMemoryIsKnown() async throws {
        let document = try await hub("env --json").document()
        #expect(document["machine"]?["memory_bytes"]?.int ?? 0 > 1 << 20)
    }

    @Test func whatCannotBeCheckedIsSaid() async throws {
        try stage.plant("models--org--tiny", commit: commit("1"), files: ["config.json": "{}"])
        let result = try await hub("gc --unused-for 0d --dry-run")
        #expect(result.status == 0)
        #expect(result.error.contains("/proc is not mounted: cannot check which files other programs have open"))
        #expect(result.error.split(separator: "/proc").count == 2, "\(result.error)")
    }
}
