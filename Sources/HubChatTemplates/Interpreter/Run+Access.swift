extension Jinja.Run {
    /// The elements of a value in iteration order.
    func elements(_ value: Value, orElse message: String? = nil) throws(Fault) -> [Value] {
        switch value {
        case .list(let items), .tuple(let items): return items.values
        case .undefined: return []
        case .string(let text):
            try spend(cells: 4 * text.count)
            return text.scalars.map { .string(Text([$0])) }
        case .dictionary(let dictionary): return dictionary.keys
        case .view(let kind, let dictionary): return try elements(kind, dictionary)
        case .range(let range):
            try spend(cells: range.count)
            return (0..<range.count).map { .int(range[$0]) }
        case .stream(let stream): return try stream.rest(self)
        default: throw fail(message ?? "'\(value.typeName)' object is not iterable")
        }
    }

    private func elements(_ kind: Jinja.ViewKind, _ dictionary: Jinja.Dict) throws(Fault) -> [Value] {
        switch kind {
        case .keys: return dictionary.keys
        case .values: return dictionary.values
        case .items:
            var pairs: [Value] = []
            for (key, value) in zip(dictionary.keys, dictionary.values) { pairs.append(try tuple([key, value])) }
            return pairs
        }
    }

    /// `len`; nil if a value has none.
    func length(_ value: Value) throws(Fault) -> Int? {
        switch value {
        case .undefined: 0
        case .string(let text): text.count
        case .list(let items), .tuple(let items): items.values.count
        case .dictionary(let dictionary), .view(_, let dictionary): dictionary.count
        case .range(let range): range.count
        case .loop(let loop): try loop.length(self)
        default: nil
        }
    }

    // MARK: value.name and value[...]

    /// `value.name`: an attribute, else the element with that key.
    func attribute(_ name: Text, of value: Value) throws(Fault) -> Value {
        if case .undefined(let undefined) = value { throw fail(undefined.message) }
        if let found = try ownAttribute(name, of: value) { return found }
        if case .dictionary(let dictionary) = value, let found = dictionary[name] { return found }
        return try missing(name, of: value)
    }

    /// The undefined value for a missing attribute; reports it when used.
    func missing(_ name: Text, of value: Value) throws(Fault) -> Value {
        try spend(kindsOf: name.count)
        return .undefined(.attribute(name.string, owner: value.ownerName))
    }

    /// `value[index]`: an element, else the attribute of that name.
    func item(_ index: Value, of value: Value) throws(Fault) -> Value {
        if let found = try element(index, of: value) { return found }
        if let name = index.text {
            if let found = try ownAttribute(name, of: value) { return found }
            return try missing(name, of: value)
        }
        return .undefined(.element(try representation(of: index).string, owner: value.ownerName))
    }

    /// The element at an index or key; nil if missing.
    func element(_ index: Value, of value: Value) throws(Fault) -> Value? {
        func place(_ count: Int) -> Int? {
            guard let number = index.wholeNumber else { return nil }
            let place = number < 0 ? number + count : number
            return (0..<count).contains(place) ? place : nil
        }
        switch value {
        case .undefined(let undefined): throw fail(undefined.message)
        case .dictionary(let dictionary):
            switch index {
            // Unhashable values are not keys.
            case .list, .dictionary, .view: return nil
            default: return dictionary[try key(index)]
            }
        case .list(let items), .tuple(let items): return place(items.values.count).map { items.values[$0] }
        case .string(let text):
            return place(text.count).map { .string(Text([text.scalars[$0]]).marked(text.isMarkup)) }
        case .range(let range): return place(range.count).map { .int(range[$0]) }
        default: return nil
        }
    }

    /// An attribute of the Python object; one that the sandbox blocks is undefined and reports it when used.
    private func ownAttribute(_ name: Text, of value: Value) throws(Fault) -> Value? {
        try spend(characters: name.count)
        if name.scalars.first == "_" {
            // Python's internal attributes are blocked.
            guard name.hasPrefix("__", at: 0), Self.internals.contains(name) else { return nil }
            return .undefined(.unsafe(name.string, owner: value.typeName))
        }
        switch value {
        case .namespace(let namespace): return namespace.members[name]
        case .loop(let loop): return try loop.attribute(name, self)
        case .function(let function):
            if let found = function.attribute?(name) { return found }
            return try macroAttribute(name, function)
        case .tuple(let items):
            if let place = items.fields.firstIndex(of: name) { return items.values[place] }
        case .range(let range):
            switch name {
            case "start": return .int(range.start)
            case "stop": return .int(range.stop)
            case "step": return .int(range.step)
            default: break
            }
        default: break
        }
        return try method(name, of: value)
    }

    private static let internals: Set<Text> = [
        "__class__", "__dict__", "__doc__", "__init__", "__module__", "__subclasses__", "__mro__", "__bases__",
        "__globals__", "__getattribute__", "__getitem__", "__len__", "__iter__", "__eq__", "__hash__", "__str__",
        "__repr__", "__reduce__", "__reduce_ex__", "__new__", "__dir__", "__format__", "__sizeof__", "__call__",
        "__contains__", "__setattr__", "__delattr__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
        "__init_subclass__", "__subclasshook__", "__add__", "__mul__", "__rmul__", "__mod__", "__rmod__",
    ]

    private func macroAttribute(_ name: Text, _ function: Jinja.Function) throws(Fault) -> Value? {
        guard let body = function.macro?.body else { return nil }
        switch name {
        case "name":
            guard let name = body.name else { return Value.none }
            return try made(Text(name))
        case "catch_kwargs": return .bool(body.usesKwargs)
        case "catch_varargs": return .bool(body.usesVarargs)
        case "caller": return .bool(body.usesCaller)
        case "arguments": return try tuple(try texts(body.parameters.map { Text(names[$0.name]) }))
        default: return nil
        }
    }

    // MARK: Slices

    func slice(_ value: Value, _ start: Value, _ stop: Value, _ step: Value) throws(Fault) -> Value {
        if case .undefined(let undefined) = value { throw fail(undefined.message) }
        let count: Int
        switch value {
        case .list(let items), .tuple(let items): count = items.values.count
        case .string(let text): count = text.count
        case .range(let range): count = range.count
        case .dictionary: throw fail("unhashable type: 'slice'")
        default: throw fail("'\(value.typeName)' object is not subscriptable")
        }
        let range = try sliceRange(count, start, stop, step)
        switch value {
        case .list(let items): return try list(try picked(items.values, range))
        case .tuple(let items): return try tuple(try picked(items.values, range))
        case .string(let text):
            try reserve(range.count)
            if range.step == 1 {
                return .string(text.slice(range.start..<range.start + range.count).marked(text.isMarkup))
            }
            return .string(Text((0..<range.count).map { text.scalars[range[$0]] }).marked(text.isMarkup))
        case .range(let whole):
            return .range(try picked(whole, range))
        default: return .none
        }
    }

    private func picked(_ values: [Value], _ range: Jinja.NumberRange) throws(Fault) -> [Value] {
        try spend(cells: range.count)
        if range.step == 1 { return Array(values[range.start..<range.start + range.count]) }
        return (0..<range.count).map { values[range[$0]] }
    }

    /// As Python, whose ranges may end beyond 64 bits.
    private func picked(
        _ whole: Jinja.NumberRange, _ part: Jinja.NumberRange
    ) throws(Fault) -> Jinja.NumberRange {
        func number(_ index: Int) throws(Fault) -> Int {
            let offset = index.multipliedReportingOverflow(by: whole.step)
            let sum = whole.start.addingReportingOverflow(offset.partialValue)
            guard !offset.overflow, !sum.overflow else { throw unsupported("a range beyond 64 bits") }
            return sum.partialValue
        }
        let step = whole.step.multipliedReportingOverflow(by: part.step)
        guard !step.overflow else { throw unsupported("a range whose step has more than 64 bits") }
        return Jinja.NumberRange(
            start: try number(part.start), stop: try number(part.stop), step: step.partialValue)
    }

    /// As `slice.indices`.
    private func sliceRange(
        _ count: Int, _ start: Value, _ stop: Value, _ step: Value
    ) throws(Fault) -> Jinja.NumberRange {
        func index(_ value: Value) throws(Fault) -> Int? {
            if value.isNone { return nil }
            guard let number = value.wholeNumber else {
                throw fail("slice indices must be integers or None or have an __index__ method")
            }
            return number
        }
        let step = try index(step) ?? 1
        guard step != 0 else { throw fail("slice step cannot be zero") }
        let lowest = step < 0 ? -1 : 0
        let highest = step < 0 ? count - 1 : count
        func clamped(_ number: Int) -> Int {
            let place = number < 0 ? max(number, -count - 1) + count : number
            return max(lowest, min(highest, place))
        }
        let first = try index(start).map(clamped) ?? (step < 0 ? highest : lowest)
        let last = try index(stop).map(clamped) ?? (step < 0 ? lowest : highest)
        return Jinja.NumberRange(start: first, stop: last, step: step)
    }
}
