import HubCore
import MemoryKit

/// Keeps a conversation on this machine, turn by turn. What could not be kept is kept with the next turn.
struct ConversationKeeper {
    private var kept: KeptConversation
    private var archive: ConversationArchive?
    private let path: String
    /// Whether what was said last is not kept, because that failed.
    private(set) var isBehind = false

    /// - Parameter kept: one to be continued, or a new one.
    init(_ kept: KeptConversation, _ environment: HubEnvironment) {
        self.kept = kept
        path = ConversationArchive.path(in: environment.stateDirectory)
    }

    /// The id, once something is kept.
    var id: String? { kept.id.isEmpty ? nil : kept.id }

    /// Keeps what was said so far. A fault is said and ends nothing.
    mutating func keep(_ conversation: Conversation, _ output: Output) async {
        guard !conversation.turns.isEmpty || id != nil else { return }
        kept.turns = conversation.turns
        kept.system = conversation.system
        do {
            let (path, opened) = (path, archive)
            let archive = try await Blocking.run { try opened ?? ConversationArchive(path: path) }
            self.archive = archive
            let before = kept
            let (after, isFork) = try await Blocking.run {
                var after = before
                let isFork = try archive.keep(&after, at: Timestamp.now)
                return (after, isFork)
            }
            if isFork {
                output.note("conversation \(kept.id) was changed elsewhere; this one is kept as \(after.id)")
            }
            kept = after
            isBehind = false
        } catch {
            // Not again for each turn.
            if !isBehind {
                let error = AIError.wrapping(error)
                output.warning(
                    "the last turn is not kept: \(error.message)",
                    advice: "what was kept before is safe; it is tried again with the next turn")
            }
            isBehind = true
        }
    }

    /// Who is asked from now on.
    mutating func change(model: String, provider: String) { (kept.model, kept.provider) = (model, provider) }

    /// The conversation as it stands, for a file.
    func document(of conversation: Conversation) -> KeptConversation {
        var document = kept
        document.turns = conversation.turns
        document.system = conversation.system
        return document
    }
}
