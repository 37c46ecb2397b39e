package import HubCore

extension Catalog {
    /// Whether there is no catalog, or only what a failed attempt to make one left: a file without the first
    /// version of the tables. Were it in the log alone, every pin would be in a backup all the same.
    package static func isAbsent(_ path: String) throws(AIError) -> Bool {
        guard let status = try FileSystem.linkStatus(path) else { return true }
        guard status.kind == .file else { return false }
        if status.size == 0 { return true }
        var head = [UInt8](repeating: 0, count: 64)
        let file = try FileDescriptor(path)
        var fault: AIError?
        let count = head.withUnsafeMutableBytes { buffer in
            do throws(AIError) { return try file.read(into: buffer, at: 0) } catch {
                fault = error
                return 0
            }
        }
        if let fault { throw fault }
        // user_version is at offset 60. https://www.sqlite.org/fileformat.html#user_version_number
        return count == 64 && head.starts(with: Array("SQLite format 3\0".utf8)) && head[60...] == [0, 0, 0, 0]
    }
}
