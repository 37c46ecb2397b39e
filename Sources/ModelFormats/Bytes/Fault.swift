package import HubCore

extension AIError {
    /// A file that breaks its own format.
    package static func malformed(_ path: String, _ fault: String, cause: (any Error)? = nil) -> AIError {
        about(.malformedModel, path, fault, cause)
    }

    /// A file that breaks its own format, with details for programs; see ``formatFault``.
    package static func malformed(
        _ path: String, _ fault: String, tensor: String? = nil, expected: String?, found: String?
    ) -> AIError {
        malformed(path, fault, cause: FormatFault(tensor: tensor, expected: expected, found: found))
    }

    /// The parts of the message; nil if it has none.
    package var formatFault: FormatFault? { cause as? FormatFault }

    /// A valid file that this kit cannot run.
    package static func unsupported(_ path: String, _ what: String) -> AIError {
        about(.unsupportedModel, path, what)
    }

    /// A model that cannot be run.
    package static func unsupported(_ path: String, _ obstacles: some Collection<RunObstacle>) -> AIError {
        unsupported(path, "\(obstacles.text) cannot be run yet")
    }

    private static func about(
        _ code: ErrorCode, _ path: String, _ fault: String, _ cause: (any Error)? = nil
    ) -> AIError {
        var error = AIError(code, "\(path): \(fault)", context: Context(path: path), cause: cause)
        error.context.fault = fault
        return error
    }
}

extension RunObstacle {
    /// What an error says of a file of the model.
    package init(_ error: AIError) {
        let file = error.context.fault == nil ? nil : error.context.path.map(Path.name)
        let fault = error.context.fault ?? error.message
        self =
            error.code == .unsupportedModel
            ? .unreadable(file: file, fault: fault) : .broken(file: file, fault: fault)
    }
}

/// The details of a fault in a tensor or a value.
package struct FormatFault: Error, Sendable, Hashable {
    package let tensor: String?
    package let expected: String?
    package let found: String?
}

/// `1 tensor`, `12 tensors`.
package func counted(_ count: Int64, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
package func counted(_ count: Int, _ noun: String) -> String { counted(Int64(count), noun) }

/// Reads a JSON file of a model folder.
package enum JSONFile {
    /// The document; nil if there is no such file.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if it is not JSON.
    package static func read(_ path: String) throws(AIError) -> JSON? {
        guard let bytes = try FileSystem.contents(path, limit: 256 << 20) else { return nil }
        do throws(JSONError) { return try JSON.parsePython(bytes) } catch {
            try LFSPointer.refuse(bytes, fileSize: Int64(bytes.count), path: path)
            throw .malformed(path, "\(error)", cause: error)
        }
    }
}
