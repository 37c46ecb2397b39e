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
        let text = String(decoding: try Fixtures.bytes("screens/gc.txt"), as: UTF8.self)
        return text.split(separator: "\n=== ", omittingEmptySubsequences: false).dropFirst().map { part in
            let end = part.firstIndex(of: "\n") ?? part.endIndex
            return Step(action: String(part[..<end]), screen: String(part[end...].dropFirst()))
        }
    }

    private static let keys = [
        "Up": "\u{1B}[A", "Down": "\u{1B}OB", "PgUp": "\u{1B}[5~", "PgDn": "\u{1B}[6~", "Home": "\u{1B}OH", "End": "\u{1B}OF",
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

    @Test(arguments: ["xterm", "vt100"]) func generate(terminal: String) async throws {
        let stage = try Stage.withForty()
        let screen = try stage.list(terminal: terminal)
        try await screen.wait("start") { $0.lines.last?.contains("q quit") == true }
        var out = ""
        let actions = ["start", "Down", "Space", "j", "k", "PgDn", "PgUp", "End", "Home", "a", "u", "Down Space n", "u",
            "^L", "/", "m0", "5", "Backspace 05x", "Backspace", "Enter", "Space", "Down Space", "Esc", "s", "s", "s", "s", "x",
            "Down", "i", "q", "?", "q", "Space Down Space", "Home Down Down p", "Space", "p", "p",
            "/10 Enter End Space", "Esc /orphan Enter Space", "Esc /xet Enter Space", "Esc", "60x12", "40x7", "30x3", "100x60",
            "Enter", "80x24", "PgDn", "End", "k", "Up", "Home", "q", "100x60", "Enter"]
        for action in actions {
            try perform(action, screen)
            try await Task.sleep(nanoseconds: 700_000_000)
            try await screen.wait("x") { _ in true }
            out += "\n=== \(action)\n" + LiveScreen.text(screen.now)
        }
        try FileSystem.replace("/tmp/gc-\(terminal).txt", with: Array((out + "\n").utf8))
    }
}
