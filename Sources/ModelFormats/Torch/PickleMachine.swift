import HubCore

/// Interprets a pickle as data, without importing or calling anything.
/// https://docs.python.org/3/library/pickletools.html
///
/// Every object is a numbered node that refers to others by number, so that deep or cyclic references are cheap.
struct PickleMachine {
    enum Node {
        case none
        case bool(Bool)
        case int(Int64)
        /// The range of the text; ``PickleMachine/text(_:)-(Int)``
        case text(Range<Int>)
        case bytes(Range<Int>)
        case tuple([Int])
        /// ``lists``
        case list(Int)
        /// ``dictionaries``
        case dictionary(Int)
        /// ``imports``
        case imported(Int)
        case call(function: Int, arguments: Int)
        case persistent(Int)
        case other
    }

    /// Begins with shared constants.
    private(set) var nodes: [Node] = [.none, .bool(true), .bool(false), .tuple([]), .other]
    private(set) var lists: [[Int]] = []
    private(set) var dictionaries: [[(key: Int, value: Int)]] = []
    /// The state set on an object by BUILD.
    private(set) var states: [Int: Int] = [:]
    private(set) var imports: [PickleImport] = []
    /// Names of opcodes that call something: `REDUCE`, `INST`, …
    private(set) var calls: Set<String> = []

    private var reader: ByteReader
    private var stack: [Int] = []
    private var marks: [Int] = []
    private var memo: [Int: Int] = [:]
    private var importNumbers: [PickleImport: Int] = [:]

    /// The number of opcodes that may still be read.
    private(set) var budget: Int

    /// A checkpoint imports a dozen.
    private static let importLimit = 10_000
    /// Maximum length of a name in bytes; real ones have a few dozen.
    private static let nameLimit = 512
    /// A node can take dozens of bytes of memory for one byte of the file.
    private static let nodeLimit = 4_000_000
    /// The numbers of the shared constants.
    private enum Shared { static let (none, yes, no, empty, other) = (0, 1, 2, 3, 4) }

    /// Why a pickle was not read to its end.
    struct Fault: Error {
        let what: String
        /// Whether only a limit was reached; otherwise the pickle is invalid.
        var isLimit = false
    }

    init(_ bytes: UnsafeRawBufferPointer, at start: Int, budget: Int) {
        reader = ByteReader(bytes, at: start)
        self.budget = budget
    }

    /// Where the pickle ended.
    var end: Int { reader.at }

    /// Reads one pickle to its end.
    ///
    /// - Returns: the node of the result.
    /// - Throws: ``Fault``; the results so far remain, because unpickling would have got as far.
    mutating func run() throws(Fault) -> Int {
        do {
            while true {
                let opcode: UInt8 = try reader.number()
                budget -= 1
                guard budget >= 0, nodes.count < Self.nodeLimit else {
                    throw Fault(what: "is longer than hub reads", isLimit: true)
                }
                if opcode == UInt8(ascii: ".") { return try pop() }
                try step(opcode)
            }
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(what: "ends in the middle")
        }
    }

    // MARK: Stack

    private mutating func push(_ node: Node) {
        stack.append(nodes.count)
        nodes.append(node)
    }

    private mutating func pop() throws -> Int {
        guard let top = stack.last, stack.count > (marks.last ?? 0) else {
            throw Fault(what: "pops from an empty stack")
        }
        stack.removeLast()
        return top
    }

    private func top() throws -> Int {
        guard let top = stack.last else { throw Fault(what: "pops from an empty stack") }
        return top
    }

    private mutating func popMark() throws -> [Int] {
        guard let mark = marks.popLast(), mark <= stack.count else {
            throw Fault(what: "pops to a mark that was not set")
        }
        defer { stack.removeLast(stack.count - mark) }
        return Array(stack[mark...])
    }

    private mutating func line() throws -> String { reader.bytes.repairedText(try reader.until(0x0A)) }

    private mutating func text(_ count: some BinaryInteger) throws -> Node {
        .text(try reader.skip(Int(clamping: count)))
    }

    /// The text of a node; nil if it is not text.
    func text(_ node: Int) -> String? {
        guard case .text(let range) = nodes[node] else { return nil }
        return reader.bytes.repairedText(range)
    }

    // MARK: Opcodes

    private mutating func step(_ opcode: UInt8) throws {
        switch UnicodeScalar(opcode) {
        case "\u{80}": try reader.skip(1)
        case "\u{95}": try reader.skip(8)
        case "(": marks.append(stack.count)
        case "0": if stack.count == marks.last { marks.removeLast() } else { _ = try pop() }
        case "1": _ = try popMark()
        case "2": stack.append(try top())
        case "N": stack.append(Shared.none)
        case "\u{88}": stack.append(Shared.yes)
        case "\u{89}": stack.append(Shared.no)
        case "c", "\u{93}", "i", "\u{82}", "\u{83}", "\u{84}": try importing(opcode)
        case "R", "\u{81}", "\u{92}", "o", "b": try calling(opcode)
        case "p", "q", "r", "\u{94}", "g", "h", "j": try memory(opcode)
        case "t", "\u{85}", "\u{86}", "\u{87}", ")": try tuple(opcode)
        case "]", "l", "a", "e", "}", "d", "s", "u", "\u{8F}", "\u{90}", "\u{91}": try collection(opcode)
        case "P", "Q":
            push(.persistent(opcode == UInt8(ascii: "Q") ? try pop() : try textNode(try reader.until(0x0A))))
        default: try value(opcode)
        }
    }

    private mutating func textNode(_ text: Range<Int>) throws -> Int {
        nodes.append(.text(text))
        return nodes.count - 1
    }

    /// Number, text and byte opcodes.
    private mutating func value(_ opcode: UInt8) throws {
        switch UnicodeScalar(opcode) {
        case "K": push(.int(Int64(try reader.number(UInt8.self))))
        case "M": push(.int(Int64(try reader.number(UInt16.self))))
        case "J": push(.int(Int64(try reader.number(Int32.self))))
        case "I", "L":
            let line = try line()
            if line == "00" || line == "01" { return stack.append(line == "01" ? Shared.yes : Shared.no) }
            push(Int64(line.last == "L" ? line.dropLast() : line[...]).map(Node.int) ?? .other)
        case "\u{8A}": push(long(try reader.skip(Int(try reader.number(UInt8.self)))))
        case "\u{8B}": push(long(try reader.skip(Int(try reader.number(Int32.self)))))
        case "F":
            try reader.until(0x0A)
            stack.append(Shared.other)
        case "G":
            try reader.skip(8)
            stack.append(Shared.other)
        case "S":
            let line = try reader.until(0x0A)
            push(.text(line.count >= 2 ? line.dropFirst().dropLast() : line))
        case "V": push(.text(try reader.until(0x0A)))
        case "X": push(try text(try reader.number(UInt32.self)))
        case "\u{8C}": push(try text(try reader.number(UInt8.self)))
        case "\u{8D}": push(try text(try reader.number(UInt64.self)))
        case "U": push(try text(try reader.number(UInt8.self)))
        case "T": push(try text(try reader.number(Int32.self)))
        case "C": push(.bytes(try reader.skip(Int(try reader.number(UInt8.self)))))
        case "B": push(.bytes(try reader.skip(Int(clamping: try reader.number(UInt32.self)))))
        case "\u{8E}", "\u{96}": push(.bytes(try reader.skip(Int(clamping: try reader.number(UInt64.self)))))
        case "\u{97}": stack.append(Shared.other)
        case "\u{98}": break
        default: throw Fault(what: "has the unknown opcode \(opcode) at byte \(reader.at - 1)")
        }
    }

    /// An integer in two's complement; as bytes if it exceeds 64 bits.
    private func long(_ range: Range<Int>) -> Node {
        guard range.count <= 8 else { return .bytes(range) }
        var value: UInt64 = 0
        for (shift, byte) in reader.bytes[range].enumerated() { value |= UInt64(byte) << UInt64(8 * shift) }
        guard let last = reader.bytes[range].last else { return .int(0) }
        if last & 0x80 != 0, range.count < 8 { value |= UInt64.max << UInt64(8 * range.count) }
        return .int(Int64(bitPattern: value))
    }

    private mutating func importing(_ opcode: UInt8) throws {
        let found: PickleImport
        switch UnicodeScalar(opcode) {
        case "c", "i": found = named(try reader.until(0x0A), try reader.until(0x0A))
        case "\u{93}":
            let (second, first) = (try pop(), try pop())
            if case .text(let module) = nodes[first], case .text(let name) = nodes[second] {
                found = named(module, name)
            } else {
                found = .computed
            }
        default:
            let width = opcode == 0x82 ? 1 : opcode == 0x83 ? 2 : 4
            try reader.skip(width)
            found = PickleImport(module: "copyreg", name: "(an extension)")
        }
        let number = importNumbers[found] ?? imports.count
        if number == imports.count {
            guard number < Self.importLimit else {
                throw Fault(what: "imports more than \(Self.importLimit) things", isLimit: true)
            }
            imports.append(found)
            importNumbers[found] = number
        }
        guard opcode == UInt8(ascii: "i") else { return push(.imported(number)) }
        calls.insert("INST")
        let arguments = try popMark()
        nodes.append(.imported(number))
        nodes.append(.tuple(arguments))
        push(.call(function: nodes.count - 2, arguments: nodes.count - 1))
    }

    /// A name that is too long or has escapes counts as computed.
    private func named(_ module: Range<Int>, _ name: Range<Int>) -> PickleImport {
        let bytes = reader.bytes
        guard module.count <= Self.nameLimit, name.count <= Self.nameLimit,
            !bytes[module].contains(0x5C), !bytes[name].contains(0x5C)
        else { return .computed }
        return PickleImport(
            module: bytes.repairedText(module), name: name.isEmpty ? "?" : bytes.repairedText(name))
    }

    private mutating func calling(_ opcode: UInt8) throws {
        switch UnicodeScalar(opcode) {
        case "b":
            calls.insert("BUILD")
            let state = try pop()
            states[try top()] = state
        case "o":
            calls.insert("OBJ")
            let parts = try popMark()
            guard let function = parts.first else { throw Fault(what: "builds an object of nothing") }
            nodes.append(.tuple(Array(parts.dropFirst())))
            push(.call(function: function, arguments: nodes.count - 1))
        default:
            calls.insert(opcode == UInt8(ascii: "R") ? "REDUCE" : "NEWOBJ")
            if opcode == 0x92 { _ = try pop() }
            let arguments = try pop()
            let function = try pop()
            if case .imported(let number) = nodes[function],
                PickleImport.harmless[imports[number].description] == .dictionary
            {
                return pushDictionary(try items(of: arguments))
            }
            push(.call(function: function, arguments: arguments))
        }
    }

    /// The items that Python 2 gives an `OrderedDict` when it is made: `([[key, value], ...],)`.
    private mutating func items(of arguments: Int) throws -> [(key: Int, value: Int)] {
        guard case .tuple(let parts) = nodes[arguments], let first = parts.first,
            case .list(let list) = nodes[first]
        else { return [] }
        // Every call copies the list.
        budget -= lists[list].count
        guard budget >= 0 else { throw Fault(what: "is longer than hub reads", isLimit: true) }
        return lists[list].compactMap { item in
            let pair: [Int]
            switch nodes[item] {
            case .list(let number): pair = lists[number]
            case .tuple(let parts): pair = parts
            default: pair = []
            }
            return pair.count == 2 ? (pair[0], pair[1]) : nil
        }
    }

    private mutating func memory(_ opcode: UInt8) throws {
        switch UnicodeScalar(opcode) {
        case "p": memo[try index(try line())] = try top()
        case "q": memo[Int(try reader.number(UInt8.self))] = try top()
        case "r": memo[Int(try reader.number(UInt32.self))] = try top()
        case "\u{94}": memo[memo.count] = try top()
        case "g": try recall(try index(try line()))
        case "h": try recall(Int(try reader.number(UInt8.self)))
        default: try recall(Int(try reader.number(UInt32.self)))
        }
    }

    /// As Python's `int` parses it, with blanks and underscores.
    private func index(_ line: String) throws -> Int {
        guard let index = Int(line.filter { !$0.isWhitespace && $0 != "_" }), index >= 0 else {
            throw Fault(what: "has an invalid memo index")
        }
        return index
    }

    private mutating func recall(_ index: Int) throws {
        guard let node = memo[index] else { throw Fault(what: "reads a memo entry that was not written") }
        stack.append(node)
    }

    private mutating func tuple(_ opcode: UInt8) throws {
        switch UnicodeScalar(opcode) {
        case ")": stack.append(Shared.empty)
        case "t": push(.tuple(try popMark()))
        default:
            var parts: [Int] = []
            for _ in 0..<(Int(opcode) - 0x84) { parts.append(try pop()) }
            push(.tuple(parts.reversed()))
        }
    }

    private mutating func pushDictionary(_ pairs: [(key: Int, value: Int)] = []) {
        push(.dictionary(dictionaries.count))
        dictionaries.append(pairs)
    }

    private mutating func pushList(_ elements: [Int] = []) {
        push(.list(lists.count))
        lists.append(elements)
    }

    private mutating func collection(_ opcode: UInt8) throws {
        switch UnicodeScalar(opcode) {
        case "]", "\u{8F}": pushList()
        case "l", "\u{91}": pushList(try popMark())
        case "}": pushDictionary()
        case "d": pushDictionary(pairs(try popMark()))
        case "a": try append([try pop()])
        case "e", "\u{90}": try append(try popMark())
        case "s":
            let value = try pop()
            try set([(key: try pop(), value: value)])
        default: try set(pairs(try popMark()))
        }
    }

    private func pairs(_ elements: [Int]) -> [(key: Int, value: Int)] {
        stride(from: 0, to: elements.count - 1, by: 2).map { (elements[$0], elements[$0 + 1]) }
    }

    /// Another object may define `append`; its elements are ignored.
    private mutating func append(_ elements: [Int]) throws {
        if case .list(let list) = nodes[try top()] { lists[list] += elements }
    }

    private mutating func set(_ pairs: [(key: Int, value: Int)]) throws {
        if case .dictionary(let dictionary) = nodes[try top()] { dictionaries[dictionary] += pairs }
    }
}
