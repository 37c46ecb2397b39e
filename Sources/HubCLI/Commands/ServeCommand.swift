import HubCore
import HubServer

/// `hub serve`
enum ServeCommand {
    static let host = Option.text("host", "ADDRESS", "where to listen; the default is 127.0.0.1")
    static let port = Option.whole("port", in: 0...65_535, "the port; the default, 0, takes a free one")

    static let command = Command(
        name: "serve", isMinor: true, doc: "serve a folder of models as a Hub on this machine",
        detail: """
            Serves a folder that holds org/name folders over the Hub's own protocol, for hub and for every other Hugging \
            Face client that is given the address as HF_ENDPOINT. The first line on stdout is that address. Ctrl-C ends it.

            Where others than this machine can reach it, HUB_SERVE_TOKEN must be set: every request has to show that \
            token, and HF_TOKEN is never asked for.
            """,
        operands: [Operand("FOLDER", .one, .folder)],
        flags: [host.flag, port.flag],
        examples: [
            .init("hub serve ./models", "On a free port of this machine."),
            .init("hub serve /srv/models --port 8080", "On a port of one's own choice."),
            .init("hub --endpoint http://127.0.0.1:8080 pull org/model", "The other side."),
        ],
        run: run)

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let host = arguments[host] ?? "127.0.0.1"
        let port = UInt16(arguments[port] ?? 0)
        let output = context.output
        // A token of the server's own: asking others for this user's Hub token would hand it to them.
        let token = context.environment["HUB_SERVE_TOKEN"]
        let server = try await Offload.run {
            let report: @Sendable (AIError) -> Void = { output.failure($0) }
            let access = try advising("set HUB_SERVE_TOKEN, or serve on 127.0.0.1", where: .invalidInput) {
                try HubAccess.serving(on: host, token: token)
            }
            let source = try advising("hub serve takes a folder that holds org/name folders", where: .fileNotFound)
            {
                try FolderSource(arguments.operand!, report: report)
            }
            return try advising("--port 0 takes a port that is free", where: port == 0 ? nil : .ioError) {
                try HubServer(
                    host: host, port: port, handler: HubService(source, access: access, report: report))
            }
        }
        output.document(["address": .string(server.address)])
        output.value(server.address)
        // Whoever started it waits for the address, in either form.
        output.publish()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            context.interruption.onRequest { continuation.resume() }
        }
        // Closing waits for answers under way.
        await Offload.run { server.stop() }
    }

    /// Errors of the library know nothing of flags and variables.
    private static func advising<Value>(
        _ advice: String, where code: ErrorCode?, _ body: () throws -> Value
    ) throws -> Value {
        do { return try body() } catch let error as AIError where error.code == code {
            var told = error
            told.specificAdvice = advice
            throw told
        }
    }
}
