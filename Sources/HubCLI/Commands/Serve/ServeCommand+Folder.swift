import HubCore
import HubServer

extension ServeCommand {
    private static let layout = "hub serve takes a folder that holds org/name folders"

    static func folderSetup(_ context: Context, _ request: Request, _ folder: String) async throws -> Setup {
        let output = context.output
        let token = context.environment["HUB_SERVE_TOKEN"]
        let report: @Sendable (AIError) -> Void = { output.failure($0) }
        let access = try advising("set HUB_SERVE_TOKEN, or serve on 127.0.0.1", where: .invalidInput) {
            try HubAccess.serving(
                on: request.host, isLocal: request.isLocal, token: token, names: request.names)
        }
        let (source, models) = try await Blocking.run {
            let near = NearestName.of(folder, among: command.subcommands.map(\.word))
            let advice = near.map { "did you mean: hub serve \($0)" } ?? layout
            let source = try advising(advice, where: .fileNotFound) { try FolderSource(folder, report: report) }
            return (source, try source.cards(.model).count)
        }
        return Setup(
            rooms: [FolderRoom(HubService(source, access: access, report: report))], access: access,
            metricsTokens: access.policy == .token ? token.map { TokenList($0) } : nil,
            document: ["models": .int(Int64(models))]
        ) { _ in try announce(folder, models: models, output) }
    }

    private static func announce(_ folder: String, models: Int, _ output: Output) throws {
        if try isCache(folder) {
            output.warning(
                "\(folder.printable) is a cache or part of one, and not a folder of models",
                advice: "hub serve without a folder serves the cache")
        } else if let above = try above(model: folder) {
            output.warning(
                "\(folder.printable) is one model", advice: "hub serve \(ShellQuoting.word(above)) serves it")
        } else if models > 0 {
            output.note("serving \(Humanize.plural(models, "model")) from \(folder.printable); Ctrl-C stops it")
        } else {
            output.warning("no models found in \(folder.printable)", advice: layout)
        }
    }

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
}
