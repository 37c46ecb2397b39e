package import Catalog
package import HubCore

/// What verifying one revision came to, or one folder of one's own.
package struct Verification: Sendable {
    /// What was verified.
    package enum Place: Sendable, Hashable {
        case snapshot(RepositoryFolder, Commit)
        /// The blobs of a repository that no snapshot links to.
        case orphans(RepositoryFolder)
        /// Files of one commit in a folder of one's own.
        case local(LocalFolder, Commit)
    }

    package let place: Place
    /// nil for a folder of one's own of which nobody knows whose files it holds.
    package var repository: Repository?
    /// The files of the commit; nil where nobody could be asked: then only names and digests were compared.
    package let tree: RepositoryTree?
    /// Files whose content was read.
    package internal(set) var checked = 0
    /// Files that are as they were when they were last read.
    package internal(set) var skipped = 0
    /// Files of the tree that are not here, and that no pull is known to have chosen.
    package internal(set) var absent = 0
    /// Files that nothing says the digest of.
    package internal(set) var unknown = 0
    /// Bytes of the files checked or skipped.
    package internal(set) var bytes: Int64 = 0
    package internal(set) var problems: [VerificationProblem] = []
    /// What could not be found out, and what could not be mended.
    package internal(set) var faults: [AIError] = []
    /// Bytes fetched to mend it.
    package internal(set) var fetchedBytes: Int64 = 0

    init(_ place: Place, _ repository: Repository?, tree: RepositoryTree?) {
        (self.place, self.repository, self.tree) = (place, repository, tree)
    }

    package var commit: Commit? {
        switch place {
        case .snapshot(_, let commit), .local(_, let commit): commit
        case .orphans: nil
        }
    }

    /// The folder that holds the files.
    package var path: String {
        switch place {
        case .snapshot(let folder, let commit): folder.snapshot(commit)
        case .orphans(let folder): folder.blobs
        case .local(let folder, _): folder.path
        }
    }

    /// Notes what could not be found out: each reason once, for it mostly holds for all the files of a folder.
    mutating func noteUnknown(_ fault: AIError) {
        if !faults.contains(where: { $0.code == fault.code }) { faults.append(fault) }
    }

    /// What is wrong still. A file that does not belong there harms nothing.
    package var damage: [VerificationProblem] { problems.filter { $0.kind != .extra && !$0.isRepaired } }

    /// Whether all that is wrong is that files are missing.
    package var isIncomplete: Bool { !damage.isEmpty && damage.allSatisfy { $0.kind == .missing } }

    /// Whether every file is there and what it should be; nil where that could not be found out.
    package var isSound: Bool? {
        if !damage.isEmpty { return false }
        guard faults.isEmpty, unknown == 0 else { return nil }
        // Only of a snapshot does the tree tell what is missing.
        if case .snapshot = place, tree == nil { return nil }
        return true
    }
}

/// What is wrong with one file.
package struct VerificationProblem: Sendable {
    package enum Kind: String, Sendable {
        /// Its bytes are others.
        case mismatch
        case missing
        /// It ends too soon.
        case truncated
        /// It is no file of the commit.
        case extra
        /// Nothing lies where the link leads.
        case brokenLink = "broken link"
    }

    /// What was to be found, or was found.
    package enum Finding: Sendable, Hashable {
        /// A digest, or where a link leads.
        case text(String)
        case bytes(Int64)
    }

    package let path: String
    package let kind: Kind
    package var expected: Finding?
    package var actual: Finding?
    /// Where the damage is, in bytes; empty where that is not known.
    package internal(set) var ranges: [Range<Int64>] = []
    /// Whether everything outside those ranges is known to be right.
    var isPlaced = false
    /// What should be there.
    var file: RepositoryFile?
    /// The damaged file as it was when it was read.
    var damaged: (path: String, stamp: FileStamp)?
    /// Whether somebody changed it after it was fetched.
    package internal(set) var isForeign = false
    package internal(set) var isRepaired = false

    init(
        _ kind: Kind, _ path: String, expected: Finding? = nil, actual: Finding? = nil, file: RepositoryFile? = nil
    ) {
        (self.kind, self.path, self.expected, self.actual, self.file) = (kind, path, expected, actual, file)
    }
}

/// How far verifying is.
package struct VerificationProgress: Sendable {
    package struct Active: Sendable {
        package var path: String
        package var read: Int64
        package var size: Int64
    }
    package var totalBytes: Int64 = 0
    package var readBytes: Int64 = 0
    package var filesDone = 0
    package var filesTotal = 0
    package var active: [Active] = []
}

extension CachedRevision {
    /// Since when every file is known to be what its blob's name says; nil where one is not, or has changed since.
    package func verifiedAt(_ verified: VerifiedContent, in folder: RepositoryFolder) throws(AIError) -> Double? {
        guard !files.isEmpty, !verified.isEmpty else { return nil }
        var oldest = Double.infinity
        for file in files {
            guard let blob = file.blob, let status = try FileSystem.status(folder.blob(blob)),
                let time = verified.time(blob, status.stamp)
            else { return nil }
            oldest = min(oldest, time)
        }
        return oldest
    }

    /// A file that verifying found not to hold what it should, unless it has changed since.
    package func knownDamage(_ verified: VerifiedContent, in folder: RepositoryFolder) throws(AIError) -> String? {
        guard verified.hasDamage else { return nil }
        let blobs = verified.damage(in: folder.name)
        for file in files {
            let path = Path.join(folder.snapshot(commit), file.path)
            let damage =
                file.blob.map { blobs[$0] }
                ?? verified.damage(in: "\(folder.name)/snapshots/\(commit)/\(file.path)").values.first
            if let damage, try FileSystem.status(path)?.stamp == damage { return file.path }
        }
        return nil
    }
}

extension Workspace {
    /// What was verified in the cache; nothing where the catalog cannot be used.
    package func verified() async -> VerifiedContent {
        await Offload.run { [dispensable, layout] in
            dispensable.use { catalog throws(AIError) in try catalog.verified(inCache: layout.root) } ?? .init()
        }
    }
}
