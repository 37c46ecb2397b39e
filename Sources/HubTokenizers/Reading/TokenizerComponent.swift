import HubCore
import ModelFormats

/// One part of a tokenizer.json: its type and settings. What is not implemented is rejected by name; settings that a part
/// does not know change nothing, as in the reference.
struct TokenizerComponent {
    /// The file, for errors.
    let path: String
    /// Where in the file: `pre_tokenizer`.
    let place: String
    /// `type` of the part; older files leave it out of `model`.
    let type: String?
    private let members: JSONObject

    /// - Throws: ``ErrorCode/malformedModel`` if the part is not an object.
    init(_ json: JSON, place: String, path: String) throws(AIError) {
        guard let members = json.object else { throw .malformed(path, "\(place) is not an object") }
        self.path = path
        self.place = place
        self.members = members
        type = json["type"]?.string
    }

    /// A setting; nil if absent or null.
    subscript(key: String) -> JSON? {
        guard let value = members[key], !value.isNull else { return nil }
        return value
    }

    /// A Boolean setting; required if there is no default.
    func bool(_ key: String, default fallback: Bool? = nil) throws(AIError) -> Bool {
        guard let value = self[key] ?? fallback.map(JSON.bool) else { throw malformed("has no \(key)") }
        guard let bool = value.bool else { throw .malformed(path, "\(place).\(key) is not true or false") }
        return bool
    }

    func string(_ key: String) throws(AIError) -> String {
        guard let value = self[key]?.string else { throw malformed("has no \(key)") }
        return value
    }

    func bytes(_ key: String) throws(AIError) -> [UInt8] { Array(try string(key).utf8) }

    /// A setting of exactly one character.
    func character(_ key: String) throws(AIError) -> Unicode.Scalar {
        let scalars = try string(key).unicodeScalars
        guard scalars.count == 1, let scalar = scalars.first else {
            throw malformed("has a \(key) that is not one character")
        }
        return scalar
    }

    /// A non-negative integer.
    func count(_ key: String, default fallback: Int? = nil) throws(AIError) -> Int {
        guard let value = self[key] ?? fallback.map({ JSON.int(Int64($0)) }) else {
            throw malformed("has no \(key)")
        }
        guard let int = value.int, (0...Int64(Int32.max)).contains(int) else {
            throw malformed("has a \(key) that is not a count")
        }
        return Int(int)
    }

    /// - Throws: ``ErrorCode/unsupportedModel`` for the first member that is not in the list.
    func allowOnly(_ keys: Set<String>) throws(AIError) {
        for key in members.keys where !keys.contains(key) && self[key] != nil { throw refuse(key) }
    }

    /// Real files have a dozen steps; each processes the whole text.
    private static let mostSteps = 256

    /// - Throws: ``ErrorCode/unsupportedModel`` if there are too many steps.
    func allowStep(after count: Int) throws(AIError) {
        if count >= Self.mostSteps { throw refuse("more than \(Self.mostSteps) steps") }
    }

    /// The error for an unsupported setting; for the part itself if `setting` is empty.
    func refuse(_ setting: String) -> AIError {
        let what = setting.isEmpty ? name : "\(name) with \(setting.excerpt)"
        return .unsupported(path, "the tokenizer's \(what) cannot be used yet")
    }

    /// The error for a malformed part.
    func malformed(_ fault: String) -> AIError { .malformed(path, "the tokenizer's \(name) \(fault.excerpt)") }

    private var name: String { type.map { "\(place) \($0.excerpt)" } ?? place }

    /// The parts in a list, as in `Sequence`.
    func parts(_ key: String) throws(AIError) -> [TokenizerComponent] {
        guard let list = self[key]?.array else { throw .malformed(path, "\(place).\(key) is not a list") }
        var parts: [TokenizerComponent] = []
        for json in list { parts.append(try TokenizerComponent(json, place: place, path: path)) }
        return parts
    }
}

extension String {
    /// The start of a text, for an error.
    var excerpt: String {
        let rest = unicodeScalars.dropFirst(200)
        return rest.isEmpty ? self : String(unicodeScalars[..<rest.startIndex]) + "…"
    }
}
