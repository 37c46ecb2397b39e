import HubCore

extension Jinja {
    /// One rendering of a template: what it has left to use up, its variables, its output.
    final class Run {
        typealias Fault = Jinja.Fault
        typealias Value = Jinja.Value
        typealias Text = Jinja.Text

        let names: [String]
        let limits: Limits
        let clock: TemplateClock
        /// The line that is being run.
        var line = 1
        /// What the innermost buffer holds.
        var output: [Unicode.Scalar] = []
        /// How long the outermost output is while a buffer collects; nil while none does.
        var outerCount: Int?
        /// Where generation blocks lie in the output.
        var generated: [Range<Int>] = []
        /// What is given to the template, and what it sets outermost: the variables that blocks see.
        let context: Scope
        /// The outermost variables.
        let root: Scope

        private var steps: Int
        /// How few steps are left when the clock is looked at next.
        private var nextLook: Int
        private let deadline: Double
        private var characters: Int
        private var cells: Int
        private var depth = 0
        // Namespaces and the scopes of macros can hold each other in a ring, which nothing would ever free.
        private var namespaces: [Namespace] = []
        private var scopes: [Scope] = []
        private var streams: [Stream] = []

        /// Steps between two looks at the clock.
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

        /// Frees whatever holds each other. The run is over then.
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

        /// Remembers a scope that a macro holds.
        func keep(_ scope: Scope) throws(Fault) {
            try spend(cells: 32)
            scopes.append(scope)
        }

        /// Remembers a stream that holds elements which it has taken.
        func keep(_ stream: Stream) throws(Fault) {
            try spend(cells: 32)
            streams.append(stream)
        }

        // MARK: What is used up

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

        /// Pays for looking at characters.
        func spend(characters count: Int) throws(Fault) { try spend(1 + count / 16) }

        /// What it takes C to print a float, of which the largest have 309 digits before the point.
        static let stepsOfPrinting = 40

        /// Pays for looking up what characters are, which takes longer by far than telling one from another.
        func spend(kindsOf count: Int) throws(Fault) { try spend(1 + count) }

        /// Pays for looking a text up in a table, or for putting it there.
        func spend(hashing text: Text) throws(Fault) { try spend(characters: 2 * text.count) }

        /// Pays for looking for a text in another, more of which is looked at wherever the first character stands.
        func spend(lookingFor needle: Text, in text: Text) throws(Fault) {
            try spend(characters: needle.count + (needle.count > 1 ? 4 : 1) * text.count)
        }

        /// Pays for elements that are kept.
        func spend(cells count: Int) throws(Fault) {
            try spend(1)
            // As many as the template says: one more might be more than can be counted.
            try spend(count)
            cells -= count
            if cells < 0 { throw limit("it makes more than \(limits.cells) values") }
        }

        /// Pays for a text that is to be made. Called before it is, for it may be as long as the template says.
        func reserve(_ count: Int) throws(Fault) {
            try spend(characters: count)
            guard count <= characters else {
                throw limit("it makes texts of more than \(limits.characters) characters")
            }
            characters -= count
        }

        /// Pays for a text that there is already, and adds it to another.
        func append(_ text: String, to result: inout [Unicode.Scalar]) throws(Fault) {
            try reserve(text.utf8.count)
            result += text.unicodeScalars
        }

        /// Takes in a text of the conversation: the longer it is, the more may be made of it.
        func grant(_ count: Int) throws(Fault) {
            try spend(characters: count)
            characters += 16 * count
        }

        /// Pays for pieces of a text, which are counted only as far as they can be paid for.
        var mostPieces: Int { cells + 1 }

        /// The length of so many copies.
        func product(_ count: Int, _ times: Int) throws(Fault) -> Int {
            let (product, overflow) = count.multipliedReportingOverflow(by: max(0, times))
            return overflow ? Int.max / 2 : min(product, Int.max / 2)
        }

        /// A text that has been made.
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

    /// Variables by the numbers of their names, and what lies around them.
    final class Scope {
        private var names: [Int] = []
        private var values: [Value] = []
        /// Where each name is, once there are too many to look through.
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

        /// The value of a name here or in the nearest scope around that has it, and how many were looked through.
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

    /// A macro, or the body of a call block, with the variables around it.
    final class Macro {
        let body: MacroBody
        let scope: Scope

        init(_ body: MacroBody, _ scope: Scope) {
            self.body = body
            self.scope = scope
        }
    }
}
