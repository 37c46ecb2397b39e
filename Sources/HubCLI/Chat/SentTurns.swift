import HubChatTemplates
import MemoryKit

extension KeptConversation.Turn {
    /// Whether it has a file in it, or says what files say: text and pictures of ``Attachments``, answers from documents and
    /// of programs.
    var hasFiles: Bool {
        let isAttached = message.role == .user && message.content?.contains(Attachments.mark) == true
        let isOfATool = message.role == .tool && !ChatTools.ofTheWeb.contains(message.name ?? "")
        return isAttached || isOfATool || !message.images.isEmpty || !sources.isEmpty
    }
}

extension [KeptConversation.Turn] {
    /// What of these turns nobody has allowed a provider to see, in words; nil for nothing. It may see what it has answered
    /// to, and what was said to another one without files.
    ///
    /// - Parameter label: the provider's.
    func unseen(by label: String) -> String? {
        func isItself(_ turn: Element) -> Bool {
            turn.provider == label || turn.provider?.hasPrefix("\(label):") == true
        }
        let new = self[((lastIndex(where: isItself) ?? -1) + 1)...]
        if new.contains(where: \.hasFiles) { return "this conversation with what it has of files" }
        return new.contains { $0.provider == ProviderChoice.local.text } ? "this conversation" : nil
    }
}
