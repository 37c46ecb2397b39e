import HubCore

/// Typed access to a configuration's members: absent and null are nil, the wrong kind is an error.
struct ConfigurationFields {
    private let members: JSONObject
    let path: String

    init(_ members: JSONObject, path: String) {
        self.members = members
        self.path = path
    }

    func fault(_ what: String) -> AIError { .malformed(path, what) }

    func has(_ key: String) -> Bool { value(key) != nil }

    private func value(_ key: String) -> JSON? {
        guard let value = members[key], !value.isNull else { return nil }
        return value
    }

    /// The first of the keys that is there: names change between versions of a configuration.
    func string(_ keys: String...) throws(AIError) -> String? {
        guard let key = keys.first(where: has), let value = value(key) else { return nil }
        guard let text = value.string else { throw fault("\(key) is not a string") }
        return text
    }

    func bool(_ key: String) throws(AIError) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let bool = value.bool else { throw fault("\(key) is not true or false") }
        return bool
    }

    func number(_ key: String) throws(AIError) -> Double? {
        guard let value = value(key) else { return nil }
        guard let number = value.double, number.isFinite else { throw fault("\(key) is not a number") }
        return number
    }

    /// A size from 1 to 2^31 - 1: products of two of them cannot overflow. The first of the keys that is there counts.
    /// Of a list with one entry for each layer it is what all of them say, and nil where they differ.
    func count(_ keys: String...) throws(AIError) -> Int? {
        guard let key = keys.first(where: has), let value = value(key) else { return nil }
        let numbers = value.array ?? [value]
        guard
            numbers.allSatisfy({ number in number.int.map { (1...Int64(Int32.max)).contains($0) } == true }),
            let first = numbers.first?.int
        else { throw fault("\(key) is not a positive whole number") }
        return numbers.allSatisfy { $0.int == first } ? Int(first) : nil
    }

    /// A size, where the key holds one; nil for anything else. For what is shown and never computed with.
    func optionalCount(_ keys: String...) -> Int? {
        keys.lazy.compactMap { value($0)?.int }.first { (1...Int64(Int32.max)).contains($0) }.map { Int($0) }
    }

    /// The texts of a list; empty where there is none.
    func strings(_ key: String) -> [String] { (value(key)?.array ?? []).compactMap(\.string) }

    /// The members of an object; empty where there is none.
    func members(_ key: String) -> [(key: String, value: JSON)] { value(key)?.object?.members ?? [] }

    /// A token id or a list of them.
    func tokenIDs(_ key: String) throws(AIError) -> [Int] {
        guard let value = value(key) else { return [] }
        var ids: [Int] = []
        for element in value.array ?? [value] {
            guard let id = element.int, (0...Int64(Int32.max)).contains(id) else {
                throw fault("\(key) is not a token id or a list of them")
            }
            ids.append(Int(id))
        }
        return ids
    }

    /// The first of the keys that is there.
    func object(_ keys: String...) throws(AIError) -> ConfigurationFields? {
        guard let key = keys.first(where: has), let value = value(key) else { return nil }
        guard let object = value.object else { throw fault("\(key) is not an object") }
        return ConfigurationFields(object, path: path)
    }
}
