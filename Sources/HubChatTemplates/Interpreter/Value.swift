import HubCore

extension Jinja {
    /// The value of an expression. Only a namespace is mutable.
    enum Value {
        indirect case undefined(Undefined)
        case none
        case bool(Bool)
        case int(Int)
        /// The digits of an integer beyond 64 bits, for output only.
        case long(Text)
        case float(Double)
        case string(Text)
        case list(Items)
        case tuple(Items)
        case dictionary(Dict)
        /// `keys()`, `values()` or `items()` of a dictionary.
        case view(ViewKind, Dict)
        indirect case range(NumberRange)
        case stream(Stream)
        case namespace(Namespace)
        case loop(Loop)
        case function(Function)

        static func string(_ text: String) -> Value { .string(Text(text)) }
    }

    /// Why there is no value.
    enum Undefined {
        case name(String)
        /// No such attribute or element of an object of a type.
        case attribute(String, owner: String)
        case element(String, owner: String)
        /// Blocked by the sandbox.
        case unsafe(String, owner: String)
        /// A macro parameter without an argument.
        case parameter(String)
        case reason(String)

        var message: String {
            switch self {
            case .name(let name): "'\(name)' is undefined"
            case .attribute(let name, let owner): "'\(owner)' has no attribute '\(name)'"
            case .element(let element, let owner): "\(owner) has no element \(element)"
            case .unsafe(let name, let owner): "access to attribute '\(name)' of '\(owner)' object is unsafe."
            case .parameter(let name): "parameter '\(name)' was not provided"
            case .reason(let reason): reason
            }
        }
    }

    /// The elements of a list or a tuple.
    final class Items {
        let values: [Value]
        /// The element names of a named tuple.
        let fields: [Text]
        let depth: Int

        fileprivate init(_ values: [Value], fields: [Text], depth: Int) {
            self.values = values
            self.fields = fields
            self.depth = depth
        }
    }

    /// A dictionary in insertion order. Only ``Run`` fills one.
    final class Dict {
        private(set) var keys: [Value] = []
        private(set) var values: [Value] = []
        private var places: [Key: Int] = [:]
        private(set) var depth = 1

        var count: Int { keys.count }

        subscript(key: Key) -> Value? { places[key].map { values[$0] } }
        subscript(key: Text) -> Value? { self[.string(key)] }

        /// Adds a member; an existing key keeps its place. Called only while the dictionary is built.
        func add(_ key: Value, _ hashed: Key, _ value: Value) {
            depth = max(depth, 1 + value.depth, 1 + key.depth)
            if let place = places[hashed] {
                values[place] = value
            } else {
                places[hashed] = keys.count
                keys.append(key)
                values.append(value)
            }
        }
    }

    enum ViewKind { case keys, values, items }

    /// A key with Python's hash and equality.
    indirect enum Key: Hashable {
        case none
        /// Whole numbers, booleans and floats without fraction.
        case int(Int)
        case long(Text)
        case float(Double)
        case string(Text)
        case tuple([Key])
        case undefined
        case object(ObjectIdentifier)
    }

    /// `range(start, stop, step)`
    struct NumberRange: Equatable {
        var start: Int
        var stop: Int
        var step: Int

        var count: Int {
            guard step > 0 ? start < stop : stop < start else { return 0 }
            return Int(clamping: (distance(to: stop) - 1) / step.magnitude + 1)
        }

        /// The distance of a number from the start in the step's direction: up to 64 bits, unsigned.
        func distance(to number: Int) -> UInt { UInt(bitPattern: step > 0 ? number &- start : start &- number) }

        /// An element; the index must be in range. The element fits in 64 bits, intermediate results may not.
        subscript(index: Int) -> Int { start &+ index &* step }
    }

    final class Namespace {
        var members = Dict()

        func set(_ name: Text, _ value: Value) { members.add(.string(name), .string(name), value) }
    }

    /// Something that can be called.
    final class Function {
        let name: String
        let depth: Int
        let macro: Macro?
        let call: (Run, Arguments) throws(Fault) -> Value
        /// Attributes, as of `cycler`.
        var attribute: ((Text) -> Value?)?

        init(
            _ name: String, depth: Int = 1, macro: Macro? = nil,
            call: @escaping (Run, Arguments) throws(Fault) -> Value
        ) {
            self.name = name
            self.depth = depth
            self.macro = macro
            self.call = call
        }
    }
}

extension Jinja.Value {
    typealias Value = Jinja.Value
    typealias Text = Jinja.Text

    /// The nesting depth. Containers beyond a limit are rejected, because Swift deallocates nested values recursively.
    var depth: Int {
        switch self {
        case .list(let items), .tuple(let items): items.depth
        case .dictionary(let dictionary), .view(_, let dictionary): dictionary.depth
        case .stream(let stream): stream.depth
        case .function(let function): function.depth
        default: 0
        }
    }

    /// The name of the Python class.
    var typeName: String {
        switch self {
        case .undefined: "Undefined"
        case .none: "NoneType"
        case .bool: "bool"
        case .int, .long: "int"
        case .float: "float"
        case .string(let text): text.isMarkup ? "Markup" : "str"
        case .list: "list"
        case .tuple: "tuple"
        case .dictionary: "dict"
        case .view(let kind, _): "dict_\(kind)"
        case .range: "range"
        case .stream: "generator"
        case .namespace: "Namespace"
        case .loop: "LoopContext"
        case .function(let function): function.macro == nil ? "function" : "Macro"
        }
    }

    /// The owner's name in Jinja's messages about missing attributes.
    var ownerName: String {
        switch self {
        case .none: "None"
        case .namespace: "jinja2.utils.Namespace object"
        case .loop, .undefined: "jinja2.runtime.\(typeName) object"
        default: "\(typeName) object"
        }
    }

    var isUndefined: Bool { if case .undefined = self { true } else { false } }
    var isNone: Bool { if case .none = self { true } else { false } }
    var text: Text? { if case .string(let text) = self { text } else { nil } }

    /// The value as an integer; True and False count.
    var wholeNumber: Int? {
        switch self {
        case .int(let value): value
        case .bool(let value): value ? 1 : 0
        default: nil
        }
    }

    /// The value as a number.
    var number: Double? {
        if case .float(let value) = self { return value }
        return wholeNumber.map(Double.init)
    }

    var isTrue: Bool {
        switch self {
        case .undefined, .none: false
        case .bool(let value): value
        case .int(let value): value != 0
        case .float(let value): value != 0
        case .string(let text): !text.isEmpty
        case .list(let items), .tuple(let items): !items.values.isEmpty
        case .dictionary(let dictionary), .view(_, let dictionary): dictionary.count > 0
        case .range(let range): range.count > 0
        // A visible loop has at least one iteration.
        case .long, .stream, .namespace, .function, .loop: true
        }
    }

    init(_ constant: Jinja.Constant) {
        switch constant {
        case .none: self = .none
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(value)
        case .float(let value): self = .float(value)
        case .string(let text): self = .string(text)
        }
    }
}

// MARK: - Making containers

extension Jinja.Run {
    /// The depth of a container of these values.
    private func depth(of values: [Value]) throws(Fault) -> Int {
        try spend(cells: values.count)
        var deepest = 0
        for value in values { deepest = max(deepest, value.depth) }
        try check(depth: deepest + 1)
        return deepest + 1
    }

    func check(depth: Int) throws(Fault) {
        guard depth <= Jinja.valueDepth else {
            throw limit("lists or dictionaries lie more than \(Jinja.valueDepth) levels within each other")
        }
    }

    func list(_ values: [Value]) throws(Fault) -> Value {
        .list(Jinja.Items(values, fields: [], depth: try depth(of: values)))
    }

    func tuple(_ values: [Value], fields: [Text] = []) throws(Fault) -> Value {
        .tuple(Jinja.Items(values, fields: fields, depth: try depth(of: values)))
    }

    /// Adds a member to a dictionary under construction.
    func add(_ key: Value, _ value: Value, to dictionary: Jinja.Dict) throws(Fault) {
        try spend(cells: 6)
        dictionary.add(key, try self.key(key), value)
        try check(depth: dictionary.depth)
    }

    func add(_ key: Text, _ value: Value, to dictionary: Jinja.Dict) throws(Fault) {
        try add(.string(key), value, to: dictionary)
    }

    /// A value as a key.
    func key(_ value: Value) throws(Fault) -> Jinja.Key {
        try spend(1)
        switch value {
        case .undefined: return .undefined
        case .none: return .none
        case .bool(let bool): return .int(bool ? 1 : 0)
        case .int(let int): return .int(int)
        case .long(let digits): return .long(digits)
        case .float(let float): return Int(exactly: float).map { .int($0) } ?? .float(float)
        case .string(let text):
            try spend(characters: text.count)
            return .string(text)
        case .tuple(let items):
            // Keys copy what tuples share.
            try spend(cells: 4 * items.values.count)
            var keys: [Jinja.Key] = []
            for item in items.values { keys.append(try key(item)) }
            return .tuple(keys)
        case .range(let range): return .tuple([.int(range.start), .int(range.stop), .int(range.step)])
        case .stream(let stream): return .object(ObjectIdentifier(stream))
        case .namespace(let namespace): return .object(ObjectIdentifier(namespace))
        case .loop(let loop): return .object(ObjectIdentifier(loop))
        case .function(let function): return .object(ObjectIdentifier(function))
        case .list, .dictionary, .view: throw fail("unhashable type: '\(value.typeName)'")
        }
    }

    /// A JSON document as a value.
    func value(_ json: JSON) throws(Fault) -> Value {
        try enter()
        defer { leave() }
        switch json {
        case .null: return .none
        case .bool(let bool): return .bool(bool)
        case .int(let int): return .int(Int(int))
        case .double(let double): return .float(double)
        case .longNumber(let digits):
            try grant(digits.utf8.count)
            return .long(Text(digits))
        case .string(let string):
            let text = Text(string)
            try grant(text.count)
            return .string(text)
        case .array(let elements):
            var values: [Value] = []
            for element in elements { values.append(try value(element)) }
            return try list(values)
        case .object(let object):
            let dictionary = Jinja.Dict()
            for member in object.members { try add(Text(member.key), try value(member.value), to: dictionary) }
            return .dictionary(dictionary)
        }
    }
}
