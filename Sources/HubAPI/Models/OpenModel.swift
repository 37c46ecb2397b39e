import HubCore
import HubTokenizers
import InferenceKit

/// A model that is open: its side for texts, its side for pictures, or both.
final class OpenModel: Sendable {
    let cached: CachedModel
    /// What reads texts; nil for a model of pictures alone.
    let texts: LanguageModel?
    private let seeing: PictureModel?
    private let talking: LocalModel?
    private let pieces = Lock<[[UInt8]?]?>(nil)

    init(_ cached: CachedModel, _ opened: ModelContainer.Opened) {
        self.cached = cached
        (texts, seeing) = (opened.texts, opened.pictures)
        talking = opened.texts.map { LocalModel($0, displayName: cached.id) }
    }

    /// Whether it is these sides that are open.
    func isMade(of opened: ModelContainer.Opened) -> Bool { texts === opened.texts && seeing === opened.pictures }

    /// - Throws: 400 for a model that reads no texts.
    var language: LanguageModel {
        get throws(APIFault) {
            guard let texts else { throw readsNoText }
            return texts
        }
    }

    /// - Throws: 400 for a model that reads no texts.
    var chat: LocalModel {
        get throws(APIFault) {
            guard let talking else { throw readsNoText }
            return talking
        }
    }

    /// - Throws: 400 for a model that reads no pictures.
    var pictures: PictureModel {
        get throws(APIFault) {
            guard let seeing else {
                throw unsupported("\(cached.id) reads no pictures: it is for \(task)")
            }
            return seeing
        }
    }

    /// What it is for, by the Hub's name.
    private var task: String { (texts?.task ?? seeing?.task)?.rawValue ?? "nothing here" }
    private var readsNoText: APIFault { unsupported("\(cached.id) reads pictures, and no text: it is for \(task)") }

    /// A request that this model cannot be asked.
    func unsupported(_ message: String) -> APIFault {
        .invalid(message, param: "model", code: "unsupported_model")
    }

    /// What a token adds to a text; half a character is less than UTF-8.
    func bytes(of id: Int) -> [UInt8] {
        guard let tokenizer = texts?.tokenizer else { return [] }
        let table = pieces.withLock { known in
            if let known { return known }
            let made = (try? tokenizer.texts()) ?? []
            known = made
            return made
        }
        if table.indices.contains(id), let bytes = table[id] { return bytes }
        return Array(tokenizer.decode([id]).utf8)
    }

    /// - Throws: 400 for a model that generates no text.
    func checkGenerates() throws(APIFault) {
        guard texts?.generates == true else {
            throw unsupported("\(cached.id) generates no text: it is for \(task)")
        }
    }
}
