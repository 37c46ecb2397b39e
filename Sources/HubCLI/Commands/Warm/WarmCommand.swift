import Fetcher
import HubCore

/// `hub cache warm`
enum WarmCommand {
    static let wait = Switch(
        "wait", "read, and end when all of it is in memory",
        detail: "Without it the kernel is asked to read ahead, which it may do only in part.")

    static let command = Command(
        name: "warm", purpose: .changes, doc: "read a cached model into memory before it is loaded",
        detail: """
            Reads the files of a cached model into the system's page cache, in the order in which programs load them: first \
            what describes the model, then its weights, shard by shard. What is in memory already is not read again, so that \
            a second run takes no time. It downloads nothing.

            With --wait it ends when everything is in memory: for init containers, which run before the program that \
            serves the model. The system may drop pages again when memory is needed; hub warns if the model is larger than the \
            memory.

            REF:Q4_K_M reads one quantization and the files that it needs, REF:FILE one file; globs and folders work too. Linux \
            does not say which parts of another user's files are in memory: --wait reads them all.
            """,
        operands: [Operand("REF[:FILE]|FOLDER", .one, .cachedModelOrFolder)],
        flags: [wait.flag],
        examples: [
            .init("hub cache warm gpt2 --wait", "Until all of it is in memory."),
            .init("hub cache warm org/model-GGUF:Q4_K_M", "One quantization, in the background."),
        ],
        run: { try await run($0, Request($1)) })

    /// What is read.
    struct Request {
        var model: String
        var wait: Bool

        init(_ arguments: ParsedArguments) {
            model = arguments.operands[0]
            wait = arguments[WarmCommand.wait]
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let (name, warming) = try await files(request.model, context)
        guard !warming.files.isEmpty else {
            throw AIError(.fileNotFound, "\(name) has no files that match", advice: "hub ls lists what is cached")
        }
        let memory = try Machine.memory().total
        if warming.bytes > memory {
            context.output.warning(
                "\(name) has \(ByteCount(warming.bytes)), more than this machine's \(ByteCount(memory)) of memory")
        }
        let renderer = context.progress()
        defer { renderer.finish() }
        let outcome = try await Blocking.runCancellable { check in
            var rate = RateEstimator()
            return try warming.run(waits: request.wait) { done in
                try check()
                var snapshot = ProgressSnapshot(title: name, phase: "reading")
                (snapshot.doneBytes, snapshot.totalBytes) = (done, warming.bytes)
                rate.record(done)
                snapshot.bytesPerSecond = rate.bytesPerSecond
                snapshot.secondsLeft = rate.secondsLeft(to: warming.bytes)
                renderer.update(snapshot)
            }
        }
        renderer.finish()
        context.output.render(
            json: ["bytes": .int(outcome.bytes), "already_bytes": .int(outcome.already)], quiet: []
        ) { context.output.line(sentence(name, outcome, request)) }
    }

    private static func sentence(_ name: String, _ outcome: Warming.Outcome, _ request: Request) -> Styled {
        let missing = outcome.bytes - outcome.already
        let already = outcome.already > 0 ? "; \(ByteCount(outcome.already)) were there" : ""
        let text =
            if missing == 0 { "all \(ByteCount(outcome.bytes)) are in memory" } else if request.wait {
                "\(ByteCount(missing)) read\(already)"
            } else { "reading \(ByteCount(missing)) ahead\(already)" }
        return Styled(name, .name) + Styled(": \(text)")
    }

    /// The files of a cached model, or of a folder.
    private static func files(_ text: String, _ context: Context) async throws -> (String, Warming) {
        if text.namesFolder {
            let path = context.environment.expand(text)
            return try await Blocking.run {
                guard try FileSystem.status(path)?.kind == .directory else {
                    throw AIError(.fileNotFound, "\(path.printable) is not a folder", context: .init(path: path))
                }
                return (Path.name(Path.normalized(path)), try Warming(folder: path))
            }
        }
        let reference = try context.reference(text)
        let workspace = try await context.workspace()
        return try await Blocking.run {
            guard let (folder, commit) = try workspace.snapshot(of: reference) else {
                throw AIError.notCached(reference.withoutFiles, in: workspace.layout)
            }
            let warming = try Warming(
                folder: folder.snapshot(commit), named: reference.files, of: reference.repository)
            workspace.markUsed(folder, commit)
            return ("\(reference)", warming)
        }
    }
}
