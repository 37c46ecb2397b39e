package import HubCore

/// The files of one commit.
package struct ServedRevision: Sendable {
    /// 40 lower-case hexadecimal digits.
    package let commit: String
    /// In byte order of their paths.
    package let files: [ServedFile]
    /// Every folder with the hash of git's tree object, in the same order.
    package let folders: [ServedFolder]

    /// - Parameter commit: nil derives one from the content, so the same files under the same name have the same
    ///   commit.
    package init(_ repository: Repository, files: [ServedFile], commit: String? = nil) {
        let sorted = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        let tree = GitTree(sorted)
        self.files = sorted
        folders = tree.folders
        self.commit =
            commit ?? GitTree.hash("commit", Array("tree \(tree.root)\nrepository \(repository)\n".utf8)).hex
    }

    /// The file with exactly these bytes as its path: Unicode has several spellings of one text.
    package func file(_ path: String) -> ServedFile? {
        var (low, high) = (0, files.count)
        while low < high {
            let middle = (low + high) / 2
            if files[middle].path.utf8.lexicographicallyPrecedes(path.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < files.count, files[low].path.utf8.elementsEqual(path.utf8) else { return nil }
        return files[low]
    }

    /// The folder with exactly these bytes as its path.
    package func folder(_ path: String) -> ServedFolder? {
        folders.first { $0.path.utf8.elementsEqual(path.utf8) }
    }
}

/// A folder of a revision.
package struct ServedFolder: Sendable, Hashable {
    package var path: String
    /// git's hash of its tree object.
    package var oid: String
}

/// A file of a revision: the Hub's metadata and its location on disk.
package struct ServedFile: Sendable, Hashable {
    package var path: String
    package var size: Int64
    /// git's hash of the blob: of the pointer file where the content is in LFS.
    package var oid: String
    /// Set for a file in LFS.
    package var lfs: Pointer?
    /// The Xet hash, if any.
    package var xetHash: String?
    /// The file on this machine.
    package var location: String
    /// The file's identity when the digests were computed.
    package var identity: FileIdentity

    /// The pointer file that git stores in place of a file in LFS.
    /// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
    package struct Pointer: Sendable, Hashable {
        package var sha256: String
        /// Size of the pointer file in bytes.
        package var size: Int
    }

    /// - Parameter digest: sha256 puts the file in LFS, git's SHA-1 makes it a regular one.
    package init(
        path: String, digest: ContentDigest, location: String, identity: FileIdentity, xetHash: String? = nil
    ) {
        self.path = path
        self.location = location
        self.identity = identity
        self.xetHash = xetHash
        size = identity.size
        switch digest {
        case .gitSHA1(let hex): oid = hex
        case .sha256(let hex):
            let text = "version https://git-lfs.github.com/spec/v1\noid sha256:\(hex)\nsize \(identity.size)\n"
            oid = GitTree.hash("blob", Array(text.utf8)).hex
            lfs = Pointer(sha256: hex, size: text.utf8.count)
        }
    }

    /// The digest of the content, which names it: the file's etag.
    package var etag: String { lfs?.sha256 ?? oid }

    /// Opens the file; nil if it is gone or has changed since the digest was computed.
    package func open() throws(AIError) -> OpenFile? {
        guard FileSystem.exists(location) else { return nil }
        let file = try OpenFile(location)
        return FileIdentity(file.status) == identity ? file : nil
    }
}

/// Identifies an unchanged file. It includes ctime because a program can set back mtime, but not ctime.
package struct FileIdentity: Sendable, Hashable {
    package var device: UInt64
    package var inode: UInt64
    package var size: Int64
    package var modifiedNanoseconds: Int64
    package var changed: Double

    /// Of a file that is not here yet: only its size is known.
    package init(size: Int64) {
        (device, inode, self.size, modifiedNanoseconds, changed) = (0, 0, size, 0, 0)
    }

    package init(_ status: FileStatus) {
        device = status.device
        inode = status.inode
        size = status.size
        modifiedNanoseconds = status.modifiedNanoseconds
        changed = status.changed
    }
}
