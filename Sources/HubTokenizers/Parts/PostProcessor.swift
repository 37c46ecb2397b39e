import HubCore
import ModelFormats

/// Adds special tokens around one text or two, such as `<|bos|>`.
struct PostProcessor: Sendable {
    /// One part of a template.
    enum Piece: Sendable {
        case sequence(Int, typeID: Int)
        case special([Int], typeID: Int)
    }

    enum Step: Sendable {
        case template(single: [Piece], pair: [Piece])
        /// Trims white space from token offsets.
        case trim(OffsetTrimming)
        /// All type ids are 0 until a step sets them.
        case sameType
    }

    private var steps: [Step] = []

    /// A post-processor of known steps.
    init(_ steps: [Step]) { self.steps = steps }

    /// Reads `post_processor`; nil if there is none.
    init(_ part: TokenizerComponent?) throws(AIError) {
        guard let part else { return }
        try add(part)
    }

    private mutating func add(_ part: TokenizerComponent) throws(AIError) {
        switch part.type {
        case "Sequence":
            for processor in try part.parts("processors") { try add(processor) }
        case "ByteLevel":
            try addTrimming(part)
        case "TemplateProcessing":
            try addTemplate(
                part, .template(single: try Self.template(part, "single"), pair: try Self.template(part, "pair")))
        case "BertProcessing":
            let (cls, sep) = (try Self.token(part, "cls"), try Self.token(part, "sep"))
            try addTemplate(part, Self.bertTemplate(cls: cls, sep: sep))
        case "RobertaProcessing":
            try addTrimming(part)
            let (cls, sep) = (try Self.token(part, "cls"), try Self.token(part, "sep"))
            steps.append(.sameType)
            try addTemplate(part, Self.robertaTemplate(cls: cls, sep: sep))
        default:
            throw part.refuse("")
        }
    }

    private mutating func addTrimming(_ part: TokenizerComponent) throws(AIError) {
        guard try part.bool("trim_offsets", default: true) else { return }
        steps.append(.trim(OffsetTrimming(addsPrefixSpace: try part.bool("add_prefix_space", default: true))))
    }

    private mutating func addTemplate(_ part: TokenizerComponent, _ template: Step) throws(AIError) {
        // The reference aborts here.
        for case .template in steps { throw part.refuse("a place after another template") }
        steps.append(template)
    }

    private static let mostAdded = 4096

    private static func token(_ part: TokenizerComponent, _ key: String) throws(AIError) -> Int {
        guard let pair = part[key]?.array, pair.count == 2, pair[0].string != nil, let id = pair[1].int,
            (0...Int64(Int32.max)).contains(id)
        else { throw part.malformed("has no token \(key)") }
        return Int(id)
    }

    private static func template(_ part: TokenizerComponent, _ key: String) throws(AIError) -> [Piece] {
        guard let items = part[key]?.array else { throw part.malformed("has no \(key)") }
        var pieces: [Piece] = []
        var names: Set<String> = []
        var added = 0
        for item in items {
            guard let (kind, content) = item.object?.members.first, let name = content["id"]?.string,
                let typeID = content["type_id"]?.int, (0...Int64(Int32.max)).contains(typeID)
            else { throw part.malformed("has a piece that is neither a token nor a sequence") }
            // Repeated sequences could multiply tokens without limit.
            if kind == "Sequence", !names.insert(name).inserted {
                throw part.refuse("the sequence \(name) twice in its \(key) form")
            }
            switch (kind, name) {
            case ("Sequence", "A"): pieces.append(.sequence(0, typeID: Int(typeID)))
            case ("Sequence", "B") where key == "pair": pieces.append(.sequence(1, typeID: Int(typeID)))
            case ("Sequence", _): throw part.refuse("the sequence \(name) in its \(key) form")
            case ("SpecialToken", _):
                let ids = try ids(part, name)
                added += ids.count
                guard added <= mostAdded else {
                    throw part.refuse("more than \(mostAdded) tokens in its \(key) form")
                }
                pieces.append(.special(ids, typeID: Int(typeID)))
            default: throw part.malformed("has a piece that is neither a token nor a sequence")
            }
        }
        return pieces
    }

    private static func ids(_ part: TokenizerComponent, _ name: String) throws(AIError) -> [Int] {
        guard let list = part["special_tokens"]?[name]?["ids"]?.array else {
            throw part.malformed("does not say what \"\(name)\" is")
        }
        var ids: [Int] = []
        for id in list {
            guard let id = id.int, (0...Int64(Int32.max)).contains(id) else {
                throw part.malformed("gives \"\(name)\" an invalid id")
            }
            ids.append(Int(id))
        }
        return ids
    }

    /// The ids of a text with special tokens.
    func process(_ ids: [Int]) -> [Int] {
        for case .template(let single, _) in steps {
            var result: [Int] = []
            result.reserveCapacity(ids.count + single.count)
            for piece in single {
                switch piece {
                case .sequence: result += ids
                case .special(let added, _): result += added
                }
            }
            return result
        }
        return ids
    }

    /// The joined tokens of one text or two, by their ids.
    func process(_ texts: [[Int]], addSpecialTokens: Bool) -> TokenizedText {
        var result = TokenizedText()
        func append(_ ids: [Int], _ type: Int, text: Int?) {
            result.ids += ids
            result.types += repeatElement(type, count: ids.count)
            result.texts += repeatElement(text, count: ids.count)
        }
        for piece in pieces(isPair: texts.count == 2) {
            switch piece {
            case .sequence(let index, let typeID): append(texts[index], isSameType ? 0 : typeID, text: index)
            case .special(let ids, let typeID): if addSpecialTokens { append(ids, typeID, text: nil) }
            }
        }
        return result
    }

    /// The template; without one the texts follow each other.
    private func pieces(isPair: Bool) -> [Piece] {
        for case .template(let single, let pair) in steps { return isPair ? pair : single }
        return (0..<(isPair ? 2 : 1)).map { .sequence($0, typeID: $0) }
    }

    /// The joined tokens of one text or two.
    ///
    /// - Parameter spelling: The spelling of a token.
    func process(
        _ texts: [[Encoding.Token]], _ originals: [[UInt8]], addSpecialTokens: Bool,
        _ spelling: (Encoding.Token) -> [UInt8]
    ) -> [Encoding.Token] {
        // One per text, and after a template one per piece of it.
        var parts = texts
        for step in steps {
            switch step {
            case .trim(let trimming):
                for index in parts.indices { trimming.trim(&parts[index], originals, spelling) }
            case .sameType:
                for index in parts.indices { for at in parts[index].indices { parts[index][at].typeID = 0 } }
            case .template(let single, let pair):
                let pieces = texts.count == 1 ? single : pair
                parts = Self.fill(pieces, texts: parts, addSpecialTokens: addSpecialTokens, keepsTypes: isSameType)
            }
        }
        return parts.flatMap { $0 }
    }

    /// RoBERTa's type ids are always 0.
    private var isSameType: Bool { steps.contains { if case .sameType = $0 { true } else { false } } }

    private static func fill(
        _ pieces: [Piece], texts: [[Encoding.Token]], addSpecialTokens: Bool, keepsTypes: Bool
    ) -> [[Encoding.Token]] {
        var result: [[Encoding.Token]] = []
        for piece in pieces {
            switch piece {
            case .sequence(let index, let typeID):
                var text = texts[index]
                if !keepsTypes { for at in text.indices { text[at].typeID = typeID } }
                result.append(text)
            case .special(let ids, let typeID):
                guard addSpecialTokens else { continue }
                result.append(
                    ids.map { id in
                        var token = Encoding.Token(id: id, typeID: typeID)
                        token.isSpecial = true
                        return token
                    })
            }
        }
        return result
    }

    /// The number of tokens added to one text or two.
    func addedCount(isPair: Bool) -> Int {
        pieces(isPair: isPair).reduce(0) { sum, piece in
            if case .special(let ids, _) = piece { sum + ids.count } else { sum }
        }
    }

    /// Every id that may be added.
    var addedIDs: [Int] {
        var ids: [Int] = []
        for case .template(let single, let pair) in steps {
            for case .special(let added, _) in single + pair { ids += added }
        }
        return ids
    }
}

/// Offsets without the white space that a byte-level token has around it.
struct OffsetTrimming: Sendable {
    /// Whether the first space may come from the pre-tokenizer.
    let addsPrefixSpace: Bool

    func trim(_ tokens: inout [Encoding.Token], _ originals: [[UInt8]], _ spelling: (Encoding.Token) -> [UInt8]) {
        for index in tokens.indices {
            // An inserted token has no range.
            guard let sequence = tokens[index].sequence else { continue }
            let original = originals[sequence]
            let (leading, trailing) = Self.spaces(spelling(tokens[index]))
            var range = tokens[index].range
            let isFirst = index == 0 || range.lowerBound == 0
            if leading > 0, !(isFirst && addsPrefixSpace && leading == 1) {
                range = Self.forward(range.lowerBound, leading, original, range.upperBound)..<range.upperBound
            }
            if trailing > 0, range.upperBound >= trailing {
                range = range.lowerBound..<Self.back(range.upperBound, trailing, original, range.lowerBound)
            }
            tokens[index].range = range
        }
    }

    /// The number of white space characters (or their stand-ins) at both ends.
    private static func spaces(_ token: [UInt8]) -> (leading: Int, trailing: Int) {
        let scalars = String(decoding: token, as: UTF8.self).unicodeScalars
        func isSpace(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "\u{120}" || CharacterClass.isWhiteSpace(scalar.value)
        }
        return (scalars.prefix(while: isSpace).count, scalars.reversed().prefix(while: isSpace).count)
    }

    private static func forward(_ start: Int, _ count: Int, _ text: [UInt8], _ limit: Int) -> Int {
        var at = start
        for _ in 0..<count where at < limit { at += text.width(at: at) }
        return min(at, limit)
    }

    private static func back(_ end: Int, _ count: Int, _ text: [UInt8], _ limit: Int) -> Int {
        var at = end
        for _ in 0..<count where at > limit {
            repeat { at -= 1 } while at > limit && text[at] & 0xC0 == 0x80
        }
        return at
    }
}

extension PostProcessor {
    /// The template of BERT: `[CLS] a [SEP] b [SEP]`.
    static func bert(cls: Int, sep: Int) -> PostProcessor { PostProcessor([bertTemplate(cls: cls, sep: sep)]) }

    /// The template of RoBERTa, whose types are all 0: `<s> a </s></s> b </s>`.
    static func roberta(cls: Int, sep: Int, _ trimming: OffsetTrimming?) -> PostProcessor {
        PostProcessor(
            (trimming.map { [.trim($0)] } ?? []) + [.sameType, robertaTemplate(cls: cls, sep: sep)])
    }

    private static func bertTemplate(cls: Int, sep: Int) -> Step {
        let first = around(cls, sep)
        return .template(single: first, pair: first + [.sequence(1, typeID: 1), .special([sep], typeID: 1)])
    }

    private static func robertaTemplate(cls: Int, sep: Int) -> Step {
        let (first, end) = (around(cls, sep), Piece.special([sep], typeID: 0))
        return .template(single: first, pair: first + [end, .sequence(1, typeID: 0), end])
    }

    private static func around(_ cls: Int, _ sep: Int) -> [Piece] {
        [.special([cls], typeID: 0), .sequence(0, typeID: 0), .special([sep], typeID: 0)]
    }

    /// Tokens around a text, or around two as one.
    init(around before: [Int], _ after: [Int]) {
        func template(_ texts: [Piece]) -> [Piece] {
            let (start, end) = (Piece.special(before, typeID: 0), Piece.special(after, typeID: 0))
            return (before.isEmpty ? [] : [start]) + texts + (after.isEmpty ? [] : [end])
        }
        let texts = [Piece.sequence(0, typeID: 0), .sequence(1, typeID: 0)]
        self.init([.template(single: template([texts[0]]), pair: template(texts))])
    }

    /// Optional tokens before and after a text.
    init(before: Int?, after: Int?) {
        let start: [Piece] = before.map { [.special([$0], typeID: 0)] } ?? []
        let end: [Piece] = after.map { [.special([$0], typeID: 0)] } ?? []
        let first = start + [.sequence(0, typeID: 0)] + end
        self.init([.template(single: first, pair: first + start + [.sequence(1, typeID: 1)] + end)])
    }
}
