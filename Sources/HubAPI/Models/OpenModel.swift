import HubCore
import HubTokenizers
import InferenceKit

/// A model that is open.
final class OpenModel: Sendable {
    let cached: CachedModel
    let language: LanguageModel
    let chat: LocalModel
    private let pieces = Lock<[[UInt8]?]?>(nil)

    init(_ cached: CachedModel, _ language: LanguageModel) {
        (self.cached, self.language) = (cached, language)
        chat = LocalModel(language, displayName: cached.id)
    }

    /// What a token adds to a text; half a character is less than UTF-8.
    func bytes(of id: Int) -> [UInt8] {
        let table = pieces.withLock { known in
            if let known { return known }
            let made = (try? language.tokenizer.texts()) ?? []
            known = made
            return made
        }
        if table.indices.contains(id), let bytes = table[id] { return bytes }
        return Array(language.tokenizer.decode([id]).utf8)
    }

    /// - Throws: 400 for a model that generates no text.
    func checkGenerates() throws(APIFault) {
        guard language.generates else {
            throw .invalid(
                "\(cached.id) generates no text: it is for \(language.task.rawValue)", param: "model",
                code: "unsupported_model")
        }
    }
}
