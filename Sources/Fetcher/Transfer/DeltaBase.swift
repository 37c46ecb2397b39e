package import HubCore
import ModelFormats

/// An older revision of a file that is to be fetched.
package struct DeltaBase: Sendable, Hashable {
    /// The path of the older revision's file.
    package let path: String

    /// Smaller files are fetched whole, in bytes: their requests would take longer.
    package static let smallestFile: Int64 = 10_000_000
}

extension PullPlan {
    /// The older revision that the fetching of a file can begin with: of safetensors and GGUF files from 10 MB, where
    /// another cached revision has the same path with other content; first the one that the branch has now, then the
    /// newest in the cache. nil if there is none, and for files that `--force` or a local folder asks for.
    package func deltaBase(of file: RepositoryFile, _ state: State) throws(AIError) -> DeltaBase? {
        guard destination.isCache, !isForced, case .missing(let safe) = state, safe < file.size, file.isLFS,
            file.size >= DeltaBase.smallestFile, TensorSpans.knows(file.path)
        else { return nil }
        let current = try ref.flatMap { ref throws(AIError) in try folder.commit(ofRef: ref) }
        for other in try folder.olderRevisions(than: commit, first: current) {
            let path = Path.join(folder.snapshot(other), file.path)
            guard let real = FileSystem.resolved(path), let status = try FileSystem.status(real),
                status.kind == .file,
                status.size > 0, Path.name(real) != file.digest.hex
            else { continue }
            return DeltaBase(path: real)
        }
        return nil
    }

    /// Bytes of the files to fetch of which an older revision is cached.
    package func olderBytes() throws(AIError) -> Int64 {
        var sum: Int64 = 0
        for (file, state) in files where try deltaBase(of: file, state) != nil {
            sum = sum.addingClamped(file.size)
        }
        return sum
    }
}

extension RepositoryFolder {
    /// The other cached revisions: `first`, then the newest in the cache.
    func olderRevisions(than commit: Commit, first current: Commit? = nil) throws(AIError) -> [Commit] {
        let all = try snapshotNames().compactMap(Commit.init).filter { $0 != commit }
        var times: [Commit: Double] = [:]
        for commit in all { times[commit] = try FileSystem.status(snapshot(commit))?.modified ?? 0 }
        return all.sorted { one, two in
            if (one == current) != (two == current) { return one == current }
            return (times[one] ?? 0, one.hash) > (times[two] ?? 0, two.hash)
        }
    }
}
