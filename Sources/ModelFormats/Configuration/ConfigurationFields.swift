import HubCore

/// Collects a configuration's faults while reading continues.
package final class FaultList {
    package var faults: [String] = []

    package init() {}

    /// Records a fault, once.
    func note(_ fault: String) { if !faults.contains(fault) { faults.append(fault) } }
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
        if let number = value.finite { return number }
        try report("\(key) is not a number")
        return nil
    }

    /// A number that is not negative.
    func epsilon(_ key: String) throws(AIError) -> Double? {
        guard let number = try number(key) else { return nil }
        if number < 0 { try report("\(key) is below 0") }
        return number
    }

    /// A size. The first key present counts. A list with one entry per layer gives the common value, or nil if they
    /// differ.
    func count(_ keys: String..., in limits: ClosedRange<Int> = SettingLimits.sizes) throws(AIError) -> Int? {
        guard let key = keys.first(where: has), let value = value(key) else { return nil }
        let listed = value.array ?? [value]
        let numbers = listed.compactMap { $0.whole(in: limits) }
        guard let first = numbers.first, numbers.count == listed.count else {
            try report("\(key) is not a whole number from \(limits.lowerBound) to \(limits.upperBound)")
            return nil
        }
        return numbers.allSatisfy { $0 == first } ? first : nil
    }

    /// A size. A 0, or a list with an entry per layer, counts as absent; the first key with another value counts.
    func countIfAny(_ keys: String...) throws(AIError) -> Int? {
        for key in keys {
            guard let value = value(key), value.array == nil, value.double != 0 else { continue }
            return try count(key)
        }
        return nil
    }

    /// A size, or nil for anything else. For display only.
    func optionalCount(_ keys: String...) -> Int? {
        keys.lazy.compactMap { value($0)?.whole(in: SettingLimits.positions) }.first
    }

    /// The tokens of `bad_words_ids`, of which those of more than one are left out; nil if there are none.
    var bannedIDs: [Int]? {
        guard let lists = value("bad_words_ids")?.array else { return nil }
        return lists.compactMap { list in
            guard let ids = list.array, ids.count == 1 else { return nil }
            return ids[0].whole(in: SettingLimits.places)
        }
    }

    /// The first of the keys that is there.
    private func first(_ keys: [String]) -> JSON? { keys.lazy.compactMap(value).first }

    /// The numbers of layers in a list; nil if there is none. For display only.
    func integers(_ keys: String...) -> [Int]? {
        first(keys)?.array?.compactMap { $0.whole(in: SettingLimits.places) }
    }

    /// A list of sizes. The first key present counts.
    func sizes(_ keys: String...) throws(AIError) -> [Int]? {
        guard let key = keys.first(where: has), let list = value(key)?.array else { return nil }
        let limits = SettingLimits.sizes
        let sizes = list.compactMap { $0.whole(in: limits) }
        if sizes.count == list.count { return sizes }
        try report("\(key) has a number that is not whole or not from \(limits.lowerBound) to \(limits.upperBound)")
        return nil
    }

    /// A non-negative integer.
    func index(_ key: String) -> Int? { value(key)?.whole(in: SettingLimits.places) }

    /// A string; nil for anything else.
    func optionalText(_ key: String) -> String? { value(key)?.string }

    /// Whether the value is -1, which stands for none in some settings.
    func isMinusOne(_ key: String) -> Bool { value(key)?.double == -1 }

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
            guard let id = element.whole(in: SettingLimits.places) else {
                try report("\(key) is not a token id or a list of them")
                return []
            }
            ids.append(id)
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
    ///
    /// - Parameter usual: the type of a part that does not say its own.
    func withDefaults(of usual: String? = nil) -> ConfigurationFields {
        guard let type = value("model_type")?.string ?? usual, let defaults = ArchitectureTraits.defaults[type]
        else {
            return self
        }
        let absent = defaults.filter { members[$0.key] == nil }.sorted { $0.key < $1.key }
        return ConfigurationFields(
            JSONObject(members.members + absent.map { ($0.key, .int(Int64($0.value))) }), path: path, noted: noted)
    }
}
