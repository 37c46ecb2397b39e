import HubCore

extension Jinja {
    /// One rendering of a template: its remaining budget, variables and output.
    final class Run {
        typealias Fault = Jinja.Fault
        typealias Value = Jinja.Value
        typealias Text = Jinja.Text

        let names: [String]
        let limits: Limits
        let clock: TemplateClock
        /// The current line.
        var line = 1
        /// The innermost buffer.
        var output: [Unicode.Scalar] = []
        /// The length of the main output during a capture; nil otherwise.
        var outerCount: Int?
        /// The ranges of generation blocks in the output.
        var generated: [Range<Int>] = []
        /// The given variables and the template's globals: the variables that blocks see.
        let context: Scope
        /// The global scope.
        let root: Scope

        private var steps: Int
        /// The number of remaining steps at which the clock is checked next.
        private var nextLook: Int
        private let deadline: Double
        private var characters: Int
        private var cells: Int
        private var depth = 0
        // Namespaces and macro scopes can form reference cycles, which `end()` breaks.
        private var namespaces: [Namespace] = []
        private var scopes: [Scope] = []
        private var streams: [Stream] = []

        /// Steps between two checks of the clock.
        private static let stride = 1024

        init(_ program: Program, _ limits: Limits, _ clock: TemplateClock) {
            names = program.names
            self.limits = limits
            self.clock = clock
            steps = limits.steps
            nextLook = max(0, limits.steps - Self.stride)
            deadline = limits.now() + Double(limits.seconds)
            characters = limits.characters
            cells = limits.cells
            context = Scope(nil)
            root = Scope(context)
        }

        /// Breaks reference cycles. The run is over.
        func end() {
            for namespace in namespaces { namespace.members = Dict() }
            for scope in scopes { scope.clear() }
            for stream in streams { stream.end() }
            root.clear()
            context.clear()
            namespaces = []
            scopes = []
            streams = []
        }

        func newNamespace() throws(Fault) -> Namespace {
            try spend(cells: 32)
            let namespace = Namespace()
            namespaces.append(namespace)
            return namespace
        }

        /// Records a scope that a macro holds.
        func keep(_ scope: Scope) throws(Fault) {
            try spend(cells: 32)
            scopes.append(scope)
        }

        /// Records a stream that holds elements it has taken.
        func keep(_ stream: Stream) throws(Fault) {
            try spend(cells: 32)
            streams.append(stream)
        }

        // MARK: Budget

        func spend(_ count: Int) throws(Fault) {
            steps -= count
            if steps < nextLook { try look() }
        }

        private func look() throws(Fault) {
            if steps < 0 { throw limit("it takes more than \(limits.steps) steps") }
            nextLook = max(0, steps - Self.stride)
            if limits.isCancelled() { throw Fault(kind: .cancelled, message: "interrupted", line: line) }
            guard limits.now() <= deadline else {
                throw limit("it takes longer than \(limits.seconds) second\(limits.seconds == 1 ? "" : "s")")
            }
        }

        /// Charges for scanning characters.
        func spend(characters count: Int) throws(Fault) { try spend(1 + count / 16) }

        /// The cost of printing a float with C; the largest have 309 digits before the point.
        static let stepsOfPrinting = 40

        /// Charges for looking up Unicode properties, which costs far more than comparing characters.
        func spend(kindsOf count: Int) throws(Fault) { try spend(1 + count) }

        /// Charges for looking up or inserting a string in a table.
        func spend(hashing text: Text) throws(Fault) { try spend(characters: 2 * text.count) }

        /// Charges for searching a string, with extra for each occurrence of the first character.
        func spend(lookingFor needle: Text, in text: Text) throws(Fault) {
            try spend(characters: needle.count + (needle.count > 1 ? 4 : 1) * text.count)
        }

        /// Charges for stored elements.
        func spend(cells count: Int) throws(Fault) {
            try spend(1)
            // The template chooses the count: adding one could overflow.
            try spend(count)
            cells -= count
            if cells < 0 { throw limit("it makes more than \(limits.cells) values") }
        }

        /// Charges for a new string. Call it before creating the string, whose length the template chooses.
        func reserve(_ count: Int) throws(Fault) {
            try spend(characters: count)
            guard count <= characters else {
                throw limit("it makes texts of more than \(limits.characters) characters")
            }
            characters -= count
        }

        /// Charges for an existing string and appends it.
        func append(_ text: String, to result: inout [Unicode.Scalar]) throws(Fault) {
            try reserve(text.utf8.count)
            result += text.unicodeScalars
        }

        /// Raises the character limit for a string of the conversation.
        func grant(_ count: Int) throws(Fault) {
            try spend(characters: count)
            characters += 16 * count
        }

        /// The number of pieces worth counting when splitting a string: one more than the budget allows.
        var mostPieces: Int { cells + 1 }

        /// The length of `times` copies.
        func product(_ count: Int, _ times: Int) throws(Fault) -> Int {
            let (product, overflow) = count.multipliedReportingOverflow(by: max(0, times))
            return overflow ? Int.max / 2 : min(product, Int.max / 2)
        }

        /// A new string as a value.
        func made(_ text: Text) throws(Fault) -> Value {
            try reserve(text.count)
            return .string(text)
        }

        func enter() throws(Fault) {
            try spend(1)
            depth += 1
            if depth > limits.depth { throw limit("it goes more than \(limits.depth) levels deep") }
        }

        func leave() { depth -= 1 }

        // MARK: Faults

        func fail(_ message: String) -> Fault { Fault(kind: .runtime, message: message, line: line) }
        func limit(_ message: String) -> Fault { Fault(kind: .limit, message: message, line: line) }
        func unsupported(_ message: String) -> Fault { Fault(kind: .unsupported, message: message, line: line) }
    }

    /// Variables by name number, with the enclosing scope.
    final class Scope {
        private var names: [Int] = []
        private var values: [Value] = []
        /// An index by name, once there are too many for a linear search.
        private var places: [Int: Int] = [:]
        let parent: Scope?

        private static let few = 16

        init(_ parent: Scope?) { self.parent = parent }

        func set(_ name: Int, _ value: Value) {
            if let place = place(of: name) {
                values[place] = value
                return
            }
            names.append(name)
            values.append(value)
            if names.count == Self.few + 1 {
                for (place, name) in names.enumerated() { places[name] = place }
            } else if names.count > Self.few {
                places[name] = names.count - 1
            }
        }

        var count: Int { names.count }

        func holds(_ name: Int) -> Bool { place(of: name) != nil }

        func forEach(_ body: (Int, Value) -> Void) {
            for (name, value) in zip(names, values) { body(name, value) }
        }

        private func place(of name: Int) -> Int? {
            names.count > Self.few ? places[name] : names.firstIndex(of: name)
        }

        /// The value of a name in the nearest scope that has it, and the number of scopes searched.
        func find(_ name: Int) -> (value: Value?, scopes: Int) {
            var scope: Scope? = self
            var count = 0
            while let here = scope {
                count += 1
                if let place = here.place(of: name) { return (here.values[place], count) }
                scope = here.parent
            }
            return (nil, count)
        }

        func clear() {
            names = []
            values = []
            places = [:]
        }
    }

    /// A macro, or the body of a call block, with its enclosing scope.
    final class Macro {
        let body: MacroBody
        let scope: Scope

        init(_ body: MacroBody, _ scope: Scope) {
            self.body = body
            self.scope = scope
        }
    }
}
