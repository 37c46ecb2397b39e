import HubCore
import HubServer

/// `hub serve`
enum ServeCommand {
    static let host = Option.text("host", "ADDRESS", "where to listen; the default is 127.0.0.1")
    static let port = Option.whole("port", in: 0...65_535, "the port; the default, 0, takes a free one")
    static let log = Option.text(
        "log", "FILE", kind: .file, "append a line for each request; - is stderr",
        detail: """
            A line has the time, the client's address, method, path, status and size. On a terminal, stderr is the \
            default.
            """)

    static let command = Command(
        name: "serve", isMinor: true, doc: "serve a folder of models as a Hub on this machine",
        detail: """
            Serves a folder that holds org/name folders over the Hub's own protocol, for hub and for every other Hugging \
            Face client whose HF_ENDPOINT is its address. The first line on stdout is that address, the second a line \
            for the shell of a client. Ctrl-C stops it.

            Where other machines can reach it, HUB_SERVE_TOKEN must be set. Then every request needs that token; \
            HF_TOKEN is never asked for.
            """,
        operands: [Operand("FOLDER", .one, .folder)],
        flags: [host.flag, port.flag, log.flag],
        examples: [
            .init("hub serve ./models", "On a free port of this machine."),
            .init("hub serve /srv/models --port 8080", "On a port that you choose."),
            .init("hub --endpoint http://127.0.0.1:8080 pull org/model", "Pull from it."),
        ],
        run: { try await run($0, Request($1)) })

    /// What is served, and where.
    struct Request: Sendable {
        var folder: String
        var host: String
        var port: UInt16
        /// The file for the request log.
        var log: String?

        init(_ arguments: ParsedArguments) {
            folder = arguments.operands[0]
            host = arguments[ServeCommand.host] ?? "127.0.0.1"
            port = UInt16(arguments[ServeCommand.port] ?? 0)
            log = arguments[ServeCommand.log]
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let (host, port) = (request.host, request.port)
        let output = context.output
        // A token of the server's own: asking others for this user's Hub token would hand it to them.
        let token = context.environment["HUB_SERVE_TOKEN"]
        let log = try RequestLog(output, file: request.log, hiding: token.flatMap { AccessToken($0) })
        let (server, models) = try await Blocking.run {
            let report: @Sendable (AIError) -> Void = { output.failure($0) }
            let access = try advising("set HUB_SERVE_TOKEN, or serve on 127.0.0.1", where: .invalidInput) {
                try HubAccess.serving(on: host, token: token)
            }
            let source = try advising(layout, where: .fileNotFound) {
                try FolderSource(request.folder, report: report)
            }
            let server = try advising("--port 0 takes a port that is free", where: port == 0 ? nil : .ioError) {
                try HubServer(
                    host: host, port: port, log: log?.write,
                    handler: HubService(source, access: access, report: report))
            }
            return (server, try source.cards(.model).count)
        }
        output.document(["address": .string(server.address), "models": .int(Int64(models))])
        output.value(server.address)
        output.value("export HF_ENDPOINT=\(server.address)")
        // The caller waits for the address, in either format.
        output.publish()
        let folder = request.folder
        if try isCache(folder) {
            output.warning(
                "\(folder.printable) is a cache or part of one, and hub serve does not read caches",
                advice: "\(layout), such as ./models after hub pull org/name --local-dir ./models/org/name")
        } else if let above = try above(model: folder) {
            output.warning(
                "\(folder.printable) is one model", advice: "hub serve \(ShellQuoting.word(above)) serves it")
        } else if models > 0 {
            output.note("serving \(Humanize.plural(models, "model")) from \(folder.printable); Ctrl-C stops it")
        } else {
            output.warning("no models found in \(folder.printable)", advice: layout)
        }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            context.interruption.onRequest { continuation.resume() }
        }
        // Closing waits for answers under way.
        await Blocking.run { server.stop() }
    }

    private static let layout = "hub serve takes a folder that holds org/name folders"

    /// The folder to serve instead of one model's: two levels up, where its id is org/name. nil for any other folder. A
    /// model with a folder in it would otherwise be served as if that folder were the model.
    private static func above(model folder: String) throws(AIError) -> String? {
        guard let names = try FileSystem.entries(folder),
            names.contains(where: { $0 == "config.json" || $0.hasSuffix(".safetensors") || $0.hasSuffix(".gguf") }),
            let path = FileSystem.resolved(folder)
        else { return nil }
        return Path.parent(Path.parent(path))
    }

    /// Whether a folder is the cache that every client shares, the one that holds it, or in it.
    private static func isCache(_ folder: String) throws(AIError) -> Bool {
        let parts = (FileSystem.resolved(folder) ?? folder).split(separator: "/").map(String.init)
        if parts.contains(where: { $0.contains("--") && Repository(folderName: $0) != nil }) { return true }
        for place in [folder, Path.join(folder, "hub")] {
            if try FileSystem.entries(place)?.contains(where: { $0.hasPrefix("models--") }) == true { return true }
        }
        return false
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
