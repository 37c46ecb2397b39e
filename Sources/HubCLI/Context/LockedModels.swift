import Fetcher
import HubCore

/// The lock that several commands read.
enum LockedModels {
    static let fileName = "hub.lock"

    /// - Throws: ``ErrorCode/fileNotFound`` if there is no lock.
    static func read(_ path: String) async throws -> ModelLock {
        try await Blocking.run {
            guard let lock = try ModelLock.read(path) else {
                throw AIError(
                    .fileNotFound, "\(path.printable) does not exist",
                    advice: Path.name(path) == fileName
                        ? "hub lock write REF writes it"
                        : "hub lock write --file \(ShellQuoting.word(path)) REF writes it",
                    context: .init(path: path))
            }
            return lock
        }
    }

    /// The entries that words name; all of them without words.
    static func entries(_ words: [String], of lock: ModelLock, _ path: String, _ context: Context) throws(AIError)
        -> [ModelLock.Entry]
    {
        guard !words.isEmpty else { return lock.entries }
        var chosen: [ModelLock.Entry] = []
        for word in words {
            let reference = try context.reference(word)
            guard reference.files == nil else {
                throw AIError(.invalidInput, "\"\(word.printable)\" names files; \(path.printable) says which")
            }
            let meant = lock.entries.filter { $0.isMeant(by: reference) }
            guard !meant.isEmpty else {
                throw AIError(
                    .nothingMatches, "\(path.printable) has no \(reference)",
                    advice: "hub lock lists what is locked")
            }
            chosen += meant.filter { !chosen.contains($0) }
        }
        return chosen
    }
}
