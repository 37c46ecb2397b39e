import HubCore
import ModelFormats

/// Truncation of an encoding that is too long (`truncation`).
struct Truncation: Sendable {
    private let longest: Int
    private let strategy: TruncationStrategy
    let isFromLeft: Bool

    init(longest: Int, _ strategy: TruncationStrategy, isFromLeft: Bool) {
        (self.longest, self.strategy, self.isFromLeft) = (longest, strategy, isFromLeft)
    }

    /// Reads `truncation`.
    init(_ part: TokenizerComponent) throws(AIError) {
        longest = try part.saturatedCount("max_length")
        let name = try part.string("strategy")
        guard let strategy = TruncationStrategy(rawValue: name) else { throw part.refuse("strategy \(name)") }
        self.strategy = strategy
        // The stride only affects the overflow, which is not returned here.
        if part["stride"] != nil { _ = try part.saturatedCount("stride") }
        isFromLeft = try part.isLeft("direction")
    }

    /// Truncates one text or two, leaving room for `added` more tokens.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if only one may be truncated and that is not enough.
    func truncate<Token>(_ texts: inout [[Token]], added: Int) throws(AIError) {
        let room = max(0, longest - added)
        let total = texts.reduce(0) { $0 + $1.count }
        guard total > room else { return }
        if room == 0 {
            for index in texts.indices { texts[index] = [] }
            return
        }
        switch strategy {
        case .longestFirst:
            let counts = texts.count == 1 ? [room] : Self.share(texts[0].count, texts[1].count, room)
            for index in texts.indices { cut(&texts[index], counts[index]) }
        case .onlyFirst, .onlySecond:
            let index = strategy == .onlyFirst ? 0 : 1
            guard index < texts.count, texts[index].count > total - room else {
                throw AIError(.invalidInput, "a text is too long for the tokenizer's limit of \(longest) tokens")
            }
            cut(&texts[index], texts[index].count - (total - room))
        }
    }

    private static func share(_ first: Int, _ second: Int, _ room: Int) -> [Int] {
        var (short, long) = (min(first, second), max(first, second))
        long = short > room ? short : max(short, room - short)
        if short + long > room {
            short = room / 2
            long = short + room % 2
        }
        return first > second ? [long, short] : [short, long]
    }

    private func cut<Token>(_ tokens: inout [Token], _ count: Int) {
        guard count < tokens.count else { return }
        tokens = Array(isFromLeft ? tokens.suffix(count) : tokens.prefix(count))
    }
}

/// Padding of an encoding that is too short (`padding`).
struct Padding: Sendable {
    private let fixed: Int?
    private let multiple: Int
    private let isLeft: Bool
    private let id: Int
    private let typeID: Int

    /// Reads `padding`.
    init(_ part: TokenizerComponent) throws(AIError) {
        guard let strategy = part["strategy"] else { throw part.malformed("has no strategy") }
        if let count = strategy["Fixed"]?.int, (0...Int64(1 << 24)).contains(count) {
            fixed = Int(count)
        } else if strategy.string == "BatchLongest" {
            fixed = nil
        } else {
            throw part.refuse("strategy \(strategy.text())")
        }
        isLeft = try part.isLeft("direction")
        multiple = try part.count("pad_to_multiple_of", default: 0)
        guard multiple <= 1 << 24 else { throw part.malformed("has a pad_to_multiple_of that is too large") }
        id = try part.count("pad_id")
        typeID = try part.count("pad_type_id", default: 0)
    }

    func pad(_ tokens: inout [Encoding.Token]) {
        var count = fixed ?? tokens.count
        if multiple > 0, count % multiple > 0 { count += multiple - count % multiple }
        guard count > tokens.count else { return }
        var token = Encoding.Token(id: id, typeID: typeID)
        token.isSpecial = true
        token.isPadding = true
        let filling = repeatElement(token, count: count - tokens.count)
        tokens.insert(contentsOf: filling, at: isLeft ? 0 : tokens.count)
    }
}

extension TokenizerComponent {
    /// A count; one too large for Int becomes Int.max.
    fileprivate func saturatedCount(_ key: String) throws(AIError) -> Int {
        if let int = self[key]?.int, int >= 0 { return Int(int) }
        if case .longNumber(let digits) = self[key], UInt64(digits) != nil { return .max }
        return try count(key)
    }

    fileprivate func isLeft(_ key: String) throws(AIError) -> Bool {
        switch self[key]?.string ?? "Right" {
        case "Left": return true
        case "Right": return false
        case let other: throw refuse("\(key) \(other)")
        }
    }
}
