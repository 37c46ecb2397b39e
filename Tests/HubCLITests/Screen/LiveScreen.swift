import CSupport
import HubCore
import Support
import Testing

/// A program on a terminal and what its screen shows.
final class LiveScreen: Sendable {
    let process: RunningProcess
    private let terminal: Lock<(emulator: TerminalEmulator, read: Int)>

    init(_ process: RunningProcess, columns: Int = 80, rows: Int = 24) {
        self.process = process
        terminal = Lock((TerminalEmulator(columns: columns, rows: rows), 0))
    }

    /// Waits until the screen is so; what it is then.
    @discardableResult
    func wait(
        _ what: String, _ isSo: @escaping @Sendable (TerminalEmulator) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TerminalEmulator {
        do {
            let found = try await process.waitForTerminal(what) { [self] bytes in
                terminal.withLock { terminal in
                    terminal.emulator.feed(bytes[terminal.read...])
                    terminal.read = bytes.count
                    return isSo(terminal.emulator) ? terminal.emulator : nil
                }
            }
            #expect(found.unknown.isEmpty, sourceLocation: sourceLocation)
            return found
        } catch {
            Issue.record(
                "\(what); the screen is:\n\(now.lines.joined(separator: "\n"))", sourceLocation: sourceLocation)
            throw error
        }
    }

    /// Waits until the screen is exactly this, but for how much of the disk is free.
    func expect(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await wait("this screen:\n\(expected)", { Self.text($0) == expected }, sourceLocation: sourceLocation)
    }

    /// Types keys and waits for the screen.
    func type(_ keys: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        process.write(keys)
        try await expect(expected, sourceLocation: sourceLocation)
    }

    /// Types keys and waits for a line.
    func type(_ keys: String, line: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        process.write(keys)
        try await wait(
            "the line \"\(line)\"", { Self.text($0).split(separator: "\n").contains(line[...]) },
            sourceLocation: sourceLocation)
    }

    /// Pulls the window to another size.
    func resize(columns: Int, rows: Int) throws {
        terminal.withLock { $0.emulator.resize(columns: columns, rows: rows) }
        try process.resizeTerminal(columns: UInt16(columns), rows: UInt16(rows))
    }

    var now: TerminalEmulator { terminal.withLock { $0.emulator } }

    /// The screen as a text without the empty lines at its end. What of the disk is free is others' doing, and shifts what
    /// stands behind it in its line; so is whether other users' programs can be looked into, and where the test's files are.
    static func text(_ terminal: TerminalEmulator) -> String {
        var lines = terminal.lines
        while lines.last == "" { lines.removeLast() }
        return lines.map { line in
            let line = line.replacing(/(; )?whether programs of other users .*/, with: "")
                // How much of a path fits depends on where the tests' files are.
                .replacing(/\ from \/\S*[?…~]$/, with: " from MACHINE/hf/hub?")
                .replacing(/[\/…~]\S*\/hf\/xet\//, with: "MACHINE/hf/xet/")
                .replacing(/\/\S*\/machine-test-[0-9a-f]+/, with: "MACHINE")
                .replacing(/then \d[^…~]*[…~]/, with: "then SIZE…")
            guard line.contains(/[\d.]+ [kMGTP]?B free/) else { return line }
            return line.replacing(/[\d.]+ [kMGTP]?B free/, with: "SIZE free").replacing(/\ {2,}/, with: "  ")
        }.joined(separator: "\n")
    }
}

/// Caches for the list: made by hand, with times that do not change with the moment of the test.
extension Stage {
    /// Days before now, with some hours so that a test's own duration changes no figure.
    private static func time(daysAgo days: Double) -> Double { Timestamp.now - days * 86_400 - 7200 }

    private func setTimes(_ path: String, daysAgo days: Double) throws {
        let fault = support_set_times(path, Self.time(daysAgo: days))
        guard fault == 0 else { throw AIError.system("cannot set the times of", path: path, errno: fault) }
    }

    /// A revision with one blob for each size, named by the digit; all of it used and downloaded so long ago.
    func plantOld(
        _ folder: String, commit: String, ref: String? = "main", blobs: [(etag: String, size: Int)], daysAgo: Double
    ) throws {
        let place = Path.join(cache, folder)
        let snapshot = Path.join(place, "snapshots/\(commit)")
        for directory in ["blobs", "refs", "snapshots/\(commit)"] {
            try FileSystem.createDirectories(Path.join(place, directory))
        }
        for (etag, size) in blobs {
            let blob = Path.join(place, "blobs/\(etag)")
            if !FileSystem.exists(blob) {
                try FileSystem.replace(blob, with: [UInt8](repeating: 0, count: size))
                try setTimes(blob, daysAgo: daysAgo)
            }
            let link = Path.join(snapshot, "\(etag.prefix(4)).bin")
            try FileSystem.createSymlink("../../blobs/\(etag)", at: link)
            try setTimes(link, daysAgo: daysAgo)
        }
        if let ref { try FileSystem.replace(Path.join(place, "refs/\(ref)"), with: Array(commit.utf8)) }
    }

    /// Three models of a thousand bytes each, last used 30, 20 and 10 days ago.
    func plantThree() throws {
        for (digit, days) in [("1", 30.0), ("2", 20), ("3", 10)] {
            try plantOld(
                "models--org--m\(digit)", commit: String(repeating: digit, count: 40),
                blobs: [(String(repeating: digit, count: 64), 1000)], daysAgo: days)
        }
    }

    /// A file below the cache or beside it, so old.
    func plantOldFile(_ path: String, size: Int, daysAgo: Double) throws {
        try FileSystem.createDirectories(Path.parent(path))
        try FileSystem.replace(path, with: [UInt8](repeating: 0, count: size))
        try setTimes(path, daysAgo: daysAgo)
    }

    /// 40 models, the first of them used longest ago. In m05 two revisions share a blob; m06 and m07 are one file by a
    /// hard link; m09 is damaged; m10 has a partial, m11 an orphan; Xet keeps a chunk.
    static func withForty() throws -> Stage {
        let stage = try Stage()
        for number in 1...40 {
            let digits = number < 10 ? "0\(number)" : "\(number)"
            let commit = String(repeating: digits, count: 20)
            let folder = "models--org--m\(digits)"
            let days = Double(700 - 17 * number)
            let etag = String(repeating: digits, count: 32)
            switch number {
            case 5:
                let shared = String(repeating: "5", count: 64)
                try stage.plantOld(
                    folder, commit: commit, blobs: [(etag, 5000), (shared, 50_000)], daysAgo: days)
                try stage.plantOld(
                    folder, commit: String(repeating: "e5", count: 20), ref: nil,
                    blobs: [(String(repeating: "e5", count: 32), 500), (shared, 50_000)], daysAgo: days + 0.01)
            case 7:
                try stage.plantOld(folder, commit: commit, blobs: [], daysAgo: days)
                let place = Path.join(stage.cache, folder)
                try FileSystem.createHardLink(
                    Path.join(stage.cache, "models--org--m06/blobs/\(String(repeating: "06", count: 32))"),
                    at: Path.join(place, "blobs/\(etag)"))
                let link = Path.join(place, "snapshots/\(commit)/w.bin")
                try FileSystem.createSymlink("../../blobs/\(etag)", at: link)
                try stage.setTimes(link, daysAgo: days)
            default:
                try stage.plantOld(folder, commit: commit, blobs: [(etag, number * 1000)], daysAgo: days)
            }
        }
        let broken = Path.join(
            stage.cache, "models--org--m09/snapshots/\(String(repeating: "09", count: 20))/x.bin")
        try FileSystem.createSymlink("../../blobs/\(String(repeating: "f", count: 64))", at: broken)
        try stage.setTimes(broken, daysAgo: 547)
        let partial = String(repeating: "a", count: 64) + ".hub.incomplete"
        try stage.plantOldFile(Path.join(stage.cache, "models--org--m10/blobs/\(partial)"), size: 777, daysAgo: 100)
        let orphan = String(repeating: "b", count: 64)
        try stage.plantOldFile(Path.join(stage.cache, "models--org--m11/blobs/\(orphan)"), size: 888, daysAgo: 100)
        try stage.plantOldFile(stage.machine("hf/xet/server/chunk_cache/c0"), size: 999, daysAgo: 50)
        try stage.plantOldFile(stage.machine("hf/xet/server/staging/s0"), size: 5, daysAgo: 50)
        return stage
    }

    /// `hub gc` at its list.
    func list(
        _ words: String..., terminal: String = "xterm", columns: Int = 80, rows: Int = 24,
        with: [String: String] = [:]
    )
        throws -> LiveScreen
    {
        let environment = environment.merging(["TERM": terminal]) { $1 }.merging(with) { $1 }.filter {
            !$0.value.isEmpty
        }
        let process = try RunningProcess(
            BuiltProduct.path(), ["gc"] + words, environment: environment, directory: machine.path,
            terminal: .init(columns: UInt16(columns), rows: UInt16(rows)))
        return LiveScreen(process, columns: columns, rows: rows)
    }
}
