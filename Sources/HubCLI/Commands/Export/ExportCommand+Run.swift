import Fetcher
import HubCore

extension ExportCommand {
    /// What is written, and where to.
    struct Request {
        /// Where the archive goes.
        enum Target: Hashable { case pipe, folder(String), file(String) }

        var words: [String]
        var path: String
        var partBytes: Int64?
        var since: String?
        var force: Bool

        init(_ arguments: ParsedArguments) throws(AIError) {
            words = arguments.operands
            guard let path = arguments[output] else {
                throw AIError(.invalidInput, "missing -o PATH", advice: "write -o FILE, -o FOLDER/ or -o -")
            }
            self.path = path
            partBytes = arguments[split]?.bytes
            since = arguments[ExportCommand.since]
            force = arguments[SharedFlags.force]
            if let partBytes, partBytes < 4096 {
                throw AIError(
                    .invalidInput, "--split: parts of \(ByteCount(partBytes)) are too small",
                    advice: "write at least 4KiB, such as 4GB")
            }
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let target = try target(request, context)
        if case .file(let path) = target { try await checkPlace(path, request, context) }
        let references = try request.words.map { word throws(AIError) in try context.reference(word) }
        let workspace = try await context.workspace(joinsGroup: false)
        let puller = try await workspace.puller()
        var manifest = ArchiveManifest(models: [])
        for reference in references {
            let model = try await puller.archived(reference)
            guard
                !manifest.models.contains(where: {
                    $0.repository == model.repository && $0.commit == model.commit && $0.ref == model.ref
                })
            else { throw AIError(.invalidInput, "\(reference) was given twice") }
            let condition = try await workspace.condition(model.repository, at: model.commit)
            if reference.files == nil, let sentence = condition.incompleteSentence(reference) {
                context.output.warning("\(reference): only what is here is exported; \(sentence)")
            }
            manifest.models.append(model)
        }
        if let since = request.since {
            let whole = manifest
            manifest = try await TravelProgress.run(
                "comparing", total: manifest.models.count, "nothing was written yet", context
            ) { watcher in
                var manifest = whole
                try manifest.leaveOut(CacheContents.digests(in: since), in: workspace.layout, watcher)
                return manifest
            }
        }
        let export = ArchiveExport(manifest, in: workspace.layout)
        try await TravelProgress.run(
            "exporting", total: manifest.models.count, "what was written is kept; the same command continues",
            context
        ) { watcher in
            switch target {
            case .pipe: try export.writeArchive(to: nil, partBytes: nil, watcher)
            case .file(let path): try export.writeArchive(to: path, partBytes: request.partBytes, watcher)
            case .folder(let path): try export.writeFolder(path, watcher)
            }
        }
        show(export, target, context)
    }

    private static func target(_ request: Request, _ context: Context) throws(AIError) -> Request.Target {
        if request.path == "-" {
            guard request.partBytes == nil, context.mode != .json else {
                throw AIError(.invalidInput, "-o - writes the archive to stdout; --split and --json need a file")
            }
            guard !context.output.settings.outputIsTerminal else {
                throw AIError(
                    .invalidInput, "an archive is not for a terminal", advice: "pipe it, or write -o FILE")
            }
            return .pipe
        }
        let isFolder = try FileSystem.status(request.path)?.kind == .directory
        guard isFolder || request.path.hasSuffix("/") else { return .file(request.path) }
        guard request.partBytes == nil else {
            throw AIError(
                .invalidInput, "--split is for one archive, and \(request.path.printable) is a folder",
                advice: "write -o \(Path.join(request.path, "models.tar").printable)")
        }
        return .folder(Path.withoutEnd(request.path))
    }

    /// Asks before an archive is replaced, unless a run that was interrupted has asked.
    private static func checkPlace(_ path: String, _ request: Request, _ context: Context) async throws {
        let first = request.partBytes == nil ? path : ArchiveParts.name(path, 0)
        let isThere = try await Blocking.run {
            try FileSystem.status(first)?.kind == .file && !FileSystem.exists(first + ".incomplete")
        }
        guard isThere else { return }
        try await context.confirmReplacing(
            first.printable, isGiven: request.force, kept: "\(first.printable) is kept; nothing was written")
    }

    private static func show(_ export: ArchiveExport, _ target: Request.Target, _ context: Context) {
        let models = export.manifest.models
        let output = context.output
        let bytes = ByteCount(export.contentBytes)
        if target == .pipe {
            output.note("\(Humanize.plural(models.count, "model")), \(bytes) exported")
            return
        }
        let path =
            switch target {
            case .pipe: "-"
            case .file(let path), .folder(let path): path
            }
        output.render(json: TravelProgress.json(export.manifest, bytes: export.contentBytes), quiet: [path]) {
            for model in models {
                output.line(
                    Styled("\(model.repository)", .name)
                        + Styled(
                            " at \(model.commit.short): \(Humanize.plural(model.paths.count, "file")), \(ByteCount(model.totalBytes))"
                        ))
            }
            output.line(Styled("\(bytes) written, every digest checked", .faint))
            output.value(path)
        }
    }
}

extension InventoryCommand {
    static func run(_ context: Context) async throws {
        let workspace = try await context.workspace(opensCatalog: false)
        let contents = try await Blocking.run { try CacheContents(workspace.layout) }
        context.output.render(json: contents.json, quiet: contents.blobs.keys.sorted()) {
            context.output.value(JSON.object(contents.json).text())
        }
    }
}
