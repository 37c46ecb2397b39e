import HubCore
import HubServer

/// The members of a request's body, read by type. What is null counts as absent; what nobody asks for is ignored.
struct Fields {
    let object: JSONObject
    /// Where the object stands in the request: `options.`
    var prefix = ""

    init(_ object: JSONObject, prefix: String = "") { (self.object, self.prefix) = (object, prefix) }

    /// - Throws: 400 for a body that is not a JSON object.
    init(_ request: HTTPRequest) throws(APIFault) {
        let json: JSON
        do { json = try JSON.parse(request.body, mostWords: 4 << 20) } catch {
            throw .invalid("the body is \(error.description)")
        }
        guard let object = json.object else { throw .invalid("the body is not a JSON object") }
        guard !json.isDeeper(than: Self.mostLevels) else {
            throw .invalid("the body is nested more than \(Self.mostLevels) levels deep")
        }
        self.object = object
    }

    /// Levels of a body and of arguments in it. Templates go somewhat deeper, and no schema in use as deep.
    static let mostLevels = 128

    subscript(key: String) -> JSON? {
        guard let value = object[key], !value.isNull else { return nil }
        return value
    }

    func has(_ key: String) -> Bool { self[key] != nil }

    /// The first of some fields that is there.
    func string(_ keys: String...) throws(APIFault) -> String? { try read(first(keys), "a text") { $0.string } }
    func bool(_ key: String) throws(APIFault) -> Bool? { try read(key, "true or false") { $0.bool } }
    /// The first of some fields that is there. No number is read without its bounds.
    func number(_ keys: String..., in range: ClosedRange<Double>) throws(APIFault) -> Double? {
        try read(first(keys), "a number from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))") {
            $0.double.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    private static func plain(_ number: Double) -> String {
        Int(exactly: number).map(String.init) ?? String(number)
    }

    func int(_ key: String, in range: ClosedRange<Int>) throws(APIFault) -> Int? {
        try int(key, from: range.lowerBound, to: range.upperBound)
    }
    func array(_ key: String) throws(APIFault) -> [JSON]? { try read(key, "a list") { $0.array } }

    func object(_ key: String) throws(APIFault) -> Fields? {
        try read(key, "an object") { $0.object }.map { Fields($0, prefix: prefix + key + ".") }
    }

    func int(_ key: String, from least: Int = 0, to most: Int = .max) throws(APIFault) -> Int? {
        let range = most == .max ? "a whole number from \(least) on" : "a whole number from \(least) to \(most)"
        return try read(key, range) { value in
            let number = value.int ?? value.double.flatMap { Int64(exactly: $0) }
            return number.flatMap { (Int64(least)...Int64(most)).contains($0) ? Int($0) : nil }
        }
    }

    /// A text or a list of texts.
    func strings(_ key: String) throws(APIFault) -> [String]? {
        try read(key, "a text or a list of texts") { value in
            if let one = value.string { return [one] }
            let all = value.array?.map(\.string)
            return all.flatMap { $0.contains(nil) ? nil : $0.compactMap { $0 } }
        }
    }

    /// - Throws: 400 for a field that is missing.
    func required<Value>(_ key: String, _ value: Value?) throws(APIFault) -> Value {
        guard let value else { throw .invalid("'\(prefix)\(key)' is missing", param: prefix + key) }
        return value
    }

    /// Whether a field has numbers, or lists of numbers, instead of texts: ids of tokens.
    func hasTokenIDs(_ key: String) -> Bool {
        let first = self[key]?.array?.first
        return (first?.array?.first ?? first)?.int != nil
    }

    func model() throws(APIFault) -> String {
        let name = try required("model", try string("model"))
        guard !name.isEmpty else { throw .invalid("'model' is empty", param: "model") }
        return name
    }

    /// Refuses a field that would change the answer and is not understood here, unless it has the value that says so.
    func refuse(_ key: String, unless harmless: [JSON] = [], _ reason: String) throws(APIFault) {
        guard let value = self[key], !harmless.contains(value) else { return }
        throw .invalid("'\(prefix)\(key)': \(reason)", param: prefix + key, code: "unsupported_value")
    }

    private func first(_ keys: [String]) -> String { keys.first(where: has) ?? keys[0] }

    private func read<Value>(_ key: String, _ what: String, _ get: (JSON) -> Value?) throws(APIFault) -> Value? {
        guard let value = self[key] else { return nil }
        guard let read = get(value) else {
            throw .invalid("'\(prefix)\(key)' must be \(what)", param: prefix + key)
        }
        return read
    }
}

extension JSON {
    /// Whether lists and objects are nested more than so many levels deep.
    func isDeeper(than levels: Int) -> Bool {
        switch self {
        case .array(let items): levels == 0 || items.contains { $0.isDeeper(than: levels - 1) }
        case .object(let object): levels == 0 || object.members.contains { $0.value.isDeeper(than: levels - 1) }
        default: false
        }
    }
}
