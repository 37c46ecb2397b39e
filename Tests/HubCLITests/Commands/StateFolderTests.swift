import HubCore
import Libc
import Support
import Testing

/// A state folder that this user may not enter, and streams that are closed: what cannot be read or written is said.
@Suite struct StateFolderTests {
    private let stage: Stage

    init() throws {
        stage = try Stage()
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa"])
    }

    @Test func whatCannotBeReadIsNotTakenForNothing() async throws {
        let state = stage.machine("state")
        try FileSystem.createDirectories(state)
        for path in [stage.machine.path, stage.machine("home"), stage.machine("hf")] {
            try FileSystem.setMode(path, 0o777)
        }
        var words: ([String]) -> [String] = { $0 }
        let binary = try BuiltProduct.path()
        if geteuid() == 0 {
            guard let other = OtherUser(54_331, group: 54_331), try await other.canRun(binary) else {
                try Test.cancel("root may enter every folder, and there is no other user here")
            }
            words = { other.words(binary, $0) }
        } else {
            words = { [binary] + $0 }
        }
        try FileSystem.setMode(state, 0)
        defer { try? FileSystem.setMode(state, 0o755) }
        let rows: [(words: [String], status: Int32)] = [
            (["chats"], 6), (["chats", "search", "x"], 6), (["chats", "show", "0a"], 6),
            (["chats", "rm", "0a", "--yes"], 6),
            (["auth", "logout", "--all"], 6), (["chat", "--continue", "hello"], 6),
            // These do without the catalog, and say so.
            (["ls"], 0), (["path", "org/one"], 0),
        ]
        for row in rows {
            let line = words(row.words)
            let result = try await RunningProcess.run(
                line[0], Array(line.dropFirst()), environment: stage.environment, directory: stage.machine.path)
            #expect(result.status == row.status, "\(row.words): \(result.output)\(result.error)")
            #expect(result.error.contains(state), "\(row.words): \(result.error)")
        }
    }

    /// The text went into whatever connection got the number of the closed stream.
    @Test(arguments: [["info", "org/one"], ["ls"], ["search", "one"], ["version"], ["ls", "--json"]])
    func aClosedOutputIsAnError(words: [String]) async throws {
        try ModelRepository.tiny("org/one", in: stage.root)
        let line = "\"$hub\" " + words.joined(separator: " ")
        let result = try await stage.shell(line + " >&-").wait()
        #expect(result.status == 6, "\(result.error)")
        #expect(result.error.hasPrefix("hub: cannot write to standard output: "), "\(result.error)")
        let others = try await stage.shell(line + " <&- 2>&-").wait()
        #expect(others.status == 0 && !others.output.isEmpty && others.error.isEmpty)
    }
}
