import HubCore
import Support

/// A look at a cache: what is in it that should not be, and what is not as it should be.
struct SoakInspection {
    private let cache: String
    private let repository: SoakRepository
    private let folder = "models--org--mixed"

    init(_ cache: String, _ repository: SoakRepository) {
        self.cache = cache
        self.repository = repository
    }

    /// - Parameter isWhole: the last pull has succeeded: everything must be there, and nothing unfinished.
    func faults(isWhole: Bool = false) throws -> [String] {
        let paths = try files(below: "")
        var faults = paths.compactMap { path in
            isKnown(path, isWhole: isWhole) ? nil : "\(path) should not be in the cache"
        }
        faults += try blobFaults()
        faults += try linkFaults(paths)
        if isWhole { faults += try missing(paths) }
        return faults
    }

    /// Everything below a folder of the cache that is not itself a folder.
    private func files(below prefix: String) throws -> [String] {
        try (FileSystem.entries(Path.join(cache, prefix)) ?? []).flatMap { name -> [String] in
            let path = prefix.isEmpty ? name : Path.join(prefix, name)
            let status = try FileSystem.linkStatus(Path.join(cache, path))
            return status?.kind == .directory ? try files(below: path) : [path]
        }
    }

    /// Whether Python's clients would know what it is, or leave it alone.
    private func isKnown(_ path: String, isWhole: Bool) -> Bool {
        if ["CACHEDIR.TAG", ".locks/hub.id", "\(folder)/refs/main"].contains(path) { return true }
        if let name = path.dropping(prefix: ".locks/\(folder)/") {
            return name.hasSuffix(".lock") && repository.blobs[String(name.dropLast(5))] != nil
        }
        if let name = path.dropping(prefix: "\(folder)/blobs/") {
            return repository.blobs[name] != nil || (!isWhole && name.hasSuffix(".incomplete"))
        }
        if let name = path.dropping(prefix: "\(folder)/trees/") {
            return name.hasSuffix(".json") && Commit(String(name.dropLast(5))) != nil
        }
        guard let place = path.dropping(prefix: "\(folder)/snapshots/") else { return false }
        return repository.files[String(place.drop { $0 != "/" }.dropFirst())] != nil
    }

    /// Invariant 1: what has a blob's name has that digest, at any time.
    private func blobFaults() throws -> [String] {
        let blobs = Path.join(cache, "\(folder)/blobs")
        return try (FileSystem.entries(blobs) ?? []).compactMap { name in
            guard let expected = repository.blobs[name]?.digest else { return nil }
            let found = try ContentHasher.digest(ofFile: Path.join(blobs, name), like: expected)
            return found == expected ? nil : "the blob \(name) has the digest \(found)"
        }
    }

    /// No link is broken or leads to another file's content, and no ref names a snapshot that is not there.
    private func linkFaults(_ paths: [String]) throws -> [String] {
        var faults: [String] = []
        for path in paths {
            let place = Path.join(cache, path)
            if path == "\(folder)/refs/main" {
                let commit = try FileSystem.text(place) ?? ""
                if !FileSystem.exists(Path.join(cache, "\(folder)/snapshots/\(commit)")) || Commit(commit) == nil {
                    faults.append("the ref names \(commit.printable)")
                }
            }
            guard let below = path.dropping(prefix: "\(folder)/snapshots/") else { continue }
            let file = repository.files[String(below.drop { $0 != "/" }.dropFirst())]
            let target = FileSystem.resolved(place).map(Path.name)
            if target != file?.digest.hex { faults.append("\(path) leads to \(target ?? "nothing")") }
        }
        return faults
    }

    private func missing(_ paths: [String]) throws -> [String] {
        let commits = try FileSystem.entries(Path.join(cache, "\(folder)/snapshots")) ?? []
        guard commits.count == 1, try FileSystem.text(Path.join(cache, "\(folder)/refs/main")) == commits[0] else {
            return ["the snapshots are \(commits), and main is not the one"]
        }
        let there = Set(paths)
        let wanted =
            repository.files.keys.map { "\(folder)/snapshots/\(commits[0])/\($0)" }
            + repository.blobs.keys.map { "\(folder)/blobs/\($0)" }
        return wanted.filter { !there.contains($0) }.map { "\($0) is missing" }
    }
}
