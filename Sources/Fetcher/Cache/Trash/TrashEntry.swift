package import HubCore

/// The files that one row of a plan moved out of the cache, by its manifest.
package struct TrashEntry: Sendable, Hashable {
    /// A move from the cache to the entry's folder; both paths are relative.
    struct Move: Sendable, Hashable {
        var from: String
        var to: String
    }

    /// The entry's folder in the trash.
    package var name: String
    /// nil for a payload of the shared store.
    package var repository: Repository?
    /// The repository's folder; empty for a payload of the shared store.
    var folder: String
    package var commit: Commit?
    package var refs: [String]
    /// The kind of item in a word or two.
    package var what: String
    /// Bytes that emptying frees: in the manifest as planned, in a list as it is now.
    package var size: Int64
    /// Seconds since 1970.
    package var trashedAt: Double
    /// In the order of execution, which never leaves a ref without its snapshot or a link without its blob; restoring
    /// reverses it.
    var moves: [Move]
    /// Payloads of the shared store that entries of `blobs/` link to: kept here by a second name.
    var payloads: [String]
    /// Whether every move was made.
    var isComplete = false
    /// Whether emptying deletes it file by file, so that some of it may be gone.
    var isBeingDeleted = false
    /// Whether a restore has begun: a folder may be in both places, part of its files in each.
    var isBeingRestored = false

    /// Names in the entry's folder without model content.
    var bookkeeping: Set<String> {
        let parts: Set<Substring> = ["refs", "trees", ".no_exist"]
        let names = moves.filter { move in Path.parts(move.from).dropFirst().first.map(parts.contains) ?? false }
            .map(\.to)
        return Set(names + [Self.manifest])
    }

    /// Whether it would be restored to the same place as another: the same snapshot, file of one, or repository.
    package func holdsPlace(of other: TrashEntry) -> Bool {
        guard folder == other.folder else { return false }
        func places(_ entry: TrashEntry) -> Set<String> {
            Set(entry.moves.map(\.from).filter { $0 == folder || $0.hasPrefix("\(folder)/snapshots/") })
        }
        return !places(self).isDisjoint(with: places(other))
    }

    static let manifest = "manifest.json"
    static func payloadName(_ hash: String) -> String { "payload-\(hash)" }
}

extension TrashEntry {
    var json: JSONObject {
        [
            "version": 1, "folder": .string(folder), "commit": commit.map { .string($0.hash) },
            "refs": .array(refs.map { .string($0) }), "what": .string(what), "size_bytes": .int(size),
            "trashed_at": .double(trashedAt),
            "moves": .array(moves.map { .object(["from": .string($0.from), "to": .string($0.to)]) }),
            "payloads": .array(payloads.map { .string($0) }), "complete": .bool(isComplete),
            "deleting": isBeingDeleted ? true : nil, "restoring": isBeingRestored ? true : nil,
        ]
    }

    /// A unique name for a new entry.
    static func newName(at time: Double) -> String { "\(Int64(time * 1000))-\(FileSystem.randomHex(3))" }

    /// Whether a name has the form of ``newName(at:)``.
    static func isName(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return parts.count == 2 && !parts[0].isEmpty && parts[0].allSatisfy(digits.contains)
            && parts[1].count == 6 && parts[1].allSatisfy { digits.contains($0) || letters.contains($0) }
    }

    /// Reads a manifest; nil if invalid, or if it names paths outside such an entry.
    init?(name: String, json: JSON) {
        guard json["version"]?.int == 1, let folder = json["folder"]?.string, let what = json["what"]?.string,
            folder.isEmpty || RepositoryFolder.isName(folder), let moves = json["moves"]?.array,
            let payloads = json["payloads"]?.array
        else { return nil }
        self.init(
            name: name, repository: Repository(folderName: folder), folder: folder,
            commit: json["commit"]?.string.flatMap(Commit.init),
            refs: (json["refs"]?.array ?? []).compactMap(\.string), what: what, size: json["size_bytes"]?.int ?? 0,
            trashedAt: json["trashed_at"]?.double ?? 0, moves: [], payloads: payloads.compactMap(\.string),
            isComplete: json["complete"]?.bool ?? false, isBeingDeleted: json["deleting"]?.bool ?? false,
            isBeingRestored: json["restoring"]?.bool ?? false)
        for move in moves {
            guard let from = move["from"]?.string, let to = move["to"]?.string, let number = Int(to),
                String(number) == to, number >= 0, Self.isInside(from, folder)
            else { return nil }
            self.moves.append(Move(from: from, to: to))
        }
        guard self.payloads.allSatisfy({ if case .sha256? = ContentDigest(etag: $0) { true } else { false } })
        else {
            return nil
        }
    }

    /// Whether a path is in a repository's folder.
    private static func isInside(_ path: String, _ folder: String) -> Bool {
        let parts = Path.parts(path, omittingEmpty: false)
        return !parts.contains { ["", ".", ".."].contains($0) } && parts[0] == folder
    }
}
