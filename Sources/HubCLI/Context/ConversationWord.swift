import HubCore
import MemoryKit

/// Tells the id of a kept conversation from a prompt.
enum ConversationWord {
    /// Whether a word is an id (eight hexadecimal digits), or four of its digits or more: `hub chat --continue 3f0a`
    /// sent `3f0a` to the last conversation.
    static func isName(_ word: String, _ environment: HubEnvironment) -> Bool {
        guard (4...8).contains(word.count), word.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return false }
        // A slip in an id must not become a prompt that is sent.
        guard word.count < 8 else { return true }
        let path = ConversationArchive.path(in: environment.stateDirectory)
        guard FileSystem.exists(path), let archive = try? ConversationArchive(path: path) else { return false }
        return (try? archive.ids(beginning: word.lowercased()))?.isEmpty == false
    }
}
