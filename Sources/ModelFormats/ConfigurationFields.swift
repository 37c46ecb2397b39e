import HubCore

/// What is wrong with a configuration, where that is noted and the reading continues.
final class FaultList {
    var faults: [String] = []
}

/// Typed access to a configuration's members: absent and null are nil, the wrong kind is an error, or noted and nil.
struct ConfigurationFields {
    private let members: JSONObject
    let path: String
    /// nil where a fault is an error.
    let noted: FaultList?

    init(_ members: JSONObject, path: String, noted: FaultList? = nil) {
        self.members = members
        self.path = path
        self.noted = noted
    }

    /// Throws a fault, or notes it.
    func report(_ what: String) throws(AIError) {
        guard let noted else { throw .malformed(path, what) }
        noted.faults.append(what)
    }

    func has(_ key: String) -> Bool { value(key) != nil }

    /// Everything that the part says.
    var all: JSONObject { members }

    /// A whole number, which some files write as 128.0.
    private static func whole(_ value: JSON) -> Int64? { value.int ?? value.double.flatMap { Int64(exactly: $0) } }

    private func value(_ key: String) -> JSON? {
        guard let value = members[key], !value.isNull else { return nil }
        return value
    }

    /// The first of the keys that is there: names change between versions of a configuration.
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

    /// A size from 1 to 2^31 - 1: products of two of them cannot overflow. The first of the keys that is there counts.
    /// Of a list with one entry for each layer it is what all of them say, and nil where they differ.
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

    /// A size, where the key holds one; nil for anything else. For what is shown and never computed with.
    func optionalCount(_ keys: String...) -> Int? {
        keys.lazy.compactMap { value($0).flatMap(Self.whole) }.first { (1...Int64(Int32.max)).contains($0) }.map {
            Int($0)
        }
    }

    /// The first of the keys that is there.
    private func first(_ keys: [String]) -> JSON? { keys.lazy.compactMap(value).first }

    /// Whole numbers of a list; nil where there is none.
    func integers(_ keys: String...) -> [Int]? {
        first(keys)?.array?.compactMap { $0.int.flatMap { Int(exactly: $0) } }
    }

    /// A whole number of at least 0.
    func index(_ key: String) -> Int? { value(key)?.int.flatMap { Int(exactly: $0) }.flatMap { $0 < 0 ? nil : $0 } }

    /// A text, where the key holds one; nil for anything else.
    func optionalText(_ key: String) -> String? { value(key)?.string }

    /// Whether the key is there and holds nothing.
    func isNull(_ key: String) -> Bool { members[key]?.isNull == true }

    /// Whether the key holds the word true.
    func isTrue(_ key: String) -> Bool { value(key)?.bool == true }

    /// The texts of a list; empty where there is none.
    func strings(_ key: String) -> [String] { (value(key)?.array ?? []).compactMap(\.string) }

    /// The members of an object; empty where there is none.
    func members(_ key: String) -> [(key: String, value: JSON)] { value(key)?.object?.members ?? [] }

    /// A token id or a list of them; -1 stands for none.
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

    /// An object, where the key holds one; nil for anything else.
    func optionalObject(_ key: String) -> ConfigurationFields? {
        value(key)?.object.map { ConfigurationFields($0, path: path, noted: noted) }
    }

    /// Itself, with what its class says of the values that it does not name: a part of a configuration is saved without
    /// those that are the class's own.
    func withDefaults() -> ConfigurationFields {
        guard let type = value("model_type")?.string, let defaults = ArchitectureTraits.defaults[type] else {
            return self
        }
        let absent = defaults.filter { members[$0.key] == nil }.sorted { $0.key < $1.key }
        return ConfigurationFields(
            JSONObject(members.members + absent.map { ($0.key, .int(Int64($0.value))) }), path: path, noted: noted)
    }
}
