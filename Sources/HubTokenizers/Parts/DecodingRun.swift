/// Streams tokens through the stages of a decoder: each stage passes on what no later token can change, so streaming
/// gives the same text as decoding at once.
struct DecodingRun {
    /// The state of a stage.
    private struct State {
        var hasBegun = false
        /// Bytes held until the next token.
        var held: [UInt8] = []
        var isHolding = false
        var assembler = TextAssembler()
        /// The number of held characters that may be stripped.
        var heldCount = 0
        /// The number of leading characters already examined.
        var stripped = 0
        var isPastStart = false
    }

    private let decoder: TokenDecoder
    private let firstFused: Int
    private let firstWhole: Int
    private var states: [State]
    private var sentencePiece = SentencePieceDecoder.State()
    /// The finished text: whole characters only.
    private(set) var output: [UInt8] = []

    init(_ decoder: TokenDecoder) {
        self.decoder = decoder
        firstFused = decoder.firstFused
        firstWhole = decoder.firstWhole
        states = Array(repeating: State(), count: decoder.stages.count)
    }

    /// Returns the finished text and clears it.
    mutating func take() -> String {
        defer { output.removeAll(keepingCapacity: true) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Passes on the next token.
    mutating func push(_ token: [UInt8], id: Int) {
        if case .sentencePiece(let decoder) = decoder.stages.first {
            decoder.push(id, token, &sentencePiece, &output)
        } else {
            push(token, to: 0)
        }
    }

    /// Passes on the held text at the end of input.
    mutating func finish() {
        if case .sentencePiece(let decoder) = decoder.stages.first { decoder.finish(&sentencePiece, &output) }
        for stage in 0..<firstFused { flush(stage) }
        finishWhole()
    }

    /// Passes a token through a stage and all after it.
    private mutating func push(_ token: [UInt8], to stage: Int) {
        guard stage < decoder.stages.count else {
            output += token
            return
        }
        let isFirst = !states[stage].hasBegun
        states[stage].hasBegun = true
        switch decoder.stages[stage] {
        case .fuse: stream(token, to: stage + 1)
        case .byteLevel:
            let text = states[stage].assembler.add(ByteLevelAlphabet.bytes(of: token) ?? token)
            stream(Array(text.utf8), to: stage + 1)
        case .bytePair(let suffix):
            // Every token but the last is followed by a space.
            let before = states[stage].held
            let isHolding = states[stage].isHolding
            states[stage].held = token
            states[stage].isHolding = true
            if isHolding { push(before.replacing(suffix, with: [UInt8(ascii: " ")]), to: stage + 1) }
        case .byteFallback:
            if let byte = Self.byte(token) {
                states[stage].held.append(byte)
            } else {
                passOnBytes(stage)
                push(token, to: stage + 1)
            }
        case .ctc(let pad, let delimiter, let cleansUp):
            let isRepeated = states[stage].isHolding && states[stage].held == token
            states[stage].held = token
            states[stage].isHolding = true
            if isRepeated { return }
            let text = Self.sounds(token, pad, delimiter, cleansUp: cleansUp)
            if !text.isEmpty { push(text, to: stage + 1) }
        case .sentencePiece: break
        case let plain:
            if let text = plain.text(of: token, isFirst: isFirst) { push(text, to: stage + 1) }
        }
    }

    private static func sounds(_ token: [UInt8], _ pad: [UInt8], _ delimiter: [UInt8], cleansUp: Bool) -> [UInt8] {
        let text = token.replacing(pad, with: [])
        return cleansUp ? cleanedUp(text).replacing(delimiter, with: [UInt8(ascii: " ")]) : text
    }

    /// Passes a part of the fused text through a stage and all after it.
    private mutating func stream(_ part: [UInt8], to stage: Int) {
        guard stage < decoder.stages.count else {
            output += part
            return
        }
        switch decoder.stages[stage] {
        case .fuse: stream(part, to: stage + 1)
        case .strip(let content, let start, let stop): strip(part, content, start, stop, stage)
        // This stage needs the whole text.
        default: states[stage].held += part
        }
    }

    private mutating func strip(_ part: [UInt8], _ content: UInt32, _ start: Int, _ stop: Int, _ stage: Int) {
        var spelled: [UInt8] = []
        spelled.append(scalar: content)
        var rest = part[...]
        if !states[stage].isPastStart {
            while states[stage].stripped < start, rest.starts(with: spelled) {
                rest.removeFirst(spelled.count)
                states[stage].stripped += 1
            }
            states[stage].isPastStart = states[stage].stripped == start || !rest.isEmpty
        }
        // The last characters may be stripped at the end.
        var count = 0
        while rest.dropLast(count * spelled.count).suffix(spelled.count).elementsEqual(spelled) { count += 1 }
        let isAll = count * spelled.count == rest.count
        let held = min(stop, isAll ? states[stage].heldCount + count : count)
        let passed = states[stage].heldCount + count - held
        rest = rest.dropLast(count * spelled.count)
        var text: [UInt8] = []
        if !isAll { for _ in 0..<states[stage].heldCount { text += spelled } }
        text += rest
        for _ in 0..<(isAll ? passed : count - held) { text += spelled }
        states[stage].heldCount = held
        stream(text, to: stage + 1)
    }

    private mutating func flush(_ stage: Int) {
        let state = states[stage]
        switch decoder.stages[stage] {
        case .byteLevel: stream(Array(states[stage].assembler.finish().utf8), to: stage + 1)
        case .bytePair(let suffix):
            if state.isHolding { push(state.held.replacing(suffix, with: []), to: stage + 1) }
        case .byteFallback: passOnBytes(stage)
        default: break
        }
    }

    /// Passes the fused text through the stages that need the whole.
    private mutating func finishWhole() {
        guard firstWhole < decoder.stages.count else { return }
        var text = states[firstWhole].held
        states[firstWhole].held = []
        for stage in decoder.stages[firstWhole...] { text = Self.only(text, stage) }
        output += text
    }

    /// The output of a stage for a single token.
    private static func only(_ token: [UInt8], _ stage: TokenDecoder.Stage) -> [UInt8] {
        switch stage {
        case .byteLevel:
            return Array(String(decoding: ByteLevelAlphabet.bytes(of: token) ?? token, as: UTF8.self).utf8)
        case .bytePair(let suffix): return token.replacing(suffix, with: [])
        case .byteFallback:
            guard let byte = byte(token) else { return token }
            return byte < 0x80 ? [byte] : Array("\u{FFFD}".utf8)
        case .ctc(let pad, let delimiter, let cleansUp): return sounds(token, pad, delimiter, cleansUp: cleansUp)
        default: return stage.text(of: token, isFirst: true) ?? token
        }
    }

    /// Consecutive bytes are text if they are UTF-8, else each is U+FFFD.
    private mutating func passOnBytes(_ stage: Int) {
        let bytes = states[stage].held
        guard !bytes.isEmpty else { return }
        states[stage].held = []
        if String(validating: bytes, as: UTF8.self) != nil {
            push(bytes, to: stage + 1)
        } else {
            for _ in bytes { push(Array("\u{FFFD}".utf8), to: stage + 1) }
        }
    }

    /// The byte that a token `<0x0A>` stands for.
    static func byte(_ token: [UInt8]) -> UInt8? {
        guard token.count == 6, token.starts(with: Array("<0x".utf8)), token[5] == UInt8(ascii: ">") else {
            return nil
        }
        return UInt8(String(decoding: token[3...4], as: UTF8.self), radix: 16)
    }

    static func stripped(_ token: [UInt8], _ content: UInt32, start: Int, stop: Int) -> [UInt8] {
        var spelled: [UInt8] = []
        spelled.append(scalar: content)
        var rest = token[...]
        var count = 0
        while count < start, rest.starts(with: spelled) {
            rest = rest.dropFirst(spelled.count)
            count += 1
        }
        count = 0
        while count < stop, rest.suffix(spelled.count).elementsEqual(spelled) {
            rest = rest.dropLast(spelled.count)
            count += 1
        }
        return Array(rest)
    }

    /// The spaces before punctuation and English endings that tokenization put there.
    private static let cleanups = [
        (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
        (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
    ].map { (Array($0.0.utf8), Array($0.1.utf8)) }

    static func cleanedUp(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(UInt8(ascii: " ")) else { return text }
        return cleanups.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
