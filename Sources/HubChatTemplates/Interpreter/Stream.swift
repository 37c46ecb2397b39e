extension Jinja {
    /// A one-pass lazy sequence, as Python's generators.
    final class Stream {
        /// Returns the next element; nil at the end.
        typealias Draw = (Run) throws(Fault) -> Value?

        private enum State {
            /// Not started.
            case waiting((Run) throws(Fault) -> Draw)
            case drawing(Draw)
            case over
        }

        private var state: State
        private var isBusy = false
        let depth: Int

        fileprivate init(depth: Int, _ begin: @escaping (Run) throws(Fault) -> Draw) {
            self.depth = depth
            state = .waiting(begin)
        }

        func next(_ run: Run) throws(Fault) -> Value? {
            try run.enter()
            defer { run.leave() }
            // Through a namespace a stream can be its own source.
            guard !isBusy else { throw run.fail("generator already executing") }
            isBusy = true
            defer { isBusy = false }
            guard let draw = try draw(run), let value = try draw(run) else {
                state = .over
                return nil
            }
            return value
        }

        private func draw(_ run: Run) throws(Fault) -> Draw? {
            switch state {
            case .waiting(let begin):
                let draw = try begin(run)
                state = .drawing(draw)
                return draw
            case .drawing(let draw): return draw
            case .over: return nil
            }
        }

        /// All remaining elements.
        func rest(_ run: Run) throws(Fault) -> [Value] {
            var values: [Value] = []
            while let value = try next(run) {
                try run.spend(cells: 1)
                values.append(value)
            }
            return values
        }

        /// Releases everything it holds.
        func end() { state = .over }
    }

    /// Iterates over a value's elements; a stream is drawn lazily.
    struct Cursor {
        private var values: ArraySlice<Value>
        private let stream: Stream?

        fileprivate init(_ values: [Value], _ stream: Stream? = nil) {
            self.values = values[...]
            self.stream = stream
        }

        /// The number of remaining elements; nil for a stream.
        var count: Int? { stream == nil ? values.count : nil }

        mutating func next(_ run: Run) throws(Fault) -> Value? {
            if let stream { return try stream.next(run) }
            try run.spend(1)
            return values.popFirst()
        }
    }
}

extension Jinja.Run {
    typealias Stream = Jinja.Stream
    typealias Cursor = Jinja.Cursor

    /// An iterator over a value that may stop early.
    func cursor(_ value: Value, orElse message: String? = nil) throws(Fault) -> Cursor {
        if case .stream(let stream) = value { return Cursor([], stream) }
        return Cursor(try elements(value, orElse: message))
    }

    /// A stream over existing values.
    func stream(_ values: [Value]) throws(Fault) -> Value {
        let items = try tuple(values)
        return try stream(of: items) { run throws(Fault) in
            var cursor = try run.cursor(items)
            return { run throws(Fault) in try cursor.next(run) }
        }
    }

    /// The lazy result of a filter. `begin` runs when the first element is requested, so errors appear only then.
    ///
    /// - Parameter keepsElements: Whether it stores elements it has taken, which may refer back to the stream.
    func stream(
        of value: Value, _ given: [Value] = [], keepsElements: Bool = false,
        _ begin: @escaping (Jinja.Run) throws(Fault) -> Stream.Draw
    ) throws(Fault) -> Value {
        let depth = given.reduce(value.depth) { max($0, $1.depth) } + 1
        try spend(cells: 8 + given.count)
        try check(depth: depth)
        let stream = Stream(depth: depth, begin)
        if keepsElements { try keep(stream) }
        return .stream(stream)
    }

    /// A stream of the elements that pass the predicate from `begin`; empty if `begin` returns nil.
    func stream(
        choosing value: Value, _ given: [Value],
        _ begin: @escaping (Jinja.Run) throws(Fault) -> ((Jinja.Run, Value) throws(Fault) -> Bool)?
    ) throws(Fault) -> Value {
        try stream(of: value, given) { run throws(Fault) in
            guard let holds = try begin(run) else { return { _ throws(Fault) in nil } }
            var cursor = try run.cursor(value)
            return { run throws(Fault) in
                while let element = try cursor.next(run) {
                    if try holds(run, element) { return element }
                }
                return nil
            }
        }
    }
}
