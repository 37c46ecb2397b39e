package import HubCore

/// What is to go, why, and what each step frees. Made from a fresh scan, shown to a person, then carried out as it is.
package struct DeletionPlan: Sendable {
    /// One thing that goes.
    package struct Row: Sendable {
        package enum Subject: Sendable, Hashable {
            case revision(Commit)
            /// Files of a revision, by their paths; the revision stays.
            case files(Commit, [String])
            /// A partial download: names in `blobs/`, the partial and its map.
            case partial([String])
            /// A blob that no snapshot links to.
            case orphan(String)
            /// What is left of a repository without any revision.
            case remains
            /// A payload of the shared store that no repository links to.
            case payload(String)
            /// Files of a folder of `--local-dir` that are as the pull left them.
            case local(LocalFolder, [String])
        }
        package var repository: Repository?
        package var folder: RepositoryFolder?
        package var subject: Subject
        package var refs: [String]
        package var reason: String
        /// Bytes that go with this row after all rows above it: st_size of files whose last name it is.
        package var freedBytes: Int64
        package var lastUsedAt: Double?
        /// What those files take on the disk: less than their size where they have holes or are compressed.
        package var allocatedBytes: Int64 = 0
        /// Entries of `blobs/` that go with it.
        var blobs: Set<String> = []
        /// Payloads of the shared store that those lead to.
        var payloads: Set<String> = []
        /// Whether it finishes a deletion that began earlier.
        var isRest = false
    }

    /// Something that was asked for and stays.
    package struct Protected: Sendable, Hashable {
        package var repository: Repository
        package var commit: Commit?
        package var reason: String
    }

    /// A file of a folder of `--local-dir` that stays.
    package struct Kept: Sendable, Hashable {
        package var path: String
        package var reason: String
    }

    /// A target that deleting all candidates does not reach.
    package enum Unreached: Sendable, Hashable {
        /// Bytes that the cache may hold, and what it would hold.
        case size(wanted: Int64, reached: Int64)
        /// Bytes that should be free on the disk, and what is free now.
        case free(wanted: Int64, now: Int64)
    }

    package internal(set) var rows: [Row] = []
    package internal(set) var unreached: [Unreached] = []
    package internal(set) var protected: [Protected] = []
    package internal(set) var kept: [Kept] = []
    /// What a person should know before saying yes.
    package internal(set) var remarks: [String] = []
    /// What was not checked, for who asks for details.
    package internal(set) var details: [String] = []
    /// Why the pins cannot be read; nil where they are known.
    package internal(set) var pinsFault: AIError?
    /// Whether something goes that could be pinned.
    package var concernsPins: Bool {
        rows.contains { row in
            switch row.subject {
            case .revision, .files: true
            default: false
            }
        }
    }
    /// Rows of the catalog about deletions that were cut off, which this plan takes up or settles.
    var interrupted: [Int64] = []
    package var freedBytes: Int64 { rows.reduce(0) { $0 + $1.freedBytes } }
    package var allocatedBytes: Int64 { rows.reduce(0) { $0 + $1.allocatedBytes } }
    package var isEmpty: Bool { rows.isEmpty }
}
