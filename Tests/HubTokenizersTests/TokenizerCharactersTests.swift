import HubCore
import Support
import Testing

@testable import HubTokenizers

/// Of which characters the reference says what, and where we differ: the tables of the reference, of utf8proc, of PCRE2
/// and of the standard library are of different versions of Unicode. docs/design/tokenizers.md names the differences.
@Suite struct TokenizerCharactersTests {
    /// All planes that have characters; the others are alike throughout.
    private static let scalars = Array(0...0xD7FF) + Array(0xE000...0x3FFFF) + Array(0xE0000...0xE0FFF)

    private func goldens() throws -> JSON { try Fixtures.json("goldens/tokenizer-characters.json") }

    @Test(arguments: ["white_space", "word", "numeric", "punctuation", "other", "mark", "nonspacing"])
    func classesDifferOnlyWhereItIsKnown(name: String) throws {
        var differences: [ClosedRange<Int>] = []
        let ranges = try #require(try goldens()[name]?.array).map { $0.ids[0]...$0.ids[1] }
        var next = 0
        for value in Self.scalars {
            while next < ranges.count, ranges[next].upperBound < value { next += 1 }
            let theirs = next < ranges.count && ranges[next].contains(value)
            guard theirs != Self.contains(name, UInt32(value)) else { continue }
            if let last = differences.last, last.upperBound == value - 1 {
                differences[differences.count - 1] = last.lowerBound...value
            } else {
                differences.append(value...value)
            }
        }
        let known = try #require(try Fixtures.json("tokenizer-differences.json")[name]?.array)
        let found = differences.map { [$0.lowerBound, $0.upperBound] }
        #expect(found == known.map(\.ids), "\(name): \(found)")
    }

    /// `\w` by itself and in a set, which are not quite the same.
    @Test(arguments: [("pattern_word", #"\w"#), ("pattern_word_set", #"[\w]"#)])
    func wordsOfPatternsDifferOnlyWhereItIsKnown(name: String, pattern: String) throws {
        let pattern = try Pattern(pattern, path: "t")
        let known = try #require(try Fixtures.json("tokenizer-differences.json")[name]?.array).map(\.ids)
        let theirs = try #require(try goldens()[name]?.array).map { $0.ids[0]...$0.ids[1] }
        var isWord = Set(theirs.joined())
        for range in known {
            for value in range[0]...range[1] where isWord.remove(value) == nil { isWord.insert(value) }
        }
        for part in stride(from: 0, to: Self.scalars.count, by: 1 << 14) {
            let values = Self.scalars[part..<min(part + 1 << 14, Self.scalars.count)]
            let text = bytes(Array(values))
            let matches = try text.withUnsafeBufferPointer { try pattern.matches(in: $0) }
            let found = Set(
                matches.map { match in text.withUnsafeBufferPointer { Int($0.scalar(at: match.lowerBound).value) } }
            )
            let differences = found.symmetricDifference(values.filter(isWord.contains))
            #expect(differences.isEmpty, "\(name): \(differences.sorted())")
        }
    }

    private static func contains(_ name: String, _ value: UInt32) -> Bool {
        switch name {
        case "white_space": CharacterClass.isWhiteSpace(value)
        case "word": CharacterClass.isWord(value)
        case "numeric": CharacterClass.numeric.contains(value)
        case "punctuation": CharacterClass.isPunctuation(value)
        case "other": CharacterClass.isOther(value) && ![0, 0x9, 0xA, 0xD].contains(value)
        case "mark": CharacterClass.isMark(value)
        default: CharacterClass.isNonspacingMark(value)
        }
    }

    @Test(arguments: ["NFC", "NFD", "NFKC", "NFKD"]) func formsDifferOnlyWhereItIsKnown(name: String) throws {
        let form = try #require(UnicodeForm(rawValue: name))
        let changed = try #require(try goldens()["forms"]?[name]?.array)
        let known = Set(try #require(try Fixtures.json("tokenizer-differences.json")[name]).ids)
        var listed: Set<Int> = []
        var differences: [Int] = []
        for change in changed {
            guard let value = change.array?[0].int.map(Int.init), let golden = change.array?[1].ids else {
                continue
            }
            listed.insert(value)
            let text = try normalized([value], form)
            if text != bytes(golden) { differences.append(value) }
        }
        #expect(Set(differences).isSubset(of: known), "\(name): \(differences.filter { !known.contains($0) })")
        // All others are unchanged; one long text, because a call for each would be slow.
        let others = Self.scalars.filter {
            !listed.contains($0) && !known.contains($0) && !(0xAC00...0xD7A3).contains($0)
        }
        for part in stride(from: 0, to: others.count, by: 1 << 14) {
            let text = others[part..<min(part + 1 << 14, others.count)].flatMap { [0x0A, $0] }
            guard try normalized(text, form) != bytes(text) else { continue }
            let moved = try text.filter { try normalized([$0], form) != bytes([$0]) }
            Issue.record("\(name) changes \(moved)")
        }
    }

    @Test func lowercaseDiffersOnlyWhereItIsKnown() throws {
        let known = Set(try #require(try Fixtures.json("tokenizer-differences.json")["lowered"]).ids)
        var differences: [Int] = []
        for change in try #require(try goldens()["lowered"]?.array) {
            guard let value = change.array?[0].int.map(Int.init), let golden = change.array?[1].ids else {
                continue
            }
            var text = TrackedText(untracked: bytes([value]))
            try Normalizer([.lowercase]).normalize(&text)
            if text.bytes != bytes(golden) { differences.append(value) }
        }
        #expect(Set(differences).isSubset(of: known), "\(differences)")
    }

    /// With origins another code path produces the same text.
    @Test(arguments: ["NFC", "NFD", "NFKC", "NFKD"]) func bothWaysToAFormAgree(name: String) throws {
        let form = try #require(UnicodeForm(rawValue: name))
        let marks = [
            0x300, 0x301, 0x323, 0x327, 0x345, 0x5B0, 0x93C, 0x3099, 0x1100, 0x1161, 0x11A8, 0xAC00, 0x41, 0x915,
            0x1E9B,
        ]
        var random = SeededRandom(number: 7)
        for _ in 0..<200 {
            let scalars = (0..<8).map { _ in marks[Int(random.next() % UInt64(marks.count))] }
            var tracked = bytes(scalars).withUnsafeBufferPointer { TrackedText($0, base: 0, isTracked: true) }
            try form.normalize(&tracked)
            #expect(try tracked.bytes == normalized(scalars, form), "\(name) \(scalars)")
        }
    }

    /// Marks in the wrong order, as many as take minutes where each is moved past all others.
    @Test(arguments: ["NFC", "NFD"]) func manyMarksAreNoQuadraticWork(name: String) throws {
        let form = try #require(UnicodeForm(rawValue: name))
        let count = 50_000
        let marks = Array(repeating: 0x302, count: count) + Array(repeating: 0x323, count: count)
        var text = TrackedText(untracked: bytes([0x64] + marks))
        try form.normalize(&text)
        let ordered = Array(repeating: 0x323, count: count) + Array(repeating: 0x302, count: count)
        #expect(text.bytes == bytes(name == "NFC" ? [0x1E0D] + ordered.dropFirst() : [0x64] + ordered))
    }

    private func normalized(_ scalars: [Int], _ form: UnicodeForm) throws -> [UInt8] {
        var text = TrackedText(untracked: bytes(scalars))
        try form.normalize(&text)
        return text.bytes
    }

    private func bytes(_ scalars: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in scalars { bytes.append(scalar: UInt32(scalar)) }
        return bytes
    }
}
