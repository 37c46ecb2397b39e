import HubCore
import ModelFormats

/// Rewrites a text before it is split.
struct Normalizer: Sendable {
    /// The settings of BERT's normalizer.
    struct Bert: Sendable {
        var cleansText: Bool
        var spacesChinese: Bool
        var stripsAccents: Bool
        var lowercases: Bool
    }

    enum Step: Sendable {
        case form(UnicodeForm)
        case lowercase
        case strip(left: Bool, right: Bool)
        case stripAccents
        case replace(TextPattern, [UInt8])
        case prepend([UInt8])
        case bert(Bert)
        case nmt
        case charsmap(Charsmap)
        case byteLevel
        case sentencePiece(SentencePieceNormalizer)

        /// Its name in a tokenizer.json.
        fileprivate var name: String {
            switch self {
            case .form(let form): form.rawValue
            case .lowercase: "Lowercase"
            case .strip: "Strip"
            case .stripAccents: "StripAccents"
            case .replace: "Replace"
            case .prepend: "Prepend"
            case .bert: "BertNormalizer"
            case .nmt: "Nmt"
            case .charsmap: "Precompiled"
            case .byteLevel: "ByteLevel"
            case .sentencePiece: "of SentencePiece"
            }
        }
    }

    private var steps: [Step] = []

    /// A normalizer of known steps.
    init(_ steps: [Step]) { self.steps = steps }

    /// Reads `normalizer`; nil if there is none.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for an unknown kind.
    init(_ part: TokenizerComponent?) throws(AIError) {
        guard let part else { return }
        try add(part)
    }

    /// BERT's with what tokenizer_config.json says of it: the reference builds it from that file, whatever tokenizer.json
    /// says.
    func changed(by settings: TokenizerSettings) -> Normalizer {
        Normalizer(
            steps.map { step in
                guard case .bert(var bert) = step else { return step }
                if let lowercases = settings.bool("do_lower_case"), lowercases != bert.lowercases {
                    (bert.lowercases, bert.stripsAccents) = (lowercases, lowercases)
                }
                bert.stripsAccents = settings.bool("strip_accents") ?? bert.stripsAccents
                bert.spacesChinese = settings.bool("tokenize_chinese_chars") ?? bert.spacesChinese
                return .bert(bert)
            })
    }

    /// The same after making texts lower case.
    var lowercasing: Normalizer { Normalizer([.lowercase] + steps) }

    /// Whether it changes nothing.
    var isEmpty: Bool { steps.isEmpty }

    private mutating func add(_ part: TokenizerComponent) throws(AIError) {
        try part.allowStep(after: steps.count)
        switch part.type {
        case "Sequence":
            for member in try part.parts("normalizers") { try add(member) }
        case "NFC", "NFD", "NFKC", "NFKD":
            // The cases above are all forms.
            if let form = part.type.flatMap(UnicodeForm.init) { steps.append(.form(form)) }
        case "Lowercase": steps.append(.lowercase)
        case "StripAccents": steps.append(.stripAccents)
        case "Nmt": steps.append(.nmt)
        case "ByteLevel": steps.append(.byteLevel)
        case "Strip":
            steps.append(.strip(left: try part.bool("strip_left"), right: try part.bool("strip_right")))
        case "Replace":
            steps.append(.replace(try TextPattern(part), try part.bytes("content")))
        case "Prepend":
            steps.append(.prepend(try part.bytes("prepend")))
        case "BertNormalizer":
            let lowercases = try part.bool("lowercase")
            steps.append(
                .bert(
                    Bert(
                        cleansText: try part.bool("clean_text"),
                        spacesChinese: try part.bool("handle_chinese_chars"),
                        stripsAccents: try part.bool("strip_accents", default: lowercases), lowercases: lowercases))
            )
        case "Precompiled":
            // Files of models without rules have null or an empty text here.
            guard let blob = part["precompiled_charsmap"]?.string, !blob.isEmpty else { return }
            steps.append(.charsmap(try Charsmap(base64: blob, path: part.path)))
        default:
            throw part.refuse("")
        }
    }

    /// Rewrites a text.
    ///
    /// - Throws: ``ErrorCode/insufficientMemory``, ``ErrorCode/generationFailed`` if a pattern or the text exceeds a
    ///   limit.
    ///
    /// - Parameter isAtStart: Whether the text is the start of the input.
    func normalize(_ text: inout TrackedText, isAtStart: Bool = true) throws(AIError) {
        for step in steps {
            try Self.apply(step, &text, isAtStart: isAtStart)
            try text.measure(after: "normalizer \(step.name)")
        }
    }

    private static func apply(_ step: Step, _ text: inout TrackedText, isAtStart: Bool) throws(AIError) {
        switch step {
        case .form(let form): try form.normalize(&text)
        case .lowercase: lowercase(&text)
        case .strip(let left, let right): strip(&text, left: left, right: right)
        case .stripAccents: filter(&text) { !CharacterClass.isMark($0) }
        case .replace(let pattern, let content):
            let matches = try pattern.matches(in: text.bytes)
            let removed = matches.reduce(0) { $0 + $1.count }
            try text.expect(text.bytes.count - removed + matches.count * content.count, from: "normalizer Replace")
            text.replace(matches, with: content)
        case .prepend(let content): if !text.bytes.isEmpty { text.prepend(content) }
        case .bert(let settings): try bert(&text, settings)
        case .nmt: nmt(&text)
        case .charsmap(let map): try map.normalize(&text)
        case .byteLevel: spell(&text)
        case .sentencePiece(let normalizer): try normalizer.normalize(&text, isAtStart: isAtStart)
        }
    }

    /// Replaces every byte by its character of ``ByteLevelAlphabet``.
    static func spell(_ text: inout TrackedText) {
        text.rewrite { value, out in
            var bytes: [UInt8] = []
            bytes.append(scalar: value)
            out += ByteLevelAlphabet.spelling(of: bytes)
        }
    }

    private static func lowercase(_ text: inout TrackedText) {
        guard text.bytes.contains(where: { $0 >= 0x80 || (0x41...0x5A).contains($0) }) else { return }
        text.rewrite { value, out in
            if value < 0x80 {
                out.append((0x41...0x5A).contains(value) ? UInt8(value | 0x20) : UInt8(value))
            } else if let scalar = Unicode.Scalar(value), scalar.properties.changesWhenLowercased {
                out += scalar.properties.lowercaseMapping.utf8
            } else {
                out.append(scalar: value)
            }
        }
    }

    private static func filter(_ text: inout TrackedText, _ keeps: (UInt32) -> Bool) {
        text.rewrite { value, out in if keeps(value) { out.append(scalar: value) } }
    }

    private static func strip(_ text: inout TrackedText, left: Bool, right: Bool) {
        let range = text.bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            var end = bytes.count
            while left, start < end {
                let (value, width) = bytes.scalar(at: start)
                guard CharacterClass.isWhiteSpace(value) else { break }
                start += width
            }
            while right, end > start {
                let (value, width) = bytes.scalar(before: end)
                guard CharacterClass.isWhiteSpace(value) else { break }
                end -= width
            }
            return start..<end
        }
        if range.count < text.bytes.count { text.keep(range) }
    }

    private static func bert(_ text: inout TrackedText, _ settings: Bert) throws(AIError) {
        if settings.cleansText {
            text.rewrite { value, out in
                if value == 0 || value == 0xFFFD { return }
                let isSpace = CharacterClass.isWhiteSpace(value)
                let isKept = value == 0x9 || value == 0xA || value == 0xD
                if !isKept && CharacterClass.isOther(value) { return }
                out.append(scalar: isSpace ? 0x20 : value)
            }
        }
        if settings.spacesChinese, text.bytes.contains(where: { $0 >= 0xE3 }) {
            text.rewrite { value, out in
                guard isChinese(value) else { return out.append(scalar: value) }
                out.append(0x20)
                out.append(scalar: value)
                out.append(0x20)
            }
        }
        if settings.stripsAccents, text.bytes.contains(where: { $0 >= 0x80 }) {
            try UnicodeForm.decomposed.normalize(&text)
            filter(&text) { !CharacterClass.isNonspacingMark($0) }
        }
        if settings.lowercases { lowercase(&text) }
    }

    /// The blocks of CJK Unified Ideographs, as BERT lists them.
    private static func isChinese(_ value: UInt32) -> Bool {
        switch value {
        case 0x4E00...0x9FFF, 0x3400...0x4DBF, 0x20000...0x2A6DF, 0x2A700...0x2B73F, 0x2B740...0x2B81F,
            0x2B920...0x2CEAF, 0xF900...0xFAFF, 0x2F800...0x2FA1F:
            true
        default: false
        }
    }

    /// The rules of the normalization "nmt" of SentencePiece.
    private static func nmt(_ text: inout TrackedText) {
        text.rewrite { value, out in
            switch value {
            case 0x01...0x08, 0x0B, 0x0E...0x1F, 0x7F, 0x8F, 0x9F: return
            case 0x09, 0x0A, 0x0C, 0x0D, 0x1680, 0x200B...0x200F, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD:
                out.append(0x20)
            default: out.append(scalar: value)
            }
        }
    }
}
