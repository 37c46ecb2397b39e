import Fetcher
import HubCore

/// `hub cache mv`
enum MoveCommand {
    static let command = Command(
        name: "mv", purpose: .changes, doc: "move the cache to another folder or disk",
        detail: """
            DIR becomes the cache folder, and a link to it stays at the old place, so that every program finds it as before. \
            On one disk the folder is renamed. To another disk every file is copied, read back and compared; then the link \
            takes the old place in one step, and the old files are deleted. Pins, the trash, unfinished downloads and times of \
            use move along.

            Interrupted at any point, the cache is whole in one of the two places, and the same command continues. A cache \
            into which a program downloads is not moved. Where no link can be put in the old place, such as a mount, hub \
            says so, keeps both, and HF_HUB_CACHE names the new one.

            DIR must not exist, or be an empty folder, or the link that an earlier move has left, which is replaced: so a move \
            is undone. Without a terminal and without --yes, mv shows what it would do, changes nothing, and the exit \
            code is 2.
            """,
        operands: [Operand("DIR", .one, .folder)],
        flags: [SharedFlags.dryRun.flag, SharedFlags.yes.flag],
        examples: [
            .init("hub cache mv /mnt/disk/hub", "Move the cache to another disk."),
            .init("hub cache mv ~/models/hub --dry-run", "What would be moved."),
        ],
        run: { context, arguments in
            try await run(
                context, folder: arguments.operands[0], isDryRun: arguments[SharedFlags.dryRun],
                isAgreed: arguments[SharedFlags.yes])
        })

    private static func run(_ context: Context, folder: String, isDryRun: Bool, isAgreed: Bool) async throws {
        let workspace = try await context.workspace(needsCatalog: true)
        let layout = workspace.layout
        let state = try await workspace.state(fresh: true)
        let move = try await Blocking.run { [environment = context.environment, cacheDir = context.cacheDir] in
            let trash = try Trash(layout).entries().reduce(0) { $0 + $1.size }
            let named = environment.expand(cacheDir ?? environment.cacheDirectory)
            return try CacheMove(
                layout, named: named, to: environment.expand(folder),
                bytes: state.totalSize + state.partialSize + state.otherSize + trash)
        }
        let document: JSONObject = ["moved_bytes": .int(move.bytes), "path": .string(move.target.root)]
        context.output.document(document)
        context.output.line(
            Styled(
                move.isContinued
                    ? "continuing an earlier move to \(move.target.root.printable)"
                    : "\(ByteCount(move.bytes)) move from \(layout.root.printable) to \(move.target.root.printable)"
            ))
        if isDryRun { return context.output.line("dry run: nothing was changed") }
        try await context.requireYes(
            "Move the cache?", isGiven: isAgreed, otherwise: "refusing to move without confirmation",
            undone: "nothing was changed")
        try await carryOut(move, workspace, context)
        context.output.document(document)
        context.output.line(Styled("the cache is in \(move.target.root.printable) now", .strong))
        if move.target != layout { context.output.note("\(layout.root.printable) is a link to it") }
        context.output.value(move.target.root)
    }

    private static func carryOut(_ move: CacheMove, _ workspace: Workspace, _ context: Context) async throws {
        let renderer = context.progress()
        defer { renderer.finish() }
        context.interruption.kept =
            "the cache is where it was, and what was copied is kept; the same command continues"
        defer { context.interruption.kept = nil }
        try await Blocking.runCancellable { check in
            let done = Lock<Int64>(0)
            try move.run(workspace.catalog) { count in
                try check()
                let bytes = done.withLock { bytes in
                    bytes += Int64(count)
                    return bytes
                }
                var snapshot = ProgressSnapshot(title: Path.name(move.target.root), phase: "copying and comparing")
                (snapshot.doneBytes, snapshot.totalBytes) = (min(bytes, 2 * move.bytes), 2 * move.bytes)
                renderer.update(snapshot)
            }
        }
    }
}
