extension Jinja {
    static let sequenceFilters: [String: Filter] = [
        "length": .fixed([]) { run, value, _ throws(Fault) in
            guard let length = try run.length(value) else {
                throw run.fail("object of type '\(value.typeName)' has no len()")
            }
            return .int(length)
        },
        "list": .fixed([]) { run, value, _ throws(Fault) in try run.list(try run.elements(value)) },
        "first": .fixed([]) { run, value, _ throws(Fault) in
            if case .string(let text) = value, let first = text.scalars.first { return .string(Text([first])) }
            var cursor = try run.cursor(value)
            return try cursor.next(run) ?? .undefined(.reason("No first item, sequence was empty."))
        },
        "last": .fixed([]) { run, value, _ throws(Fault) in
            if case .stream = value { throw run.fail("'generator' object is not reversible") }
            if case .string(let text) = value, let last = text.scalars.last {
                return .string(Text([last]).marked(text.isMarkup))
            }
            return try run.elements(value).last ?? .undefined(.reason("No last item, sequence was empty."))
        },
        "random": .fixed([]) { run, value, _ throws(Fault) in
            if try run.length(value) == nil { throw run.fail("object of type '\(value.typeName)' has no len()") }
            return try run.elements(value).randomElement()
                ?? .undefined(.reason("No random item, sequence was empty."))
        },
        "reverse": .fixed([]) { run, value, _ throws(Fault) in
            if case .string(let text) = value {
                try run.reserve(text.count)
                return .string(Text(text.scalars.reversed()).marked(text.isMarkup))
            }
            let values = try run.elements(value, orElse: "argument must be iterable")
            if case .stream = value { return try run.list(values.reversed()) }
            return try run.stream(values.reversed())
        },
        "join": .fixed(["d", "attribute"]) { run, value, given throws(Fault) in
            var parts: [Text] = []
            let path = try run.path(given[1])
            for element in try run.elements(value) {
                parts.append(try run.text(of: try run.follow(path, element)))
            }
            return try run.joined(parts, try given[0].map { value throws(Fault) in try run.text(of: value) } ?? "")
        },
        "items": .fixed([]) { run, value, _ throws(Fault) in
            try run.stream(of: value) { run throws(Fault) in
                var cursor =
                    switch value {
                    case .undefined: try run.cursor(value)
                    case .dictionary(let dictionary): try run.cursor(.view(.items, dictionary))
                    default: throw run.fail("Can only get item pairs from a mapping.")
                    }
                return { run throws(Fault) in try cursor.next(run) }
            }
        },
        "sum": .fixed(["attribute", "start"]) { run, value, given throws(Fault) in
            var sum = given[1] ?? .int(0)
            if sum.text != nil { throw run.fail("sum() can't sum strings [use ''.join(seq) instead]") }
            let path = try run.path(given[0])
            for element in try run.elements(value) {
                sum = try run.calculate(sum, .add, try run.follow(path, element))
            }
            return sum
        },
        "batch": .fixed(["linecount", "fill_with"]) { run, value, given throws(Fault) in
            try run.batch(value, given[0], given[1])
        },
        "slice": .fixed(["slices", "fill_with"]) { run, value, given throws(Fault) in
            try run.cut(value, given[0], given[1])
        },
        "attr": .fixed(["name"]) { run, value, given throws(Fault) in
            guard let name = try run.text(given[0], "the name of an attribute") else {
                throw run.fail("the filter 'attr' needs a name")
            }
            // Unlike `value.name` it never returns an element.
            if case .dictionary = value, try run.method(name, of: value) == nil {
                return try run.missing(name, of: value)
            }
            return try run.attribute(name, of: value)
        },
        "default": .fixed(["default_value", "boolean"]) { _, value, given throws(Fault) in
            let isMissing = value.isUndefined || ((given[1]?.isTrue ?? false) && !value.isTrue)
            return isMissing ? given[0] ?? .string("") : value
        },
    ]
}

extension Jinja.Run {
    /// The parts of an attribute's dotted name; none for the value itself.
    func path(_ attribute: Value?) throws(Fault) -> [Value] {
        guard let attribute, !attribute.isNone else { return [] }
        guard let name = attribute.text else { return [attribute] }
        try spend(kindsOf: name.count)
        try spend(cells: 4 * name.scalars.reduce(1) { $0 + ($1 == "." ? 1 : 0) })
        return name.scalars.split(separator: ".", omittingEmptySubsequences: false).map { part in
            let isNumber = !part.isEmpty && part.allSatisfy { (0x30...0x39).contains($0.value) }
            if isNumber, let index = Int(Text(part).string) { return .int(index) }
            return .string(Text(part))
        }
    }

    func follow(_ path: [Value], _ value: Value, fallback: Value? = nil) throws(Fault) -> Value {
        var value = value
        for part in path {
            value = try item(part, of: value)
            if let fallback, value.isUndefined { value = fallback }
        }
        return value
    }

    fileprivate func batch(_ value: Value, _ size: Value?, _ fill: Value?) throws(Fault) -> Value {
        guard let size else { throw fail("the filter 'batch' needs a number") }
        return try stream(of: value, fill.map { [$0] } ?? [], keepsElements: true) { run throws(Fault) in
            var cursor = try run.cursor(value)
            // A size of another type is never reached.
            let most = size.number.flatMap { Int(exactly: $0) }
            // As in Jinja, which yields a batch when it reads the next element.
            var upcoming: Value?
            return { run throws(Fault) in
                var batch = upcoming.map { [$0] } ?? []
                upcoming = nil
                while let element = try cursor.next(run) {
                    if batch.count == most {
                        upcoming = element
                        return try run.list(batch)
                    }
                    batch.append(element)
                }
                if batch.isEmpty { return nil }
                if let fill, !fill.isNone, let size = try run.whole(size, "linecount"), batch.count < size {
                    try run.spend(cells: size - batch.count)
                    batch += [Value](repeating: fill, count: size - batch.count)
                }
                return try run.list(batch)
            }
        }
    }

    fileprivate func cut(_ value: Value, _ count: Value?, _ fill: Value?) throws(Fault) -> Value {
        guard let count else { throw fail("the filter 'slice' needs a number") }
        return try stream(of: value, fill.map { [$0] } ?? [], keepsElements: true) { run throws(Fault) in
            let values = try run.elements(value)
            guard let count = try run.whole(count, "slices"), count != 0 else {
                throw run.fail("integer division or modulo by zero")
            }
            var places = 0..<max(0, count)
            let (size, surplus) = values.count.quotientAndRemainder(dividingBy: count)
            var start = 0
            return { run throws(Fault) in
                guard let place = places.popFirst() else { return nil }
                let end = start + size + (place < surplus ? 1 : 0)
                var slice = Array(values[start..<end])
                if let fill, !fill.isNone, place >= surplus { slice.append(fill) }
                start = end
                return try run.list(slice)
            }
        }
    }
}
