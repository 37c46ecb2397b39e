extension Jinja {
    /// The state of a `for`: the variable `loop`.
    final class Loop {
        let level: Int
        private let loop: ForLoop
        // Nil after the loop, so that a stored loop keeps nothing alive.
        private var scope: Scope?
        /// Values not yet tested by the condition.
        private var values: Cursor?
        /// Values that have passed it.
        private var passed: ArraySlice<Value> = []
        /// The value read ahead.
        private var upcoming: Value?
        private var current: Value?
        private var previous: Value?
        private var lastChanged: [Value]?
        private(set) var index = -1
        private var count: Int?

        init(_ values: Cursor, _ loop: ForLoop, _ scope: Scope, level: Int) {
            self.values = values
            self.loop = loop
            self.scope = scope
            self.level = level
            count = loop.condition == nil ? values.count : nil
        }

        /// The value of the next iteration; nil at the end.
        func advance(_ run: Run) throws(Fault) -> Value? {
            try run.spend(1)
            guard let value = try peek(run) else { return nil }
            upcoming = nil
            index += 1
            previous = current
            current = value
            return value
        }

        /// Call after the loop.
        func end() {
            scope = nil
            values = nil
            passed = []
            upcoming = nil
            current = nil
            previous = nil
            lastChanged = nil
        }

        private func peek(_ run: Run) throws(Fault) -> Value? {
            if upcoming == nil { upcoming = try pull(run) }
            return upcoming
        }

        private func pull(_ run: Run) throws(Fault) -> Value? {
            if let value = passed.popFirst() { return value }
            // A copy, because evaluating an element may access this loop.
            while var rest = values, let value = try rest.next(run) {
                values = rest
                guard let condition = loop.condition, let scope else { return value }
                let inner = Scope(scope)
                try run.assign(loop.target, value, inner)
                if try run.evaluate(condition, inner).isTrue { return value }
            }
            return nil
        }

        /// The number of iterations; draws the remaining elements if it is unknown.
        func length(_ run: Run) throws(Fault) -> Int {
            if let count { return count }
            var rest: [Value] = []
            if let upcoming { rest.append(upcoming) }
            while let value = try pull(run) { rest.append(value) }
            try run.spend(cells: rest.count)
            upcoming = nil
            passed = rest[...]
            count = index + 1 + rest.count
            return index + 1 + rest.count
        }

        // MARK: Attributes

        func attribute(_ name: Text, _ run: Run) throws(Fault) -> Value? {
            switch name {
            case "index0": return .int(index)
            case "index": return .int(index + 1)
            case "first": return .bool(index == 0)
            case "last": return .bool(try peek(run) == nil)
            case "length": return .int(try length(run))
            case "revindex": return .int(try length(run) - index)
            case "revindex0": return .int(try length(run) - index - 1)
            case "depth": return .int(level + 1)
            case "depth0": return .int(level)
            case "previtem": return previous ?? .undefined(.reason("there is no previous item"))
            case "nextitem": return try peek(run) ?? .undefined(.reason("there is no next item"))
            case "cycle": return .function(cycle)
            case "changed": return .function(changed)
            default: return nil
            }
        }

        private var cycle: Function {
            Function("cycle") { [self] run, arguments throws(Fault) in
                try arguments.refuseKeywords("cycle", run)
                guard !arguments.positional.isEmpty else { throw run.fail("no items for cycling given") }
                return arguments.positional[max(index, 0) % arguments.positional.count]
            }
        }

        private var changed: Function {
            Function("changed") { [self] run, arguments throws(Fault) in
                try arguments.refuseKeywords("changed", run)
                if let lastChanged, try run.areEqual(lastChanged, arguments.positional) { return .bool(false) }
                lastChanged = arguments.positional
                return .bool(true)
            }
        }

        /// `loop(values)` within a recursive loop.
        func call(_ arguments: Arguments, _ run: Run) throws(Fault) -> Value {
            let value = try arguments.bound("loop", ["iterable"], run)[0]
            guard loop.isRecursive, let scope else {
                throw run.fail("The loop must have the 'recursive' marker to be called recursively.")
            }
            guard let value else { throw run.fail("loop() needs something to go through") }
            return .string(try run.recurse(loop, value, scope, level: level + 1))
        }
    }
}
