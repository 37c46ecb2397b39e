import HubCore

/// Typed access to a configuration's members: absent and null are nil, the wrong kind is an error.
struct ConfigurationFields {
    private let members: JSONObject
    private let path: String

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

    /// A size from 1 to 2^31 - 1: products of two of them cannot overflow.
    func count(_ key: String) throws(AIError) -> Int? {
        guard let value = value(key) else { return nil }
        guard let number = value.int, (1...Int64(Int32.max)).contains(number) else {
            throw fault("\(key) is not a positive whole number")
        }
        return Int(number)
    }

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
