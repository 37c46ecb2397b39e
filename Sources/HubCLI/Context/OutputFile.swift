import HubCore

/// A file that a command makes, and that gets its name when it is complete.
struct OutputFile: Sendable {
    /// As it was typed.
    let name: String
    let path: String

    init(_ name: String, _ context: Context) { (self.name, path) = (name, context.environment.expand(name)) }

    /// Finds out whether there is a place for it, before anything is computed or paid for.
    ///
    /// - Parameters:
    ///   - isForced: whether a file that is there is replaced without a question.
    ///   - kept: what is said where it is not.
    /// - Throws: ``ErrorCode/invalidInput`` for a folder, ``ErrorCode/confirmationRequired`` for a file that may not be
    ///   replaced, and what keeps a file from being made there.
    func check(isForced: Bool, kept: String, _ context: Context) async throws {
        let name = name.printable
        switch try await Blocking.run({ try FileSystem.status(path)?.kind }) {
        case .none: break
        case .directory?: throw AIError(.invalidInput, "\(name) is a folder", context: .init(path: path))
        case .other?:
            // Renaming a file over a device would take the device away.
            throw AIError(.invalidInput, "\(name) is not a regular file", context: .init(path: path))
        case .file?, .symlink?:
            try await context.confirmReplacing(name, isGiven: isForced, kept: "\(name) is kept; \(kept)")
        }
        // A file beside it that comes and goes shows that one can be written.
        try await Blocking.run {
            let trial = "\(path).\(FileSystem.randomHex(4)).tmp"
            try FileSystem.replace(trial, with: [])
            _ = try FileSystem.remove(trial)
        }
    }

    func write(_ bytes: [UInt8]) async throws {
        try await Blocking.run { try FileSystem.replace(path, with: bytes) }
    }
}
