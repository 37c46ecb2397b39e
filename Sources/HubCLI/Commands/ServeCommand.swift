import HubCore
import HubServer

/// `hub serve`
enum ServeCommand {
    static let host = Option.text("host", "ADDRESS", "where to listen; the default is 127.0.0.1")
    static let port = Option.whole("port", in: 0...65_535, "the port; the default, 0, takes a free one")

    static let command = Command(
        name: "serve", doc: "serve a folder of models as a Hub on this machine",
        detail: """
            Serves a folder that holds org/name folders over the Hub's own protocol, for hub and for every other Hugging \
            Face client that is given the address as HF_ENDPOINT. The first line on stdout is that address. Ctrl-C ends it.
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
            let source = try FolderSource(arguments.operand!, report: report)
            let access = try HubAccess.serving(on: host, token: token)
            return try HubServer(host: host, port: port, handler: HubService(source, access: access, report: report))
        }
        output.render(json: ["address": .string(server.address)], quiet: [server.address]) { output.value(server.address) }
        output.flush()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            context.interruption.onRequest { continuation.resume() }
        }
        // Closing waits for answers under way.
        try await Offload.run { server.stop() }
    }
}
