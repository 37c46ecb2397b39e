import Fetcher
import HubCore

/// `hub import`
enum ImportCommand {
    static let command = Command(
        name: "import", purpose: .changes, doc: "take an archive of hub export into the cache",
        detail: """
            PATH is an archive, the first of its parts, a folder that hub export wrote, or - for a pipe. The cache is then \
            as after hub pull: every program finds the models, offline too. The branch in the cache is set to the commit of \
            the archive.

            Nothing in an archive is trusted. Names are checked, and a file is put in the cache only after its digest \
            matches and the whole archive was read without a fault. hub cannot check that an archive has all files of that \
            commit and no others: take archives only from people you trust. After an interruption the same command \
            continues.

            The exit code is 3 if a part is missing, or a file that --since left out is not here; it is 7 if anything in \
            the archive is wrong. In both cases nothing of the archive is in the cache.
            """,
        operands: [Operand("PATH|-", .one, .file)],
        flags: [SharedFlags.dryRun.flag],
        listKey: "models",
        examples: [
            .init("hub import model.tar", "An archive."),
            .init("hub import /media/stick/models.001 --dry-run", "What its parts would bring."),
            .init("ssh host hub export org/model -o - | hub import -", "Over the network."),
        ],
        run: { context, arguments in
            try await run(context, arguments.operands[0], isDryRun: arguments[SharedFlags.dryRun])
        })

    static func run(_ context: Context, _ path: String, isDryRun: Bool) async throws {
        if path == "-", context.inputIsTerminal {
            throw AIError(
                .invalidInput, "an archive does not come from a terminal", advice: "pipe it, or name a file")
        }
        let workspace = try await context.workspace()
        let archive = try await Blocking.run {
            try ArchiveImport(path == "-" ? nil : path, into: workspace.layout, catalog: workspace.dispensable)
        }
        let new = archive.newBytes
        guard !isDryRun else {
            show(archive.manifest, new, "would be new", context)
            return
        }
        for model in archive.manifest.models {
            guard let ref = model.ref else { continue }
            let now = try await Blocking.run {
                try workspace.layout.repository(model.repository).commit(ofRef: ref)
            }
            if let now, now != model.commit {
                context.output.note(
                    "\(model.repository): \(ref.printable) moves from \(now.short) to \(model.commit.short)")
            }
        }
        try await TravelProgress.run(
            "importing", total: archive.manifest.models.count, "what was read is kept; the same command continues",
            context
        ) { watcher in try archive.run(watcher) }
        let results = try await archive.finish(
            workspace.puller(), symlinks: !context.environment.isTrue("HF_HUB_DISABLE_SYMLINKS"))
        show(archive.manifest, new, "new, every digest checked", context)
        var failures = Failures()
        for result in results {
            try await failures.attempt(context.output) { if let error = result.error { throw error } }
            if result.error == nil, context.mode != .json { context.output.value(result.path) }
        }
        try failures.finish()
    }

    private static func show(_ manifest: ArchiveManifest, _ new: Int64, _ what: String, _ context: Context) {
        let total = manifest.models.reduce(ByteCount(0)) { $0 + ByteCount($1.totalBytes) }
        var document = TravelProgress.json(manifest, bytes: total.bytes)
        document["new_bytes"] = .int(new)
        context.output.render(json: document, quiet: []) {
            for model in manifest.models {
                context.output.line(
                    Styled("\(model.repository)", .name)
                        + Styled(
                            " at \(model.commit.short): \(Humanize.plural(model.paths.count, "file")), \(ByteCount(model.totalBytes))"
                        ))
            }
            context.output.line(Styled("\(ByteCount(new)) of \(total) \(what)", .faint))
        }
    }
}
