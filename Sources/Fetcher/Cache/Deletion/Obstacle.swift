/// Why something is not deleted.
package enum Obstacle: Sendable, Hashable {
    case pinned(note: String?)
    /// Named by `--keep`.
    case kept
    case inUse(Use)
    /// Another client's unfinished download of this blob changed so many minutes ago: not all clients take a lock.
    case fresh(etag: String, minutes: Int)
    /// Part of a repository cannot be read.
    case unreadable
    /// A repository, or a folder in it, is a link.
    case elsewhere
    /// This user cannot change a folder. Trying anyway would remove refs and snapshots and fail at their blobs.
    case unwritable(String)
    /// A folder in `blobs/`, such as a notebook's checkpoints.
    case folderAmongBlobs(String)
    case foreignSnapshot
    /// A file of a `--local-dir` folder: deleted meanwhile, changed by its owner, or never downloaded.
    case gone, changed, notDownloaded
    /// The bookkeeping of a `--local-dir` folder is behind this link.
    case recordsElsewhere(String)
    /// Not part of the cache, and so not of its trash.
    case notForTheTrash

    /// How another process uses it.
    package enum Use: Sendable, Hashable {
        case pulled
        /// By etag.
        case locked(String)
        case open(by: String, String)
        /// Xet's folder changed within the hour.
        case recent
    }

    package var isPinned: Bool { if case .pinned = self { true } else { false } }
    package var isUse: Bool { if case .inUse = self { true } else { false } }

    /// A sentence for people.
    package var text: String {
        switch self {
        case .pinned(let note): "pinned" + (note.map { ": \($0)" } ?? "")
        case .kept: "named by --keep"
        case .inUse(let use): "in use: \(use.text)"
        case .fresh(let etag, _):
            "\(label): another program may still be writing the unfinished download \(etag.prefix(12))"
        case .unreadable: "part of it cannot be read, so it is unknown which files it needs"
        case .elsewhere: "it is a link to a place outside the cache, where hub deletes nothing"
        case .unwritable(let path): "no permission to write \(path)"
        case .folderAmongBlobs(let name): "blobs/\(name) is a folder that no Hugging Face library makes"
        case .foreignSnapshot: "its snapshots folder holds something that is not a snapshot"
        case .gone: "it is gone"
        case .changed: "changed since it was downloaded"
        case .notDownloaded: "not downloaded by a pull"
        case .notForTheTrash: "it is not in the cache, so it does not go into the trash"
        case .recordsElsewhere(let path): "its records are elsewhere: \(path) is a symbolic link"
        }
    }

    /// A few words for a column.
    package var label: String {
        switch self {
        case .pinned: "pinned"
        case .inUse: "in use"
        case .fresh(_, let minutes):
            "changed \(minutes < 1 ? "less than a minute" : minutes == 1 ? "1 minute" : "\(minutes) minutes") ago"
        default: "stays"
        }
    }

    /// The reason for programs; details such as the process or the note are for people.
    package var word: String {
        switch self {
        case .pinned, .inUse: label
        case .fresh: "recently changed"
        default: text
        }
    }
}

extension Obstacle.Use {
    fileprivate var text: String {
        switch self {
        case .pulled: "it is being downloaded"
        case .locked(let etag): "\(etag.prefix(12)) is being downloaded"
        case .open(let user, let what): "\(user) has \(what) open"
        case .recent: "another program may still be writing into it"
        }
    }
}
