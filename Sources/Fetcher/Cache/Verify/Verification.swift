package import Catalog
package import HubCore

/// The verification result of a revision or a local folder.
package struct Verification: Sendable {
    /// The verified place.
    package enum Place: Sendable, Hashable {
        case snapshot(RepositoryFolder, Commit)
        /// The blobs of a repository that no snapshot links to.
        case orphans(RepositoryFolder)
        /// Files of one commit in a local folder.
        case local(LocalFolder, Commit)
    }

    package let place: Place
    /// nil for a local folder whose repository is unknown.
    package var repository: Repository?
    /// The files of the commit; nil if unknown: then only names and digests were compared.
    package let tree: RepositoryTree?
    /// Files whose content was read.
    package internal(set) var checked = 0
    /// Files unchanged since they were last verified.
    package internal(set) var skipped = 0
    /// Missing files of the tree that no pull is known to have chosen.
    package internal(set) var absent = 0
    /// Files with an unknown digest.
    package internal(set) var unknown = 0
    /// Bytes of the files checked or skipped.
    package internal(set) var bytes: Int64 = 0
    package internal(set) var problems: [VerificationProblem] = []
    /// Errors of verification and repair.
    package internal(set) var faults: [AIError] = []
    /// Bytes fetched for the repair.
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

    /// The folder of the files.
    package var path: String {
        switch place {
        case .snapshot(let folder, let commit): folder.snapshot(commit)
        case .orphans(let folder): folder.blobs
        case .local(let folder, _): folder.path
        }
    }

    /// Where a repair puts files.
    var destination: Destination {
        switch place {
        case .snapshot, .orphans: .cache
        case .local(let folder, _): .folder(folder)
        }
    }

    /// Records an error, each reason once, because it usually applies to all files of a folder.
    mutating func noteUnknown(_ fault: AIError) {
        if !faults.contains(where: { $0.code == fault.code }) { faults.append(fault) }
    }

    /// The remaining damage. Extra files are harmless.
    package var damage: [VerificationProblem] { problems.filter { $0.kind != .extra && !$0.isRepaired } }

    /// Whether all that is wrong is that files are missing.
    package var isIncomplete: Bool { !damage.isEmpty && damage.allSatisfy { $0.kind == .missing } }

    /// Whether every file is present and correct; nil if unknown.
    package var isSound: Bool? {
        if !damage.isEmpty { return false }
        guard faults.isEmpty, unknown == 0 else { return nil }
        // Only for a snapshot does the tree show missing files.
        if case .snapshot = place, tree == nil { return nil }
        return true
    }
}

/// A problem of one file.
package struct VerificationProblem: Sendable {
    package enum Kind: String, Sendable {
        /// The content differs.
        case mismatch
        case missing
        /// The file is too short.
        case truncated
        /// The file is not in the commit.
        case extra
        /// The link's target is missing.
        case brokenLink = "broken link"
    }

    /// An expected or actual value.
    package enum Finding: Sendable, Hashable {
        /// A digest, or a link's target.
        case text(String)
        case bytes(Int64)
    }

    package let path: String
    package let kind: Kind
    package var expected: Finding?
    package var actual: Finding?
    /// The damaged byte ranges; empty if unknown.
    package internal(set) var ranges: [Range<Int64>] = []
    /// Whether everything outside those ranges is known to be intact.
    var isPlaced = false
    /// The expected file.
    var file: RepositoryFile?
    /// The damaged file and its state when read.
    var damaged: (path: String, stamp: FileStamp)?
    /// Whether it was changed after it was fetched.
    package internal(set) var isForeign = false
    /// Whether the commit has no such file.
    package internal(set) var isUnheardOf = false
    package internal(set) var isRepaired = false

    init(
        _ kind: Kind, _ path: String, expected: Finding? = nil, actual: Finding? = nil, file: RepositoryFile? = nil
    ) {
        (self.kind, self.path, self.expected, self.actual, self.file) = (kind, path, expected, actual, file)
    }
}

/// The progress of a verification.
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
    /// Since when every file is verified to match its blob's name; nil if one is not, or has changed since.
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

    /// A file that verification found damaged, unless it has changed since.
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
