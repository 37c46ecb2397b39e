import Foundation
import Support
import Testing

@testable import HubCLI

/// The real program, as a shell starts it.
@Suite struct BinaryTests {
    let environment = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"]

    func hub(_ words: String...) throws -> (status: Int32, output: String, error: String) {
        try execute(hubBinary, words, environment: environment)
    }

    func shell(_ line: String) throws -> (status: Int32, output: String, error: String) {
        let quoted = ShellQuoting.posix(hubBinary)
        return try execute("/bin/sh", ["-c", "hub() { \(quoted) \"$@\"; }; \(line)"], environment: environment)
    }

    @Test func version() throws {
        let result = try hub("version")
        #expect(result.status == 0 && result.output == "hub \(Version.number)\n" && result.error.isEmpty)
        #expect(try hub("--version").output == result.output)
        #expect(try hub("version", "-q").output == "\(Version.number)\n")
        #expect(try hub("version", "-v").output.contains("\nlibcurl "))
    }

    @Test func helpIsWhatTheTableSays() throws {
        let overview = HelpText.overview(CommandTable.all, width: 80).joined(separator: "\n") + "\n"
        for words in [[], ["--help"], ["-h"], ["help"]] {
            let result = try execute(hubBinary, words, environment: environment)
            #expect(result.status == (words.isEmpty ? 2 : 0) && result.output == overview && result.error.isEmpty)
        }
        let pull = try #require(CommandTable.all.first { $0.name == "pull" })
        #expect(try hub("help", "pull").output == HelpText.long(pull, width: 80).joined(separator: "\n") + "\n")
        #expect(try hub("pull", "-h").output == HelpText.short(pull, width: 80).joined(separator: "\n") + "\n")
    }

    @Test func unknownCommand() throws {
        let result = try hub("serch", "llama")
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.error == "hub: unknown command \"serch\"\n     did you mean: hub search\n")
    }

    @Test func aClosedPipeEndsQuietly() throws {
        // The reader is gone before hub writes.
        let result = try shell("{ sleep 0.3; hub help --man; echo \"status $?\" >&2; } | true")
        #expect(result.error == "status 0\n")
        #expect(try shell("hub help | head -1").output == "hub \(Version.number): \(HelpText.purpose)\n")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"))) func aFullDiskIsAnError() throws {
        let result = try shell("hub help > /dev/full")
        #expect(result.status == 6)
        #expect(result.error.hasPrefix("hub: cannot write to standard output: No space left on device\n"))
    }

    /// stdout is an unread pipe, so that the program blocks in write(2) once it is full.
    @Test func aSecondInterruptionEndsAtOnce() async throws {
        let output = Pipe()
        // The pipe's own end is closed here once the program has it.
        let end = fcntl(output.fileHandleForWriting.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        defer { close(end) }
        func isFull() -> Bool {
            var question = pollfd(fd: end, events: Int16(POLLOUT), revents: 0)
            return poll(&question, 1, 0) == 0
        }
        // Room for two pages of the many: when that is gone, the program has come as far as writing.
        let page = [UInt8](repeating: 120, count: 4096)
        while !isFull() { #expect(write(end, page, page.count) == page.count) }
        _ = try output.fileHandleForReading.read(upToCount: 2 * page.count)

        let process = Process()
        process.executableURL = URL(fileURLWithPath: hubBinary)
        process.arguments = ["help", "--man"]
        process.environment = environment
        process.standardOutput = output
        process.standardError = Pipe()
        try process.run()
        try await eventually("a full pipe", isFull)
        process.interrupt()
        // One alone does not end it, however long it is left to.
        try await Task.sleep(nanoseconds: 300_000_000)
        #expect(process.isRunning)
        // A signal that comes while the first is still to be delivered counts as the same.
        try await eventually("the end") {
            process.interrupt()
            return !process.isRunning
        }
        #expect(process.terminationReason == .exit && process.terminationStatus == 130)
    }
}
