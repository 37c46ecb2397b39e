import Fetcher
import HubCore

/// The files of a plan as a tree for people: each folder above what is in it, with its total.
struct FileTree {
    /// A folder's contents, recursively.
    private struct Folder {
        var bytes = ByteCount(0)
        var files = 0
        var cached = 0
    }

    private let files: [(file: RepositoryFile, state: PullPlan.State)]
    private var folders: [ExactText: Folder] = [:]

    init(_ plan: PullPlan) {
        files = plan.files
        for (file, state) in plan.files {
            for path in Self.folders(of: file.path) {
                var folder = folders[path, default: Folder()]
                folder.bytes = folder.bytes + ByteCount(file.size)
                folder.files += 1
                folder.cached += state.isCached ? 1 : 0
                folders[path] = folder
            }
        }
    }

    /// `a`, `a/b` of `a/b/c.txt`.
    private static func folders(of path: String) -> [ExactText] {
        let parts = Path.parts(path).dropLast()
        return parts.indices.map { ExactText(parts[...$0].joined(separator: "/")) }
    }

    func table() -> Table {
        var table = Table([
            .init("FILE", least: 12, cut: .middle), .init("SIZE", .right), .init("KIND", optional: true),
            .init("CACHED"),
        ])
        var open: [ExactText] = []
        // The tree's order is that of the paths' bytes, so what is in a folder stands together.
        for (file, state) in files {
            let folders = Self.folders(of: file.path)
            let shared = zip(open, folders).prefix { $0 == $1 }.count
            for (depth, path) in folders.enumerated().dropFirst(shared) { table.add(row(path, depth)) }
            open = folders
            table.add([
                Styled(Self.indent(folders.count) + Path.name(file.path)), Styled("\(ByteCount(file.size))"),
                Styled(file.isLFS ? "lfs" : "regular", .faint), state.isCached ? Styled("yes", .good) : "",
            ])
        }
        return table
    }

    private func row(_ path: ExactText, _ depth: Int) -> [Styled] {
        let folder = folders[path] ?? Folder()
        let isWhole = folder.cached == folder.files
        return [
            Styled(Self.indent(depth) + Path.name(path.text) + "/", .name), Styled("\(folder.bytes)", .faint), "",
            folder.cached == 0 ? "" : isWhole ? Styled("yes", .good) : Styled("partly", .caution),
        ]
    }

    /// Deep folders stay within sight of the margin.
    private static func indent(_ depth: Int) -> String { String(repeating: "  ", count: min(depth, 16)) }
}
