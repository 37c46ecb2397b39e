package import HubCore
package import ModelFormats

extension PullPlan {
    /// The beginning of a file that the cache has, in the snapshot or under another name; nil where it has not. The bytes
    /// are as they lie there, and fewer than `count` of a file that was cut short since.
    func cachedBeginning(of file: RepositoryFile, _ count: Int) throws(AIError) -> [UInt8]? {
        try cachedBytes(of: file, 0..<count)
    }

    /// Some bytes of such a file.
    func cachedBytes(of file: RepositoryFile, _ range: Range<Int>) throws(AIError) -> [UInt8]? {
        let count = range.count
        let path: String
        if try SnapshotFile.state(file, commit: commit, in: folder) == .present {
            path = Path.join(folder.snapshot(commit), file.path)
        } else if try SnapshotFile.hasBlob(file, in: folder) {
            path = folder.blob(file.digest.hex)
        } else if case .elsewhere(let source) = files.first(where: { $0.file == file })?.state {
            path = source
        } else {
            return nil
        }
        let descriptor = try FileDescriptor(path)
        var bytes = [UInt8](repeating: 0, count: count)
        let read = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(AIError) in try descriptor.read(into: buffer, at: Int64(range.lowerBound)) }
        }
        bytes.removeLast(count - (try read.get()))
        return bytes
    }

    /// What running a set of its weights takes. `config.json` counts where the cache has it and is never fetched for this:
    /// an estimate fetches nothing, and the Hub would count it as a download.
    package func memoryNeed(of variant: ModelVariant) throws(AIError) -> MemoryNeed {
        MemoryNeed(weightsBytes: variant.sizeBytes, configuration: try cachedConfiguration())
    }

    /// The largest of the sets of weights among its files; nil where there is none.
    package var largestVariant: ModelVariant? {
        // Nobody runs a model of so many files, and sorting them out would take seconds.
        guard repository.kind == .model, files.count <= 100_000 else { return nil }
        return ModelFiles(files.map(\.file)).variants.max { $0.sizeBytes < $1.sizeBytes }
    }

    /// What `config.json` says, where the cache has it; nil also for one that says nothing of use.
    private func cachedConfiguration() throws(AIError) -> ModelConfiguration? {
        guard let file = tree.files.first(where: { $0.path == "config.json" }), file.size <= 1 << 20,
            let bytes = try cachedBeginning(of: file, Int(file.size))
        else { return nil }
        // Whoever runs the model is told what is wrong with it; here it only means that the other rule applies.
        guard let json = try? JSON.parse(bytes) else { return nil }
        return try? ModelConfiguration(json, path: file.path)
    }
}
