import Fetcher
import HubCore

/// `hub path`
enum PathCommand {
    static let command = Command(
        name: "path", doc: "print where a cached model or file is",
        detail: """
            Prints the snapshot folder of a cached model, or one file in it, and notes that it was used. Nothing is \
            fetched: what is not there is exit status 3.
            """,
        operands: [Operand("REF[:FILE]", .one, .model)],
        examples: [
            .init("hub path openai/gpt-oss-20b", "The folder of the model."),
            .init("cat \"$(hub path gpt2:config.json)\"", "One file of it."),
            .init("hub path gpt2 || hub pull gpt2", "Fetch what is not there."),
        ],
        run: run)

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let reference = try context.reference(arguments.operand!)
        let workspace = try await context.workspace()
        let path = try await Offload.run {
            var whole = reference
            whole.files = nil
            guard let (folder, commit) = try workspace.snapshot(of: reference) else {
                throw AIError(
                    .notCached, "\(whole) is not in the cache \(workspace.layout.root)", advice: "hub pull \(whole) fetches it",
                    context: .init(repository: reference.repository.description))
            }
            var path = folder.snapshot(commit)
            if let file = reference.files {
                if let fault = RepositoryPath.fault(file) { throw AIError(.invalidInput, "\"\(file.printable)\" is no file of a repository: \(fault)") }
                path = Path.join(path, file)
                guard FileSystem.exists(path) else {
                    throw AIError(
                        .notCached, "\(reference) is not in the cache", advice: "hub pull \(whole) --include '\(file)' fetches it",
                        context: .init(repository: reference.repository.description, path: file))
                }
            }
            workspace.markUsed(folder, commit)
            return path
        }
        context.output.render(json: ["path": .string(path)], quiet: [path]) { context.output.value(path) }
    }
}
