package import HubCore

/// One file of a snapshot.
package struct CachedFile: Sendable, Hashable {
    package var path: String
    /// The blob it links to; nil for a plain file and for a link to elsewhere.
    package var blob: String?
    /// The plain file, if it is not a link.
    package var file: PhysicalFile?
    /// Whether it is a broken link.
    package var isBroken: Bool
}

/// One cached revision: a folder below `snapshots/`.
package struct CachedRevision: Sendable, Hashable {
    package var commit: Commit
    /// Branches and tags whose refs name this commit.
    package var refs: [String]
    package var files: [CachedFile]
    /// Whether all files of the commit, or all that pulls chose, are present; nil if the tree is unknown.
    package var isComplete: Bool?
    /// When the newest of its entries was made, seconds since 1970.
    package var downloadedAt: Double
    /// When it was last used, seconds since 1970.
    package var lastUsedAt: Double
    /// Whether `hub` recorded a use.
    package var isUseNoted = false
}

/// The contents of one repository folder.
package struct CachedRepository: Sendable, Hashable {
    package var folder: RepositoryFolder
    /// The repository in the folder's name; for an invalid name Python's reading of it (``hasForeignName``).
    package var repository: Repository
    package var revisions: [CachedRevision]
    /// The entries of `blobs/` other than partials, by name.
    package var blobs: [String: CachedBlob]
    /// Partials of every client: names in `blobs/`.
    package var partials: [CachedBlob]
    /// Refs whose commit has no snapshot.
    package var danglingRefs: [String]
    /// Its problems.
    package var problems: [CacheProblem] = []

    /// Whether the folder's name is not a valid repository name, so that the Hub cannot be asked.
    package var hasForeignName: Bool { problems.contains { $0.kind == .name } }
    /// Whether everything in it could be read. If not, the rest may need any blob.
    package var isReadable: Bool { !problems.contains { $0.kind == .unreadable } }
    /// Whether it, or a folder in it, is a link to a place outside the cache, which must not be deleted.
    package var isElsewhere: Bool { problems.contains { $0.kind == .elsewhere } }
    /// Whether its own folder is a link.
    var isLink: Bool { problems.contains { $0.kind == .elsewhere && $0.path == folder.path } }

    /// Blobs without links from snapshots; empty if not all snapshots could be read.
    package var orphans: [CachedBlob] {
        guard isReadable else { return [] }
        let used = Set(revisions.flatMap { $0.files.compactMap(\.blob) })
        return blobs.values.filter { !used.contains($0.name) }.sorted { $0.name < $1.name }
    }

    /// The largest file of a revision, relative to the cache; the first on ties.
    func largestFile(of revision: CachedRevision) -> String? {
        var largest: (size: Int64, file: CachedFile)?
        for file in revision.files {
            guard let physical = file.file ?? file.blob.flatMap({ blobs[$0]?.file }) else { continue }
            if physical.size > largest?.size ?? -1 { largest = (physical.size, file) }
        }
        return largest.map { _, file in
            file.blob.map { "\(folder.name)/blobs/\($0)" }
                ?? "\(folder.name)/snapshots/\(revision.commit.hash)/\(file.path)"
        }
    }

    /// The physical files that a revision needs, each once.
    package func physicalFiles(of revision: CachedRevision) -> [PhysicalFile.Identity: PhysicalFile] {
        var out: [PhysicalFile.Identity: PhysicalFile] = [:]
        for file in revision.files {
            if let physical = file.file ?? file.blob.flatMap({ blobs[$0]?.file }) {
                out[physical.identity] = physical
            }
        }
        return out
    }

    /// The physical files that all revisions need, each once.
    package var physicalFiles: [PhysicalFile.Identity: PhysicalFile] {
        revisions.reduce(into: [:]) { $0.merge(physicalFiles(of: $1)) { first, _ in first } }
    }

    /// Bytes of the files that snapshots need, each physical file once.
    package var size: Int64 { physicalFiles.values.reduce(0) { $0 + $1.size } }
}

/// A problem, or something that belongs to no library.
package struct CacheProblem: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        /// A folder or file that cannot be read.
        case unreadable
        /// A broken link in a snapshot.
        case brokenLink
        /// A ref with a line end or spaces around its commit.
        case refWithSpace
        /// A ref that holds no commit.
        case refWithoutCommit
        /// An entry of `snapshots/` that is not a snapshot.
        case noSnapshot
        /// An entry of `blobs/` that is not a blob.
        case noBlob
        /// A pipe, a socket or a device where a file should be; a file where a folder should be.
        case noFile
        /// A name that is not UTF-8.
        case bytes
        /// A repository's folder with an invalid name.
        case name
        /// A link where a folder should be.
        case elsewhere
        /// An entry of the cache's root that no Hugging Face library uses.
        case stranger
    }

    package var kind: Kind
    package var path: String
    /// The system's message.
    package var detail = ""

    package init(_ kind: Kind, _ path: String, _ detail: String = "") {
        (self.kind, self.path, self.detail) = (kind, path, detail)
    }

    /// A sentence for people.
    package var text: String {
        switch kind {
        case .unreadable: detail
        case .brokenLink: "\(path) is a broken link"
        case .refWithSpace: "\(path) ends in a line end, which hides the repository from Python"
        case .refWithoutCommit: "\(path) holds no commit"
        case .noSnapshot: "\(path) is not a snapshot"
        case .noBlob: "\(path) is not a blob"
        case .noFile: "\(path) is not a file"
        case .bytes: "\(path) has a name that is not text"
        case .name: "\(path) has a name that no repository can have"
        case .elsewhere: "\(path) is a link to another place"
        case .stranger: "\(path) belongs to no Hugging Face library"
        }
    }
}

/// The contents of a whole cache folder.
package struct CacheState: Sendable {
    package var layout: CacheLayout
    package var repositories: [CachedRepository]
    /// Payloads of the shared store without links from repositories: name and bytes.
    package var unusedPayloads: [CachedBlob]
    /// Entries of the cache's root that no Hugging Face library uses.
    package var foreign: [CacheProblem]
    /// Whether the file system records when a file is read. If not, only uses recorded by `hub` are known.
    package var keepsAccessTimes = true

    /// The problems, for people.
    package var remarks: [String] { (foreign + repositories.flatMap(\.problems)).map(\.text) }

    /// Bytes of the files that snapshots need, each physical file once over all repositories.
    package var totalSize: Int64 {
        var seen: [PhysicalFile.Identity: Int64] = [:]
        for repository in repositories { for (id, file) in repository.physicalFiles { seen[id] = file.size } }
        return seen.values.reduce(0, +)
    }
    /// Bytes of unfinished downloads, each physical file once.
    package var partialSize: Int64 {
        var seen = neededFiles
        return Self.sum(repositories.flatMap(\.partials), &seen)
    }
    /// Orphans and unneeded payloads, each physical file once.
    package var otherSize: Int64 {
        var seen = neededFiles
        _ = Self.sum(repositories.flatMap(\.partials), &seen)
        return Self.sum((repositories.flatMap(\.orphans) + unusedPayloads).filter { !$0.isForeign }, &seen)
    }

    private var neededFiles: Set<PhysicalFile.Identity> {
        repositories.reduce(into: []) { $0.formUnion($1.physicalFiles.keys) }
    }

    /// Bytes of the files not yet in `seen`.
    private static func sum(_ blobs: [CachedBlob], _ seen: inout Set<PhysicalFile.Identity>) -> Int64 {
        blobs.lazy.compactMap(\.file).reduce(0) { seen.insert($1.identity).inserted ? $0 + $1.size : $0 }
    }

    package func repository(_ repository: Repository) -> CachedRepository? {
        repositories.first { $0.repository == repository }
    }
}

extension RepositoryFolder {
    /// The names in `snapshots/` that are not these commits.
    func foreignSnapshots(besides revisions: [CachedRevision]) throws(AIError) -> [String] {
        let known = Set(revisions.map(\.commit.hash))
        return try snapshotNames().filter { !known.contains($0) }
    }
}

extension CachedRepository {
    /// The blobs needed by entries of `snapshots/` that are not snapshots; nil if there is no such entry.
    func foreignBlobs() throws(AIError) -> Set<String>? {
        let paths = problems.filter { $0.kind == .noSnapshot }.map(\.path)
        guard !paths.isEmpty else { return nil }
        var out: Set<String> = []
        for path in paths { out.formUnion(try folder.linkedBlobs(below: path)) }
        return out
    }
}
