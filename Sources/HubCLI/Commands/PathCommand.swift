import Fetcher
import HubCore

/// `hub path`
enum PathCommand {
    static let command = Command(
        name: "path", isMinor: true, doc: "print the path of a cached model or file",
        detail: """
            Prints the snapshot folder of a cached model, or the path of one file in it, and records the use. It downloads \
            nothing; if the model or file is not in the cache, or the model's first download is unfinished, the exit code is 3.
            """,
        operands: [Operand("REF[:FILE]", .one, .cachedModel)],
        examples: [
            .init("hub path openai/gpt-oss-20b", "The folder of a model."),
            .init("cat \"$(hub path gpt2:config.json)\"", "A file of a model."),
            .init("hub path gpt2 || hub pull gpt2", "Download it if it is not there."),
        ],
        run: { try await run($0, Request($1)) })

    /// What is to be found.
    struct Request {
        var model: String

        init(_ arguments: ParsedArguments) { model = arguments.operands[0] }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let reference = try context.reference(request.model)
        let workspace = try await context.workspace()
        let whole = reference.withoutFiles
        guard let (folder, commit) = try await Blocking.run({ try workspace.snapshot(of: reference) }) else {
            throw AIError.notCached(whole, in: workspace.layout)
        }
        if reference.files == nil {
            let condition = try await workspace.condition(of: folder, reference.repository, at: commit)
            if condition.isFirstPullUnfinished {
                throw AIError(
                    .notCached, "\(whole) at \(commit.short): the download is incomplete",
                    advice: "hub pull \(whole) finishes it",
                    context: .init(repository: reference.repository.description))
            }
            if let damage = condition.damageSentence(reference) { context.output.warning("\(whole): \(damage)") }
            if let incomplete = condition.incompleteSentence(reference) {
                context.output.note("\(whole): \(incomplete)")
            }
        }
        let path = try await Blocking.run {
            var path = folder.snapshot(commit)
            if let file = reference.files {
                if let fault = RepositoryPath.fault(file) {
                    throw AIError(.invalidInput, "\"\(file.printable)\" is not a path in a repository: \(fault)")
                }
                path = Path.join(path, file)
                guard FileSystem.exists(path) else {
                    if GlobPattern.isPattern(file) {
                        throw AIError(
                            .invalidInput, "hub path takes one file, not a glob such as \(file.printable)",
                            advice: "hub path \(whole) prints the folder")
                    }
                    if let tree = try folder.readTree(commit),
                        !tree.files.contains(where: { $0.path == file || $0.path.hasPrefix(file + "/") })
                    {
                        throw AIError(
                            .fileNotFound, "\(whole) does not have the file \(file.printable)",
                            context: .init(repository: reference.repository.description, path: file))
                    }
                    throw AIError(
                        .notCached, "\(reference) is not in the cache",
                        advice: "hub pull \(whole) --include \(ShellQuoting.word(file.printable)) downloads it",
                        context: .init(repository: reference.repository.description, path: file))
                }
            }
            workspace.markUsed(folder, commit)
            return path
        }
        context.output.render(json: ["path": .string(path)], quiet: [path]) { context.output.value(path) }
    }
}

extension AIError {
    /// A model or revision that would have to be downloaded first.
    static func notCached(_ reference: ModelReference, in layout: CacheLayout) -> AIError {
        AIError(
            .notCached, "\(reference) is not in the cache \(layout.root)",
            advice: "hub pull \(reference) downloads it",
            context: .init(repository: reference.repository.description))
    }
}
