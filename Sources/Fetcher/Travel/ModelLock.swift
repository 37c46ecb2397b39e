package import HubCore

/// `hub.lock`: the exact files of models, for git.
///
/// JSON, sorted, with a line for each file, so that the same models always make the same text and a change is a change
/// of lines.
package struct ModelLock: Sendable, Hashable {
    /// One model at one commit.
    package struct Entry: Sendable, Hashable {
        package var repository: Repository
        /// The branch or tag that was asked for; nil for a commit, which never moves.
        package var revision: String?
        package var commit: Commit
        /// The choice that led to the files.
        package var choice: FileChoice
        /// Sorted by path.
        package var files: [TravellingFile]

        package init(
            _ repository: Repository, revision: String?, commit: Commit, choice: FileChoice,
            files: [TravellingFile]
        ) {
            (self.repository, self.revision, self.commit) = (repository, revision, commit)
            self.choice = choice
            self.files = files.sorted { ExactText.precedes($0.path, $1.path) }
        }

        package var reference: ModelReference { ModelReference(repository, revision: revision ?? commit.hash) }
        package var totalBytes: Int64 { files.reduce(0) { $0.addingClamped($1.size) } }

        /// Whether a reference on the command line means this one.
        package func isMeant(by reference: ModelReference) -> Bool {
            reference.repository == repository
                && (reference.revision.map { $0 == revision || $0 == commit.hash } ?? true)
        }
    }

    /// Sorted by name and revision.
    package private(set) var entries: [Entry] = []

    package init() {}

    /// Adds an entry in place of the one for the same revision.
    package mutating func set(_ entry: Entry) {
        entries.removeAll { $0.repository == entry.repository && $0.revision == entry.revision }
        entries.append(entry)
        entries.sort {
            ($0.repository.description, $0.revision ?? "") < ($1.repository.description, $1.revision ?? "")
        }
    }

    /// SHA-256 of the text, 64 hexadecimal digits: another key whenever another byte would be fetched. White space that
    /// git or an editor changed does not count.
    package var key: String { ContentHasher.digest(of: Array(text.utf8), like: .sha256("")).hex }
}

/// A file that a lock or an archive names.
package struct TravellingFile: Sendable, Hashable {
    package var path: String
    /// Bytes.
    package var size: Int64
    package var digest: ContentDigest

    package init(_ file: RepositoryFile) { (path, size, digest) = (file.path, file.size, file.digest) }

    /// As a tree would list it. git's hash of an LFS file's pointer is not known here and is zero.
    package var entry: RepositoryFile {
        switch digest {
        case .sha256(let hex):
            RepositoryFile(path: path, size: size, oid: String(repeating: "0", count: 40), sha256: hex)
        case .gitSHA1(let hex): RepositoryFile(path: path, size: size, oid: hex)
        }
    }

    package static func == (left: TravellingFile, right: TravellingFile) -> Bool {
        ExactText(left.path) == ExactText(right.path) && left.size == right.size && left.digest == right.digest
    }

    package var json: JSON {
        .object([
            "path": .string(path), "size": .int(size),
            digest.isSHA256 ? "sha256" : "git_sha1": .string(digest.hex),
        ])
    }

    /// - Throws: ``ErrorCode/malformedModel`` that says what is wrong.
    package init(json: JSON) throws(AIError) {
        func fault(_ why: String) -> AIError { AIError(.malformedModel, why) }
        guard let path = json["path"]?.string else { throw fault("a file has no path") }
        if let why = RepositoryPath.fault(path) { throw fault("\"\(path.printable)\": \(why)") }
        guard let size = json["size"]?.int, (0...RepositoryTree.sizeLimit).contains(size) else {
            throw fault("\"\(path.printable)\" has no size, or one that no file has")
        }
        let digest = ContentDigest(etag: json["sha256"]?.string ?? json["git_sha1"]?.string ?? "")
        guard let digest, digest.isSHA256 == (json["sha256"] != nil) else {
            throw fault("\"\(path.printable)\" has no digest")
        }
        (self.path, self.size, self.digest) = (path, size, digest)
    }
}

extension ContentDigest {
    package var isSHA256: Bool { if case .sha256 = self { true } else { false } }
}

extension FileChoice {
    /// This choice if it takes exactly these files of a tree, else these files by name.
    package func taking(exactly paths: some Collection<String>, of tree: some Sequence<String>) -> FileChoice {
        let wanted = Set(paths.map(ExactText.init))
        let taken = Set(tree.lazy.filter(matches).map(ExactText.init))
        if taken == wanted { return self }
        return FileChoice(FileFilter(include: paths.map { GlobPattern.exactly($0).pattern }))
    }
}
