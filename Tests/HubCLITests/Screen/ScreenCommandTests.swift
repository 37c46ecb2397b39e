import HubCore
import Support
import Testing

/// `hub gc` on a terminal, from the first screen to the disk.
@Suite struct ScreenCommandTests {
    /// A key or a size, and the screen that comes of it.
    private struct Step {
        var action: String
        var screen: String
    }

    /// The steps of `Fixtures/screens/gc.txt`: a line `=== ACTION` and the screen after it.
    private static func steps() throws -> [Step] {
        let text = String(decoding: try Fixtures.bytes("screens/gc.txt").dropLast(), as: UTF8.self)
        return text.split(separator: "\n=== ", omittingEmptySubsequences: false).dropFirst().map { part in
            let end = part.firstIndex(of: "\n") ?? part.endIndex
            return Step(action: String(part[..<end]), screen: String(part[end...].dropFirst()))
        }
    }

    private static let keys = [
        "Up": "\u{1B}[A", "Down": "\u{1B}OB", "PgUp": "\u{1B}[5~", "PgDn": "\u{1B}[6~", "Home": "\u{1B}OH",
        "End": "\u{1B}OF",
        "Space": " ", "Enter": "\r", "Esc": "\u{1B}", "Backspace": "\u{7F}", "^L": "\u{C}",
    ]

    /// Types the words of a line, or gives the window the size that it names.
    private func perform(_ action: String, _ screen: LiveScreen) throws {
        for word in action.split(separator: " ").map(String.init) {
            if let match = word.wholeMatch(of: /(\d+)x(\d+)/) {
                try screen.resize(columns: Int(match.1)!, rows: Int(match.2)!)
            } else if word != "start" {
                screen.process.write(Self.keys[word] ?? word)
            }
        }
    }

    /// Every key on 40 models, each screen as it was looked at by a person, the window pulled at in between; and in the end
    /// a disk that is as the screen said.
    @Test(arguments: ["xterm", "vt100"]) func everyKeyAndWhatComesOfIt(terminal: String) async throws {
        let stage = try Stage.withForty()
        let before = try stage.listing(stage.cache)
        let screen = try stage.list(terminal: terminal)
        let steps = try Self.steps()
        #expect(steps.count > 40)
        for step in steps {
            try perform(step.action, screen)
            try await screen.expect(step.screen)
        }
        screen.process.write("y")
        let result = try await screen.process.wait()
        #expect(result.status == 0)
        // What the last review named, and nothing else.
        let gone = Set(before).subtracting(try stage.listing(stage.cache))
        #expect(!gone.isEmpty && gone.allSatisfy { Self.wasReviewed($0) })
        #expect(try !stage.listing(stage.cache).contains { Self.wasReviewed($0) })
        #expect(!FileSystem.exists(stage.machine("hf/xet/server/chunk_cache")))
        #expect(FileSystem.exists(stage.machine("hf/xet/server/staging/s0")))
        #expect(result.terminal.contains("58.2 kB freed"))
        // What is pinned in the list is pinned everywhere.
        let models = try await stage.run("ls", "--json").document().objects("models")
        #expect(models.filter { $0["pinned"]?.bool == true }.map { $0["id"]?.string } == ["org/m03"])
    }

    /// Whether a path belongs to a row of the last review.
    private static func wasReviewed(_ path: String) -> Bool {
        path.hasPrefix("models--org--m05") || path.contains("blobs/aaaa") || path.contains("blobs/bbbb")
    }

    @Test func intoTheTrashAndBack() async throws {
        let stage = try Stage()
        for digit in ["1", "2"] {
            try stage.plantOld(
                "models--org--m\(digit)", commit: String(repeating: digit, count: 40),
                blobs: [(String(repeating: digit, count: 64), 1000)], daysAgo: 9)
        }
        let before = try stage.listing(stage.cache)
        let screen = try stage.list()
        try await screen.wait("the list") { $0.lines.last?.hasSuffix("q quit") == true }
        screen.process.write(" ")
        try await screen.type("\r", line: "y delete  t move to trash  arrows scroll  other keys: back")
        screen.process.write("t")
        let result = try await screen.process.wait()
        let told = result.terminal.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(result.status == 0 && told.contains("run hub trash empty to free the space"))
        #expect(try FileSystem.entries(stage.cache)?.contains("models--org--m1") == false)
        #expect(try await stage.run("trash", "restore", "org/m1").status == 0)
        #expect(try stage.listing(stage.cache).filter { !$0.hasPrefix(".locks") } == before)
    }

    /// What verifying found, what is pinned and what other programs read stands beside the rows, and by rule it counts too.
    @Test func rowsSayWhatIsToBeKnownOfThem() async throws {
        let stage = try Stage()
        for name in ["bad", "open", "pinned"] {
            try stage.plant("models--org--\(name)", commit: commit("1"), files: ["w.bin": "12\(name)34"])
        }
        let blob = Path.join(stage.cache, "models--org--bad/snapshots/\(commit("1"))/w.bin")
        #expect(try await stage.run("gc", "--damaged", "--dry-run").output.contains("nothing to delete"))
        try FileSystem.replace(try #require(FileSystem.resolved(blob)), with: Array("12bxd34".utf8))
        #expect(try await stage.run("verify", "org/bad", "--offline").output.contains("mismatch"))
        let reader = try FileDescriptor(Path.join(stage.cache, "models--org--open/snapshots/\(commit("1"))/w.bin"))
        #expect(try await stage.run("pin", "org/pinned", "--note", "mine").status == 0)
        let rows = try await stage.run("gc", "--plain").lines
        func flags(_ name: String) -> Substring? {
            rows.first { $0.contains("org/\(name)") }?.split(separator: " ").last
        }
        #expect(flags("bad") == "damaged" && flags("open") == "use" && flags("pinned") == "pinned")
        let plan = try await stage.run("gc", "--damaged", "--dry-run")
        #expect(
            plan.output.contains("hub verify found w.bin damaged") && !plan.output.contains("org/open"))
        _ = consume reader
    }
}
