package import HubCore
package import ModelFormats

extension PullPlan {
    /// The start of a cached file, in the snapshot or under another name; nil if not cached. Not verified, and shorter
    /// than `count` if the file was truncated.
    func cachedBeginning(of file: RepositoryFile, _ count: Int) throws(AIError) -> [UInt8]? {
        try cachedBytes(of: file, 0..<count)
    }

    /// A range of such a file.
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

    /// The memory needed to run a variant. `config.json` is used only if cached: an estimate fetches nothing, and the
    /// Hub would count a download.
    package func memoryNeed(of variant: ModelVariant, by rule: MemoryRule) throws(AIError) -> MemoryNeed {
        guard let configuration = try cachedConfiguration() else {
            return MemoryNeed(weightsBytes: variant.sizeBytes)
        }
        return rule.need(variant.sizeBytes, configuration)
    }

    /// The largest variant among its files; nil if there is none.
    package var largestVariant: ModelVariant? {
        // No runnable model has so many files, and classifying them would take seconds.
        guard repository.kind == .model, files.count <= 100_000 else { return nil }
        return ModelFiles(files.map(\.file)).variants.max { $0.sizeBytes < $1.sizeBytes }
    }

    /// The cached `config.json`; nil if missing or malformed.
    private func cachedConfiguration() throws(AIError) -> ModelConfiguration? {
        guard let file = tree.files.first(where: { $0.path == "config.json" }), file.size <= 1 << 20,
            let bytes = try cachedBeginning(of: file, Int(file.size))
        else { return nil }
        // Running the model reports the error; here the other rule applies.
        guard let json = try? JSON.parsePython(bytes) else { return nil }
        return try? ModelConfiguration(json, path: file.path)
    }
}
