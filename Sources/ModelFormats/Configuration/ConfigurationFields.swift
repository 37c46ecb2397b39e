import HubCore

/// Collects a configuration's faults while reading continues.
final class FaultList {
    var faults: [String] = []
}

/// Typed access to a configuration's members: absent and null are nil; the wrong type is an error, or recorded and nil.
struct ConfigurationFields {
    private let members: JSONObject
    let path: String
    /// nil if faults are errors.
    let noted: FaultList?

    init(_ members: JSONObject, path: String, noted: FaultList? = nil) {
        self.members = members
        self.path = path
        self.noted = noted
    }

    /// Throws a fault, or records it.
    func report(_ what: String) throws(AIError) {
        guard let noted else { throw .malformed(path, what) }
        noted.faults.append(what)
    }

    func has(_ key: String) -> Bool { value(key) != nil }

    /// All members of the part.
    var all: JSONObject { members }

    /// An integer; some files write 128.0.
    private static func whole(_ value: JSON) -> Int64? { value.int ?? value.double.flatMap { Int64(exactly: $0) } }

    private func value(_ key: String) -> JSON? {
        guard let value = members[key], !value.isNull else { return nil }
        return value
    }

    /// The first key present: names differ between versions of a configuration.
    func string(_ keys: String...) throws(AIError) -> String? {
        guard let key = keys.first(where: has), let value = value(key) else { return nil }
        if value.string == nil { try report("\(key) is not a string") }
        return value.string
    }

    func bool(_ key: String) throws(AIError) -> Bool? {
        guard let value = value(key) else { return nil }
        if value.bool == nil { try report("\(key) is not true or false") }
        return value.bool
    }

    func number(_ key: String) throws(AIError) -> Double? {
        guard let value = value(key) else { return nil }
        if let number = value.double, number.isFinite { return number }
        try report("\(key) is not a number")
        return nil
    }

    /// A size from 1 to 2^31 - 1: products of two of them cannot overflow. The first key present counts. A list with
    /// one entry per layer gives the common value, or nil if they differ.
    func count(_ keys: String...) throws(AIError) -> Int? {
        guard let key = keys.first(where: has), let value = value(key) else { return nil }
        let numbers = value.array ?? [value]
        guard
            numbers.allSatisfy({ Self.whole($0).map { (1...Int64(Int32.max)).contains($0) } == true }),
            let first = numbers.first.flatMap(Self.whole)
        else {
            try report("\(key) is not a positive whole number")
            return nil
        }
        return numbers.allSatisfy { Self.whole($0) == first } ? Int(first) : nil
    }

    /// A size, or nil for anything else. For display only.
    func optionalCount(_ keys: String...) -> Int? {
        keys.lazy.compactMap { value($0).flatMap(Self.whole) }.first { (1...Int64(Int32.max)).contains($0) }.map {
            Int($0)
        }
    }

    /// The tokens of `bad_words_ids`, of which those of more than one are left out; nil if there are none.
    var bannedIDs: [Int]? {
        guard let lists = value("bad_words_ids")?.array else { return nil }
        return lists.compactMap { list in
            guard let ids = list.array, ids.count == 1, let id = ids[0].int, (0...Int64(Int32.max)).contains(id)
            else {
                return nil
            }
            return Int(id)
        }
    }

    /// The first of the keys that is there.
    private func first(_ keys: [String]) -> JSON? { keys.lazy.compactMap(value).first }

    /// The integers of a list; nil if there is none.
    func integers(_ keys: String...) -> [Int]? {
        first(keys)?.array?.compactMap { $0.int.flatMap { Int(exactly: $0) } }
    }

    /// A non-negative integer.
    func index(_ key: String) -> Int? { value(key)?.int.flatMap { Int(exactly: $0) }.flatMap { $0 < 0 ? nil : $0 } }

    /// A string; nil for anything else.
    func optionalText(_ key: String) -> String? { value(key)?.string }

    /// Whether the key is null.
    func isNull(_ key: String) -> Bool { members[key]?.isNull == true }

    /// Whether the key is true.
    func isTrue(_ key: String) -> Bool { value(key)?.bool == true }

    /// The strings of a list; empty if there is none.
    func strings(_ key: String) -> [String] { (value(key)?.array ?? []).compactMap(\.string) }

    /// The members of an object; empty if there is none.
    func members(_ key: String) -> [(key: String, value: JSON)] { value(key)?.object?.members ?? [] }

    /// A token id or a list of them; -1 means none.
    func tokenIDs(_ key: String) throws(AIError) -> [Int] {
        guard let value = value(key) else { return [] }
        var ids: [Int] = []
        for element in value.array ?? [value] where element.int != -1 {
            guard let id = element.int, (0...Int64(Int32.max)).contains(id) else {
                try report("\(key) is not a token id or a list of them")
                return []
            }
            ids.append(Int(id))
        }
        return ids
    }

    /// The first of the keys that is there.
    func object(_ keys: String...) throws(AIError) -> ConfigurationFields? {
        guard let key = keys.first(where: has), let value = value(key) else { return nil }
        guard let object = value.object else {
            try report("\(key) is not an object")
            return nil
        }
        return ConfigurationFields(object, path: path, noted: noted)
    }

    /// An object; nil for anything else.
    func optionalObject(_ key: String) -> ConfigurationFields? {
        value(key)?.object.map { ConfigurationFields($0, path: path, noted: noted) }
    }

    /// The same with the class's defaults for missing values: parts of a configuration are saved without defaults.
    func withDefaults() -> ConfigurationFields {
        guard let type = value("model_type")?.string, let defaults = ArchitectureTraits.defaults[type] else {
            return self
        }
        let absent = defaults.filter { members[$0.key] == nil }.sorted { $0.key < $1.key }
        return ConfigurationFields(
            JSONObject(members.members + absent.map { ($0.key, .int(Int64($0.value))) }), path: path, noted: noted)
    }
}
