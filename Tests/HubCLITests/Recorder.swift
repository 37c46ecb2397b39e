import Foundation
import HubCore
import Testing

@testable import HubCLI

/// A sink that keeps what is written, or refuses it.
final class Recorder: Sendable {
    private let bytes = Lock<[UInt8]>([])
    private let errno: Int32

    init(failingWith errno: Int32 = 0) { self.errno = errno }

    var sink: Sink {
        Sink { bytes in
            if self.errno != 0, !bytes.isEmpty { return self.errno }
            self.bytes.withLock { $0 += bytes }
            return 0
        }
    }

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
}

/// Runs a command line inside this process.
func runInside(
    _ words: String..., environment: [String: String] = [:], streams: Context.Streams = .init(),
    interruption: Interruption = Interruption(), commands: [Command] = CommandTable.all,
    output: Recorder = Recorder()
) async -> (status: Int32, output: String, error: String) {
    let error = Recorder()
    let status = await Program.run(
        words, environment: HubEnvironment(environment), streams: streams, interruption: interruption,
        commands: commands, output: output.sink, error: error.sink)
    return (status, output.text, error.text)
}

extension ArgumentParser {
    /// Reads words by the program's own table.
    static func parse(_ words: [String]) -> Outcome {
        parse(words, commands: CommandTable.all + CommandTable.hidden)
    }
}

/// A command for tests.
func testCommand(
    _ name: String = "do", operands: [Operand] = [], flags: [Flag] = [], exclusive: [[String]] = [],
    purpose: Command.Purpose = .answers,
    run: @escaping @Sendable (Context, ParsedArguments) async throws -> Void = { _, _ in }
) -> Command {
    Command(
        name: name, purpose: purpose, doc: "do", detail: "Does.", operands: operands, flags: flags,
        exclusive: exclusive,
        examples: [.init("hub \(name)", "Does.")], run: run)
}

/// Runs a program to its end.
func execute(_ program: String, _ arguments: [String], environment: [String: String]? = nil, input: String? = nil)
    throws
    -> (status: Int32, output: String, error: String)
{
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    if let environment { process.environment = environment }
    let output = Pipe()
    let error = Pipe()
    process.standardOutput = output
    process.standardError = error
    process.standardInput = FileHandle.nullDevice
    try process.run()
    // The output is far smaller than a pipe's buffer, so sequential reading cannot block.
    let outputData = output.fileHandleForReading.readDataToEndOfFile()
    let errorData = error.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let status =
        process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    return (status, String(decoding: outputData, as: UTF8.self), String(decoding: errorData, as: UTF8.self))
}

/// The first of these programs that this machine has.
func program(_ name: String) -> String? {
    ["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}

/// The built `hub`, beside the test bundle.
let hubBinary: String = {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    // On macOS the bundle is a folder, and the runner is elsewhere: its path is among the arguments.
    if let bundle = CommandLine.arguments.first(where: { $0.contains(".xctest") }) {
        folder = URL(fileURLWithPath: bundle)
        while folder.path.contains(".xctest") { folder.deleteLastPathComponent() }
    }
    return folder.appendingPathComponent("hub").path
}()

/// A file that is deleted with this object.
final class TemporaryFile {
    let path: String
    init(_ text: String, name: String = "file") throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)-\(name)").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
}
