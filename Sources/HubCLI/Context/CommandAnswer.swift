import HubCore

/// What a command said that ran within this process, as with `--json`.
struct CommandAnswer: Sendable {
    /// A note, a warning or an error that people read.
    struct Message: Sendable {
        var kind: String
        var text: String
        var advice: String?
    }

    /// The exit status.
    var status: Int32
    /// The document; empty if there was none.
    var document: JSONObject
    var messages: [Message]

    /// The document's error as people read it; nil if all went well.
    var error: Message? {
        guard let error = document["error"] else { return nil }
        return Message(
            kind: "error", text: error["message"]?.string ?? "it failed", advice: error["advice"]?.string)
    }
}

/// Keeps what an ``Output`` writes, for an answer.
final class CommandRecorder: Sendable {
    private let output = Lock<[UInt8]>([])
    private let error = Lock<[UInt8]>([])

    var outputSink: Sink { Self.sink(output) }
    var errorSink: Sink { Self.sink(error) }

    private static func sink(_ bytes: Lock<[UInt8]>) -> Sink {
        Sink { new in
            bytes.withLock { $0 += new }
            return 0
        }
    }

    /// What was written in all.
    ///
    /// - Throws: ``ErrorCode/ioError`` for something else than a document.
    func answer(status: Int32) throws(AIError) -> CommandAnswer {
        let (document, lines) = (output.withLock { $0 }, error.withLock { $0 })
        do {
            let messages = try lines.split(separator: 10).compactMap { line -> CommandAnswer.Message? in
                let event = try JSON.parse(Array(line))
                guard let kind = event["event"]?.string, let text = event["message"]?.string else { return nil }
                return .init(kind: kind, text: text, advice: event["advice"]?.string)
            }
            let object = document.isEmpty ? [:] : try JSON.parse(document).object ?? [:]
            return CommandAnswer(status: status, document: object, messages: messages)
        } catch { throw AIError(.ioError, "a command's answer cannot be read: \(error)") }
    }
}

extension Context {
    /// Runs a command within this process, as with `--json`, on the same cache and Hub.
    ///
    /// - Parameters:
    ///   - words: the command's name and what follows it; put `--` before what others typed.
    ///   - endpoint: another Hub than this context's.
    func answer(_ words: [String], endpoint: Endpoint? = nil) async throws -> CommandAnswer {
        var globals = ["--json", "--progress", "json"]
        if let cacheDir { globals += ["--cache-dir", cacheDir] }
        if let address = endpoint?.address ?? self.endpoint { globals += ["--endpoint", address] }
        if isOffline { globals.append("--offline") }
        let recorder = CommandRecorder()
        let status = await runsCommand(globals + words, recorder)
        return try recorder.answer(status: status)
    }

    /// The same context, whose output is a document in memory.
    func recording() -> (context: Context, recorder: CommandRecorder) {
        let recorder = CommandRecorder()
        let output = Output(
            Output.Settings(mode: .json, writesEvents: true), output: recorder.outputSink,
            error: recorder.errorSink)
        let copy = Context(
            environment: environment, output: output, interruption: Interruption(), suspension: suspension,
            isInteractive: false, inputIsTerminal: false, cacheDir: cacheDir, endpoint: endpoint,
            isOffline: isOffline, progressMode: .json, isUnicode: isUnicode, runsCommand: runsCommand)
        return (copy, recorder)
    }
}
