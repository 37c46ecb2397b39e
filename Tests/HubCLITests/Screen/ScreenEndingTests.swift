import Catalog
import HubCore
import Libc
import Support
import Testing

/// However the list of `hub gc` ends or is left, the terminal is given back as it was, and nothing is deleted.
@Suite struct ScreenEndingTests {
    let stage: Stage
    private let before: [String]

    init() throws {
        stage = try Stage()
        try stage.plantThree()
        before = try stage.listing(stage.cache).filter { !$0.hasPrefix(".locks") }
    }

    /// What a person sees of the three models.
    private static let rows = """
        NAME    REFS    SIZE   FREES  USED         ADDED
        > [ ] org/m1  main  1.0 kB  1.0 kB  4 weeks ago  4 weeks ago
          [ ] org/m2  main  1.0 kB  1.0 kB  3 weeks ago  3 weeks ago
          [ ] org/m3  main  1.0 kB  1.0 kB  1 week ago   1 week ago
        """

    /// The list, and the terminal's mode before there was one.
    private func atList(_ line: String = "exec \"$hub\" gc", terminal: String = "xterm") async throws -> (
        LiveScreen, mode: [UInt32]
    ) {
        // Sanitizers would keep SIGSEGV for themselves.
        let sanitizer = ["ASAN", "TSAN"].map { "\($0)_OPTIONS=\"${\($0)_OPTIONS-}:handle_segv=0\"" }
            .joined(separator: " ")
        let process = try stage.shell(
            "export TERM=\(terminal) SWIFT_BACKTRACE=enable=no \(sanitizer); ulimit -c 0; read x; \(line)",
            terminal: .init())
        let mode = try #require(process.terminalMode)
        process.write("\n")
        let screen = LiveScreen(process)
        try await screen.wait("the list") { $0.lines.last?.hasSuffix("q quit") == true }
        #expect(Self.list(screen.now) == Self.rows)
        #expect(process.terminalMode != mode && process.terminalEchoes == false)
        return (screen, mode)
    }

    private static func list(_ terminal: TerminalEmulator) -> String {
        terminal.lines[2..<6].joined(separator: "\n").replacing(/^ +NAME/, with: "NAME")
    }

    private func expectGivenBack(_ screen: LiveScreen, _ mode: [UInt32]) async throws {
        let terminal = try await screen.wait("the usual screen") { !$0.showsAlternate && !$0.sendsApplicationKeys }
        #expect(screen.process.terminalMode == mode)
        #expect(terminal.modes.isSuperset(of: ["?7", "?25"]) && !terminal.modes.contains("?1"))
        #expect(terminal.attributes.isEmpty)
        #expect(try stage.listing(stage.cache).filter { !$0.hasPrefix(".locks") } == before)
    }

    @Test(arguments: ["xterm", "vt100"]) func byQ(terminal: String) async throws {
        let (screen, mode) = try await atList(terminal: terminal)
        screen.process.write("q")
        let result = try await screen.process.wait()
        #expect(result.status == 0 && result.terminal.contains("nothing was deleted"))
        try await expectGivenBack(screen, mode)
    }

    @Test func byAnInterruption() async throws {
        let (screen, mode) = try await atList()
        screen.process.write("\u{3}")
        let result = try await screen.process.wait()
        #expect(result.status == 130 && !result.wasKilled && result.terminal.contains("interrupted"))
        #expect(result.terminal.contains("nothing was deleted") && !result.terminal.contains("continues where"))
        try await expectGivenBack(screen, mode)
    }

    @Test func byAnInterruptionOfTheReview() async throws {
        let (screen, mode) = try await atList()
        screen.process.write(" ")
        try await screen.type("\r", line: "y delete  t move to trash  arrows scroll  other keys: back")
        screen.process.send(SIGTERM)
        #expect(try await screen.process.wait().status == 130)
        try await expectGivenBack(screen, mode)
    }

    /// Signals that end a program, its own faults included.
    @Test(arguments: [SIGHUP, SIGQUIT, SIGSEGV, SIGABRT, SIGILL]) func byASignal(number: Int32) async throws {
        let (screen, mode) = try await atList()
        screen.process.send(number)
        let result = try await screen.process.wait()
        #expect(result.wasKilled && result.status == 128 + number)
        try await expectGivenBack(screen, mode)
    }

    @Test func byASignalOnATerminalWithOneScreen() async throws {
        let (screen, mode) = try await atList(terminal: "vt100")
        screen.process.send(SIGHUP)
        #expect(try await screen.process.wait().wasKilled)
        try await expectGivenBack(screen, mode)
    }

    /// With a shell that controls jobs. The window is pulled at meanwhile, which the list must notice.
    @Test func aStopGivesTheTerminalBackAndContinuingTakesItAgain() async throws {
        let (screen, mode) = try await atList(
            "set -m; \"$hub\" gc; echo \"stopped $?\"; read line; fg >/dev/null; echo \"ended $?\"; read line")
        // A stop drops what was typed and not read.
        screen.process.write("j ")
        try await screen.wait("the mark") { $0.lines[4].hasPrefix("> [x] org/m2") }
        screen.process.write("\u{1A}")
        try await screen.process.wait(forText: "stopped \(128 + SIGTSTP)")
        try await expectGivenBack(screen, mode)
        try screen.resize(columns: 60, rows: 12)
        screen.process.write("\n")
        let terminal = try await screen.wait("the list again") {
            $0.showsAlternate && $0.lines.last?.hasPrefix("space mark") == true
        }
        #expect(terminal.lines[4] == "> [x] org/m2  main  1.0 kB  1.0 kB  3 weeks ago")
        #expect(screen.process.terminalEchoes == false)
        screen.process.write("q")
        try await screen.process.wait(forText: "ended 0")
        try await expectGivenBack(screen, mode)
        screen.process.write("\n")
        #expect(try await screen.process.wait().status == 0)
    }

    #if os(Linux)
    /// While the list waits for the catalog, which another process holds.
    @Test func aStopDuringALongStepGivesTheTerminalBackToo() async throws {
        let library = try await FaultyDisk.library(in: stage.machine)
        let waits = stage.machine("waits")
        let (screen, mode) = try await atList(
            "set -m; LD_PRELOAD=\(library) FAULTY_DISK=waits:\(waits) \"$hub\" gc; echo \"stopped $?\"; "
                + "read line; fg >/dev/null; echo \"ended $?\"; read line")
        let holder = try Connection(stage.catalog)
        try holder.execute("BEGIN IMMEDIATE")
        screen.process.write("p")
        try await eventually("the list waits") { FileSystem.exists(waits) }
        screen.process.write("\u{1A}")
        try await screen.process.wait(forText: "stopped \(128 + SIGTSTP)")
        try await expectGivenBack(screen, mode)
        try holder.execute("ROLLBACK")
        screen.process.write("\n")
        // On a slow machine the list has stopped waiting for the catalog, and says so.
        try await screen.wait("the list again") {
            $0.showsAlternate && $0.lines.last?.hasSuffix("q quit") == true
                && ($0.lines[3].hasSuffix("pinned") || $0.lines[22].contains("is in use"))
        }
        #expect(screen.process.terminalEchoes == false)
        screen.process.write("q")
        try await screen.process.wait(forText: "ended 0")
        try await expectGivenBack(screen, mode)
        screen.process.write("\n")
        #expect(try await screen.process.wait().status == 0)
    }
    #endif

    // MARK: Terminals that show less

    @Test func aTerminalWithoutColours() async throws {
        let colored = try stage.list()
        try await colored.wait("the list") { $0.lines.last?.hasSuffix("q quit") == true }
        colored.process.write("q")
        #expect(try await colored.process.wait().terminal.contains(/\u{1B}\[[0-9;]*3[0-7]m/))
        let plain = try stage.list(with: ["NO_COLOR": "1"])
        try await plain.wait("the list") { $0.lines.last?.hasSuffix("q quit") == true }
        plain.process.write("q")
        let result = try await plain.process.wait()
        #expect(result.status == 0 && !result.terminal.contains(/\u{1B}\[[0-9;]*[34][0-7]m/))
    }

    /// Characters beyond ASCII where the locale has them, installed or not, and none otherwise.
    @Test(arguments: ["C.UTF-8", "xx_YY.UTF-8", "C"]) func theLocaleDecides(locale: String) async throws {
        try stage.plantOld(
            "models--org--m3", commit: String(repeating: "4", count: 40), ref: "zweig-ä日",
            blobs: [(String(repeating: "3", count: 64), 1000)], daysAgo: 10)
        let screen = try stage.list(with: ["LC_ALL": locale])
        let terminal = try await screen.wait("the list") { $0.lines.last?.hasSuffix("q quit") == true }
        let branch = try #require(terminal.lines.first { $0.contains("zweig") })
        #expect(branch.contains(locale == "C" ? "zweig-??" : "zweig-ä日"))
        #expect(
            terminal.lines.contains { $0.contains(locale == "C" ? " + 44444444" : " └ 44444444") },
            "\(terminal.lines)")
        #expect(locale != "C" || terminal.lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
        screen.process.write("q")
        #expect(try await screen.process.wait().status == 0)
    }

    @Test func aTerminalThatNobodyKnows() async throws {
        let process = try stage.start("gc", with: ["TERM": "nobody-knows-it"], terminal: .init())
        let result = try await process.wait()
        #expect(result.status == 2)
        #expect(
            result.terminal.contains("this terminal cannot show a full screen")
                && result.terminal.contains("--plain"))
        #expect(process.terminalEchoes == true)
    }
}
