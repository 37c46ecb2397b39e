package import HubCore

/// The items to delete, with reasons and freed bytes. Made from a fresh scan, shown to a person, then carried out
/// unchanged.
package struct DeletionPlan: Sendable {
    /// One item to delete.
    package struct Row: Sendable {
        package enum Subject: Sendable, Hashable {
            case revision(Commit)
            /// Files of a revision, by their paths; the revision stays.
            case files(Commit, [String])
            /// A partial download: names in `blobs/`, the partial and its map.
            case partial([String])
            /// A blob that no snapshot links to.
            case orphan(String)
            /// The rest of a repository without revisions.
            case remains
            /// A payload of the shared store that no repository links to.
            case payload(String)
            /// Unchanged files of a `--local-dir` folder.
            case local(LocalFolder, [String])
            /// Chunks and shards of the Xet client.
            case xet(XetFolder)

            /// The revision that it is, or is of.
            package var commit: Commit? {
                switch self {
                case .revision(let commit), .files(let commit, _): commit
                default: nil
                }
            }

            /// The files that are named, of a revision or a folder.
            package var files: [String]? {
                switch self {
                case .files(_, let paths), .local(_, let paths): paths
                default: nil
                }
            }

            /// The folder outside the cache.
            package var path: String? {
                switch self {
                case .local(let folder, _): folder.path
                case .xet(let folder): folder.path
                default: nil
                }
            }

            /// The kind in a word or two.
            package var word: String {
                switch self {
                case .revision: "revision"
                case .partial: "partial"
                case .orphan: "blob"
                case .remains: "leftover folder"
                case .payload: "payload"
                case .local(_, let files) where files.isEmpty: "bookkeeping"
                case .files(_, let files), .local(_, let files):
                    files.count == 1 ? "1 file" : "\(files.count) files"
                case .xet: ""
                }
            }
        }
        package var repository: Repository?
        package var folder: RepositoryFolder?
        package var subject: Subject
        package var refs: [String]
        package var reason: String
        /// Bytes freed by this row after all rows above it: st_size of files whose last name it deletes, without what other
        /// files share of them.
        package var freedBytes: Int64
        package var lastUsedAt: Double?
        /// Allocated bytes of those files: less than their size if sparse or compressed.
        package var allocatedBytes: Int64 = 0
        /// Entries of `blobs/` deleted with it.
        var blobs: Set<String> = []
    }

    /// A requested item that is kept: of a repository, or a path in a `--local-dir` folder.
    package struct Protected: Sendable, Hashable {
        package var repository: Repository?
        package var commit: Commit?
        package var path: String?
        package var obstacle: Obstacle
        package var reason: String { obstacle.text }

        /// `org/name@12345678`, or the path.
        package var name: String {
            path ?? (repository?.description ?? "") + (commit.map { "@\($0.short)" } ?? "")
        }

        /// The error if a person asked for it by name.
        package var refusal: AIError {
            let advice: String?
            switch obstacle {
            case .pinned: advice = "run hub unpin \(name) first"
            case .inUse: advice = "try again when that process has finished"
            case .fresh: advice = "try again an hour after its last change"
            default: advice = nil
            }
            let isState = obstacle.isPinned || obstacle.isUse
            return AIError(
                obstacle.isPinned ? .invalidInput : .ioError,
                "\(name) \(isState ? "is" : "was not deleted:") \(reason)", advice: advice,
                context: .init(repository: repository?.description, path: path))
        }
    }

    /// A target that deleting all candidates does not reach.
    package enum Unreached: Sendable, Hashable {
        /// The maximum cache size, and the resulting size, in bytes.
        case size(wanted: Int64, reached: Int64)
        /// The wanted and the current free bytes on the disk.
        case free(wanted: Int64, now: Int64)
    }

    package internal(set) var rows: [Row] = []
    package internal(set) var unreached: [Unreached] = []
    package internal(set) var protected: [Protected] = []
    /// Remarks to show before confirmation.
    package internal(set) var remarks: [String] = []
    /// What was not checked, for detailed output.
    package internal(set) var details: [String] = []
    /// Why the pins cannot be read; nil if they are known.
    package internal(set) var pinsFault: AIError?
    /// What the files share with others, before any of them is deleted.
    var blocks = SharedBlocks()
    /// Whether it deletes anything that could be pinned.
    package var concernsPins: Bool { rows.contains { $0.subject.commit != nil } }
    package var freedBytes: Int64 { rows.reduce(0) { $0 + $1.freedBytes } }
    package var allocatedBytes: Int64 { rows.reduce(0) { $0 + $1.allocatedBytes } }
    package var isEmpty: Bool { rows.isEmpty }
}
