import HubCore
import HubGrammar
import Support

/// A vocabulary of all bytes and some words, and texts drawn or searched under a constraint.
struct Words {
    /// The first 256 ids are bytes; the last ones are special.
    static let texts: [[UInt8]] =
        (UInt8.min...UInt8.max).map { [$0] }
        + [
            "the", " the", "ab", "abc", "{\"", "\":", "\": ", ", \"", "\"}", "}}", "}\n", "true", "null", "123",
            "12",
            "00", "é", "öa", "🙂", "\\\"", "\\u00", "name", "value", "[]", "[{", "  ", "\n\n", "-1", "0.", ".5",
            "e+", "x y",
        ].map { Array($0.utf8) }
    static let end = texts.count
    static let special: [Int: [UInt8]] = [
        end: Array("<end>".utf8), end + 1: Array("<call>".utf8), end + 2: Array("</call>".utf8),
        end + 3: Array("<think>".utf8), end + 4: Array("</think>".utf8),
    ]
    static let vocabulary = TokenVocabulary(texts: texts + [nil, nil, nil, nil, nil], special: special)

    static func engine(_ constraint: OutputConstraint) throws -> MaskEngine {
        try MaskEngine(constraint, vocabulary, ends: [end])
    }

    static func allowed(_ engine: MaskEngine, _ state: MaskEngine.State) -> [Int] {
        let mask = engine.mask(state)
        return (0..<vocabulary.count).filter { mask[$0 >> 6] >> UInt64($0 & 63) & 1 == 1 }
    }

    static func text(_ id: Int) -> [UInt8] { id < texts.count ? texts[id] : special[id]! }

    /// A text drawn from what the masks allow; nil if it does not end in so many tokens.
    static func draw(
        _ engine: MaskEngine, _ random: inout SeededRandom, atMost most: Int = 300
    ) throws -> (bytes: [UInt8], isWhole: Bool) {
        var (state, bytes) = (engine.start, [UInt8]())
        for step in 0..<most {
            let ids = allowed(engine, state)
            guard !ids.isEmpty else { throw AIError(.generationFailed, "no token is allowed after \(bytes)") }
            if ids.contains(end), ids.count == 1 || random.one(in: step > 40 ? 2 : 4) { return (bytes, true) }
            // Bytes that no keyboard has would fill all strings.
            let likely = ids.filter { (32..<127).contains($0) || $0 >= 256 && $0 != end }
            let pool = likely.isEmpty || random.one(in: 8) ? ids.filter { $0 != end } : likely
            let id = pool[Int(random.next() % UInt64(pool.count))]
            guard let next = engine.next(state, id) else { throw AIError(.generationFailed, "\(id) is not taken") }
            (state, bytes) = (next, bytes + text(id))
        }
        return (bytes, false)
    }
}

extension Words {
    /// All texts that the masks lead to, for a finite language.
    static func language(_ constraint: OutputConstraint) throws -> Set<String> {
        let engine = try engine(constraint)
        var found: Set<String> = []
        var stack: [(state: MaskEngine.State, bytes: [UInt8])] = [(engine.start, [])]
        var seen: Set<[UInt8]> = []
        while let (state, bytes) = stack.popLast() {
            guard seen.insert(bytes).inserted else { continue }
            guard seen.count < 100_000 else { throw AIError(.generationFailed, "the language is not small") }
            for id in allowed(engine, state) {
                if id == end {
                    found.insert(String(decoding: bytes, as: UTF8.self))
                } else if let next = engine.next(state, id) {
                    stack.append((next, bytes + text(id)))
                }
            }
        }
        return found
    }

    /// The spellings of an object that is written as `a1,b2`.
    static func spaced(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).reduce([""]) { texts, part in
            let space = part.hasPrefix(" ") ? " " : ""
            let pair = part.drop { $0 == " " }
            let (name, value) = (pair.prefix(1), pair.dropFirst())
            return texts.flatMap { before in
                ["", " "].map { before + (before.isEmpty ? "" : "," + space) + "\"\(name)\":\($0)\(value)" }
            }
        }.map { "{\($0)}" }
    }
}

extension Words {
    /// A value with something changed, added or left out.
    static func neighbour(of value: JSON, _ random: inout SeededRandom) -> JSON {
        switch value {
        case .null: return .bool(true)
        case .bool(let bool): return random.one(in: 3) ? .null : .bool(!bool)
        case .int(let number): return .int(random.one(in: 2) ? number - 1 : number + 1)
        case .double(let number): return .double(number + 0.25)
        case .longNumber: return value
        case .string(let text):
            let isLonger = text.isEmpty || random.one(in: 2)
            return .string(isLonger ? text + "b" : String(String.UnicodeScalarView(text.unicodeScalars.dropLast())))
        case .array(var elements):
            guard let last = elements.last else { return .array([.null]) }
            let at = Int(random.next() % UInt64(elements.count))
            switch random.next() % 3 {
            case 0: elements.removeLast()
            case 1: elements.append(last)
            default: elements[at] = neighbour(of: elements[at], &random)
            }
            return .array(elements)
        case .object(let object):
            var members = object.members
            guard !members.isEmpty else { return .null }
            let at = Int(random.next() % UInt64(members.count))
            if random.one(in: 3) {
                members.remove(at: at)
            } else {
                members[at].value = neighbour(of: members[at].value, &random)
            }
            return .object(JSONObject(members))
        }
    }

    /// A value in the only spelling that grammars have for it.
    static func written(_ value: JSON) -> String {
        switch value {
        case .string(let text): return written(text)
        case .array(let elements): return "[" + elements.map { written($0) }.joined(separator: ",") + "]"
        case .object(let object):
            return "{" + object.members.map { written($0.key) + ":" + written($0.value) }.joined(separator: ",")
                + "}"
        default: return value.text()
        }
    }

    private static func written(_ text: String) -> String {
        let short: [Unicode.Scalar: String] = [
            "\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\u{8}": "\\b", "\u{C}": "\\f",
        ]
        let characters = text.unicodeScalars.map { scalar in
            if let known = short[scalar] { return known }
            guard scalar.value < 0x20 else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return "\"" + characters.joined() + "\""
    }
}
