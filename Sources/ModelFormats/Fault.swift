package import HubCore

extension AIError {
    /// A file that breaks its own format.
    package static func malformed(_ path: String, _ fault: String, cause: (any Error)? = nil) -> AIError {
        AIError(.malformedModel, "\(path): \(fault)", context: Context(path: path), cause: cause)
    }

    /// Something sound that this kit does not run.
    package static func unsupported(_ path: String, _ what: String) -> AIError {
        AIError(.unsupportedModel, "\(path): \(what)", context: Context(path: path))
    }
}

/// Reads a JSON file of a model folder.
package enum JSONFile {
    /// The document; nil where there is no such file.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for what is not JSON.
    package static func read(_ path: String) throws(AIError) -> JSON? {
        guard let bytes = try FileSystem.contents(path, limit: 256 << 20) else { return nil }
        do throws(JSONError) { return try JSON.parse(bytes) } catch {
            throw .malformed(path, "\(error)", cause: error)
        }
    }
}
