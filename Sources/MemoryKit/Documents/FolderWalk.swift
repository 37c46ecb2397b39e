import HubCore

/// The files of a folder that may be documents.
struct FolderWalk {
    /// A file that may be read.
    struct File: Sendable {
        /// The whole path, without links.
        var path: String
        /// Below the folder; the name if the file itself was named.
        var relative: String
        var status: FileStatus
    }

    private(set) var files: [File] = []
    private(set) var skipped = SkippedFiles()
    private let root: String

    /// Deeper folders are a loop of mounts, or nobody's documents.
    private static let deepest = 64
    /// More files are a whole disk rather than somebody's documents.
    static let mostFiles = 200_000

    /// Walks a folder, or takes the one file.
    ///
    /// - Throws: ``ErrorCode/fileNotFound``, ``ErrorCode/invalidInput`` for too many files, and what keeps the folder
    ///   itself from being listed.
    init(_ root: String) throws(AIError) {
        self.root = root
        guard let status = try FileSystem.status(root) else {
            throw AIError(.fileNotFound, "\(root.printable) does not exist", context: .init(path: root))
        }
        guard status.kind == .directory else {
            files = [File(path: root, relative: Path.name(root), status: status)]
            return
        }
        try walk(try OpenFolder.open(existing: root), "", [], depth: 0)
    }

    private typealias Rules = [(prefix: String, rules: IgnoreRules)]

    private mutating func walk(
        _ folder: OpenFolder, _ prefix: String, _ above: Rules, depth: Int
    ) throws(AIError) {
        var rules = above
        do throws(AIError) {
            let own = try FileSystem.text(Path.join(folder.path, ".gitignore"))
            if let own { rules.append((prefix, IgnoreRules(own))) }
        } catch {
            skipped.unreadable += 1
        }
        for entry in try folder.entries() {
            guard entry.isText else {
                skipped.unreadable += 1
                continue
            }
            guard !entry.name.hasPrefix(".") else {
                skipped.hidden += 1
                continue
            }
            guard let status = try folder.status(of: entry) else { continue }
            let relative = prefix + entry.name
            if Self.ignores(relative, isFolder: status.kind == .directory, rules) {
                skipped.ignored += 1
                continue
            }
            switch status.kind {
            case .symlink: skipped.links += 1
            case .other: skipped.binary += 1
            case .file:
                guard files.count < Self.mostFiles else {
                    throw AIError(
                        .invalidInput, "\(root.printable) holds more than \(Self.mostFiles) files",
                        advice: "name the folder with the documents", context: .init(path: root))
                }
                files.append(File(path: Path.join(folder.path, entry.name), relative: relative, status: status))
            case .directory: try descend(folder, entry, relative, rules, depth: depth)
            }
        }
    }

    private mutating func descend(
        _ folder: OpenFolder, _ entry: OpenFolder.Entry, _ relative: String, _ rules: Rules, depth: Int
    ) throws(AIError) {
        guard depth < Self.deepest else {
            skipped.unreadable += 1
            return
        }
        let opened: OpenFolder?
        do throws(AIError) { opened = try folder.ownFolder(entry) } catch {
            skipped.unreadable += 1
            return
        }
        if let opened { try walk(opened, relative + "/", rules, depth: depth + 1) }
    }

    /// The nearest `.gitignore` that says something counts.
    private static func ignores(_ path: String, isFolder: Bool, _ rules: Rules) -> Bool {
        for (prefix, rules) in rules.reversed() {
            if let said = rules.ignores(String(path.dropFirst(prefix.count)), isFolder: isFolder) { return said }
        }
        return false
    }
}

/// How many files and folders were left out, and why.
public struct SkippedFiles: Sendable, Hashable {
    /// Names that begin with a dot.
    public internal(set) var hidden = 0
    /// What `.gitignore` names.
    public internal(set) var ignored = 0
    /// Symbolic links, which are not followed.
    public internal(set) var links = 0
    /// Files that are neither text nor PDF.
    public internal(set) var binary = 0
    /// Files beyond the size that is read.
    public internal(set) var large = 0
    /// Files that could not be read, and folders.
    public internal(set) var unreadable = 0
    /// PDF files, where pdftotext is missing.
    public internal(set) var withoutReader = 0

    /// All of them.
    public var total: Int { hidden + ignored + links + binary + large + unreadable + withoutReader }

    static func += (left: inout SkippedFiles, right: SkippedFiles) {
        left.hidden += right.hidden
        left.ignored += right.ignored
        left.links += right.links
        left.binary += right.binary
        left.large += right.large
        left.unreadable += right.unreadable
        left.withoutReader += right.withoutReader
    }
}

extension SkippedFiles: CustomStringConvertible {
    /// `3 hidden, 1 binary`; empty for none.
    public var description: String {
        let parts = [
            (hidden, "hidden"), (ignored, "ignored by .gitignore"), (links, "symbolic links"), (binary, "binary"),
            (large, "too large"), (unreadable, "unreadable"), (withoutReader, "PDF without pdftotext"),
        ]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
