import Fetcher
import HubCore
import ModelFormats

/// `hub path`
enum PathCommand {
    static let command = Command(
        name: "path", doc: "print the path of a cached model or file",
        detail: """
            Prints the snapshot folder of a cached model, or the path of one file in it, and records the use. REF:Q4_K_M is \
            the GGUF file of that quantization, the first of several. It downloads \
            nothing; if the model or file is not in the cache, or the model's first download is unfinished, the exit code is 3.
            """,
        operands: [Operand("REF[:FILE]", .one, .cachedModel)],
        examples: [
            .init("hub path openai/gpt-oss-20b", "The folder of a model."),
            .init("cat \"$(hub path gpt2:config.json)\"", "A file of a model."),
            .init("llama-cli -m \"$(hub path org/model-GGUF:Q4_K_M)\"", "A quantization, for another program."),
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
            let path = try place(of: reference, in: folder, commit)
            workspace.markUsed(folder, commit)
            return path
        }
        context.output.render(json: ["path": .string(path)], quiet: [path]) { context.output.value(path) }
    }

    /// The path of what a reference names in a snapshot: the folder, a file, or the first file of a quantization.
    private static func place(
        of reference: ModelReference, in folder: RepositoryFolder, _ commit: Commit
    ) throws(AIError) -> String {
        let snapshot = folder.snapshot(commit)
        guard let file = reference.files else { return snapshot }
        if let fault = RepositoryPath.fault(file) {
            throw AIError(.invalidInput, "\"\(file.printable)\" is not a path in a repository: \(fault)")
        }
        let path = Path.join(snapshot, file)
        if FileSystem.exists(path) { return path }
        if let first = try weights(file, of: reference.repository, in: snapshot) {
            return Path.join(snapshot, first)
        }
        throw try absent(file, reference, folder, commit)
    }

    /// The first file of a quantization; nil if the word names no quantization, or one that is not there.
    private static func weights(
        _ word: String, of repository: Repository, in snapshot: String
    ) throws(AIError) -> String? {
        let paths = try Warming(folder: snapshot).files.map(\.name)
        do throws(AIError) {
            guard case .weights(let variant, _) = try NamedFiles(word, amongPaths: paths, of: repository) else {
                return nil
            }
            return variant.files.first
        } catch {
            guard error.code == .nothingMatches else { throw error }
            return nil
        }
    }

    private static func absent(
        _ file: String, _ reference: ModelReference, _ folder: RepositoryFolder, _ commit: Commit
    ) throws(AIError) -> AIError {
        let whole = reference.withoutFiles
        let place = AIError.Context(repository: reference.repository.description, path: file)
        if GlobPattern.isPattern(file) {
            return AIError(
                .invalidInput, "hub path takes one file, not a glob such as \(file.printable)",
                advice: "hub path \(whole) prints the folder")
        }
        if let tree = try folder.readTree(commit),
            !tree.files.contains(where: { $0.path == file || $0.path.hasPrefix(file + "/") })
        {
            // Of a quantization that the model does not have, this names those that it has.
            _ = try NamedFiles(file, among: tree.files, of: reference.repository)
            if !NamedFiles.isQuantization(file) {
                return AIError(
                    .fileNotFound, "\(whole) does not have the file \(file.printable)",
                    advice: "hub info \(whole) --files lists its files", context: place)
            }
        }
        let pulled =
            NamedFiles.isQuantization(file)
            ? "\(reference)" : "\(whole) --include \(ShellQuoting.word(file.printable))"
        return AIError(
            .notCached, "\(reference) is not in the cache", advice: "hub pull \(pulled) downloads it",
            context: place)
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
