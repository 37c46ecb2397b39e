package import HubCore

/// The few lines that a clone has in place of a file that Git LFS did not fetch
/// (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md).
package enum LFSPointer {
    private static let start = Array("version https://git-lfs.github.com/spec/".utf8)
    /// Bytes; every pointer is shorter.
    private static let limit = 1024

    /// Whether a file, by its first bytes, is a pointer.
    ///
    /// - Parameter bytes: the file's first bytes, as many as there are; with fewer than eight it is none.
    package static func isOne(_ bytes: some Collection<UInt8>, fileSize: Int64) -> Bool {
        fileSize < Int64(limit) && bytes.count >= 8 && start.starts(with: bytes.prefix(start.count))
    }

    /// - Throws: ``ErrorCode/malformedModel`` for a pointer.
    package static func refuse(_ bytes: some Collection<UInt8>, fileSize: Int64, path: String) throws(AIError) {
        guard isOne(bytes, fileSize: fileSize) else { return }
        var error = AIError.malformed(path, "it is a Git LFS pointer, not the file")
        error.specificAdvice = "run git lfs pull in the clone, or fetch the model with hub pull ORG/NAME"
        throw error
    }
}
