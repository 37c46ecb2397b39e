import HubCore
import ModelFormats

/// Typed access to what a model's files say, with the checks of each value in one place.
///
/// Null counts as absent, except in the readers that distinguish the two. A value of the wrong type or size is noted as a
/// fault and read as nil; the description that is made without it is discarded.
protocol SettingValues {
    var members: JSONObject { get }
    /// Notes what is wrong with a value, such as `hidden_size is not a number`.
    func note(_ fault: String)
}

extension SettingValues {
    func value(_ key: String) -> JSON? { members[key].flatMap { $0.isNull ? nil : $0 } }
    func has(_ key: String) -> Bool { value(key) != nil }
    /// Whether the value is null, which need not mean the class's default.
    func isNull(_ key: String) -> Bool { members[key]?.isNull == true }

    private func read<Value>(_ key: String, _ what: String, _ reader: (JSON) -> Value?) -> Value? {
        guard let value = value(key) else { return nil }
        let found = reader(value)
        if found == nil { note("\(key) is not \(what)") }
        return found
    }

    func object(_ key: String) -> JSONObject? { read(key, "an object", \.object) }
    func text(_ key: String) -> String? { read(key, "a string", \.string) }
    func flag(_ key: String) -> Bool? { read(key, "true or false", \.bool) }

    // MARK: Numbers

    func number(_ key: String) -> Double? { read(key, "a number", \.finite) }
    /// A number, or nil where the value is null.
    ///
    /// - Parameter usual: where the file says nothing.
    func number(_ key: String, orNone usual: Double) -> Double? { isNull(key) ? nil : number(key) ?? usual }
    /// A number that is not negative.
    func epsilon(_ key: String) -> Double? {
        read(key, "a number from 0") { $0.finite.flatMap { $0 >= 0 ? $0 : nil } }
    }
    /// A number above 0, in float32 too.
    func positive(_ key: String) -> Double? {
        read(key, "a number above 0") { $0.finite.flatMap { Float($0) > 0 ? $0 : nil } }
    }

    /// A whole number from 1.
    func count(_ key: String, in limits: ClosedRange<Int> = SettingLimits.sizes) -> Int? {
        read(key, "a whole number from \(limits.lowerBound) to \(limits.upperBound)") { $0.whole(in: limits) }
    }
    /// The same, where 0 stands for none.
    func countIfAny(_ key: String) -> Int? {
        count(key, in: 0...SettingLimits.sizes.upperBound).flatMap { $0 == 0 ? nil : $0 }
    }
    /// A whole number from 0: an id, or the layers before one.
    func place(_ key: String) -> Int? { count(key, in: SettingLimits.places) }
    /// A whole number from 0, or a negative one for none.
    func placeIfAny(_ key: String) -> Int? {
        count(key, in: -SettingLimits.places.upperBound...SettingLimits.places.upperBound).flatMap {
            $0 < 0 ? nil : $0
        }
    }
    /// A number of positions.
    func positions(_ key: String) -> Int? { count(key, in: SettingLimits.positions) }
    /// The width of a window in positions, or nil where the value is null.
    ///
    /// - Parameter usual: where the file says nothing.
    func window(_ key: String = "sliding_window", orNone usual: Int? = nil) -> Int? {
        isNull(key) ? nil : positions(key) ?? usual
    }

    // MARK: Lists

    func list(_ key: String) -> [JSON]? { read(key, "a list", \.array) }
    func texts(_ key: String) -> [String]? { elements(key, "strings", \.string) }
    func numbers(_ key: String) -> [Double]? { elements(key, "numbers", \.finite) }
    func places(_ key: String) -> [Int]? { elements(key, "whole numbers") { $0.whole(in: SettingLimits.places) } }

    private func elements<Value>(_ key: String, _ what: String, _ reader: (JSON) -> Value?) -> [Value]? {
        read(key, "a list of \(what)") { value in
            guard let list = value.array else { return nil }
            let found = list.compactMap(reader)
            return found.count == list.count ? found : nil
        }
    }
}

/// The members of a file beside config.json.
struct FileSettings: SettingValues {
    let path: String
    let members: JSONObject
    private let noted = FaultList()

    /// - Throws: ``ErrorCode/malformedModel`` for what is not an object.
    init(_ json: JSON, path: String) throws(AIError) {
        guard let members = json.object else { throw .malformed(path, "it is not an object") }
        (self.members, self.path) = (members, path)
    }

    func note(_ fault: String) { noted.faults.append(fault) }

    /// Throws the first of the faults that reading found.
    func check() throws(AIError) {
        if let fault = noted.faults.first { throw .malformed(path, fault) }
    }
}

/// The members of an object among the settings.
struct SettingScope: SettingValues {
    /// `rope_scaling`.
    let name: String
    let members: JSONObject
    private let noted: FaultList

    init(_ name: String, _ members: JSONObject, _ noted: FaultList) {
        (self.name, self.members, self.noted) = (name, members, noted)
    }

    func note(_ fault: String) { noted.faults.append("\(name): \(fault)") }

    /// An object inside of it; nil if there is none.
    func scope(_ key: String) -> SettingScope? { object(key).map { SettingScope("\(name): \(key)", $0, noted) } }
}
