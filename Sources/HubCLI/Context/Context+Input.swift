import HubCore

extension Context {
    /// The bytes that a FILE of the command line names: of a file, of a pipe, or of standard input if it is `-`.
    ///
    /// - Returns: them, and the path for errors.
    /// - Throws: ``ErrorCode/fileNotFound`` if nothing is there, ``ErrorCode/invalidInput`` for a folder and for a pipe of
    ///   more than `limit` bytes, ``ErrorCode/ioError`` for a file of more.
    func input(_ file: String, limit: Int = 64 << 20) async throws -> (bytes: [UInt8], path: String) {
        if file == "-" { return (try await StandardInput.bytes(limit: limit), "standard input") }
        let path = environment.expand(file)
        let absent = AIError(.fileNotFound, "\(file.printable) does not exist", context: .init(path: path))
        switch try await Blocking.run({ try FileSystem.status(path)?.kind }) {
        case .none: throw absent
        case .directory: throw AIError(.invalidInput, "\(file.printable) is a folder", context: .init(path: path))
        case .other: return (try await StandardInput.bytes(ofPipe: path, limit: limit), path)
        case .file, .symlink:
            guard let bytes = try await Blocking.run({ try FileSystem.contents(path, limit: limit) }) else {
                throw absent
            }
            return (bytes, path)
        }
    }
}
