import HubCore
import ModelFormats

/// One part of a tokenizer.json: its type and settings. Whatever is not implemented is refused by name.
struct TokenizerComponent {
    /// The file, for errors.
    let path: String
    /// Where in the file: `pre_tokenizer`.
    let place: String
    /// `type` of the part; older files leave it out of `model`.
    let type: String?
    private let members: JSONObject

    /// - Throws: ``ErrorCode/malformedModel`` where the part is no object.
    init(_ json: JSON, place: String, path: String) throws(AIError) {
        guard let members = json.object else { throw .malformed(path, "\(place) is not an object") }
        self.path = path
        self.place = place
        self.members = members
        type = json["type"]?.string
    }

    /// A setting; nil where it is absent or null.
    subscript(key: String) -> JSON? {
        guard let value = members[key], !value.isNull else { return nil }
        return value
    }

    func bool(_ key: String, default fallback: Bool) throws(AIError) -> Bool {
        guard let value = self[key] else { return fallback }
        guard let bool = value.bool else { throw .malformed(path, "\(place).\(key) is not true or false") }
        return bool
    }

    /// - Throws: ``ErrorCode/unsupportedModel`` for the first setting beside `type` that is not in the list.
    func allowOnly(_ keys: Set<String>) throws(AIError) {
        for key in members.keys where key != "type" && !keys.contains(key) && self[key] != nil { throw refuse(key) }
    }

    /// The error that says what cannot be used yet; the part itself where `setting` is empty.
    func refuse(_ setting: String) -> AIError {
        let name = type.map { "\(place) \($0)" } ?? place
        let what = setting.isEmpty ? name : "\(name) with \(setting)"
        return .unsupported(path, "the tokenizer's \(what) cannot be used yet")
    }

    /// The members of a list of parts, `Sequence` and the like.
    func parts(_ key: String) throws(AIError) -> [TokenizerComponent] {
        guard let list = self[key]?.array else { throw .malformed(path, "\(place).\(key) is not a list") }
        var parts: [TokenizerComponent] = []
        for json in list { parts.append(try TokenizerComponent(json, place: place, path: path)) }
        return parts
    }
}
