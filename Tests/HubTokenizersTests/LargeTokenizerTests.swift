import HubCore
import Support
import Testing

@testable import HubTokenizers

/// A tokenizer.json as large as those that are read and filled in on two threads.
@Suite struct LargeTokenizerTests {
    private static let width = 220

    private static func letter(_ number: Int) -> String { String(UnicodeScalar(UInt32(0x4E00 + number))!) }
    private static func pair(_ left: Int, _ right: Int) -> String { letter(left) + letter(right) }

    /// Each letter is a token, and each pair of two becomes one, the lower numbers first.
    private func json(_ lastMerges: [String]) -> [UInt8] {
        var vocabulary = (0..<Self.width).map { "\"\(Self.letter($0))\":\($0)" }
        var merges: [String] = []
        for left in 0..<Self.width {
            for right in 0..<Self.width {
                vocabulary.append("\"\(Self.pair(left, right))\":\(Self.width * (left + 1) + right)")
                merges.append("      [\"\(Self.letter(left))\", \"\(Self.letter(right))\"]")
            }
        }
        merges += lastMerges
        let model = #""type":"BPE","vocab":{\#(vocabulary.joined(separator: ","))}"#
        return Array("{\"model\":{\(model),\"merges\":[\(merges.joined(separator: ",\n"))]}}".utf8)
    }

    @Test func everyMergeIsFoundAndALaterOneOfTheSameWins() throws {
        let again = #"["\#(Self.letter(0))","\#(Self.letter(1))"]"#
        let json = json([again])
        #expect(json.count > 1 << 20)
        let tokenizer = try Tokenizer(json: json, path: "/m/tokenizer.json")
        var wrong: [String] = []
        for pair in stride(from: 0, to: Self.width * Self.width, by: 7) {
            let text = Self.pair(pair / Self.width, pair % Self.width)
            if try tokenizer.encode(text) != [Self.width + pair] { wrong.append(text) }
        }
        #expect(wrong.isEmpty)
        // The first merge's second place is behind all the others.
        let letters = Self.letter(0) + Self.pair(1, 2)
        #expect(try tokenizer.encode(letters) == [0, 2 * Self.width + 2])
    }

    @Test func aMergeThatIsNoneIsNamedByItsNumberInTheWholeList() throws {
        let (known, count) = (Self.letter(0), Self.width * Self.width)
        for (merges, number) in [
            ([#"["\#(known)","?"]"#], count), ([#"["\#(known)","\#(known)"]"#, "1"], count + 1),
        ] {
            let error = #expect(throws: AIError.self) {
                try Tokenizer(json: json(merges), path: "/m/tokenizer.json")
            }
            #expect(
                error?.message == "/m/tokenizer.json: merge \(number) is not a pair of known tokens",
                "\(error?.message ?? "")")
        }
    }

    @Test(arguments: [0, 1, 10, 43_000, 50_000]) func aTableHasWhatWasSetAndNothingElse(count: Int) {
        var table = MergeTable(count: 2 * count)
        var pairs: [(left: Int32, right: Int32, merge: MergeTable.Merge)] = []
        for round in 0..<2 {
            for number in 0..<count where round == 0 || number % 3 == 0 {
                let merge = MergeTable.Merge(rank: Int32(pairs.count), result: Int32(number))
                pairs.append((Int32(number), Int32(number / 2), merge))
            }
        }
        table.set(pairs)
        var last: [Int32: Int32] = [:]
        for pair in pairs { last[pair.left] = pair.merge.rank }
        let wrong = (0..<Int32(count)).filter { left in
            let found = table[left, left / 2]
            return found?.rank != last[left] || found?.result != left || table[left, left / 2 + 1] != nil
        }
        #expect(wrong.isEmpty)
    }
}
