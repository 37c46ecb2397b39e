/// Tokens on their way through the stages of a decoder, one after the other: each stage passes on what no later token can
/// change. Decoding a whole text is the same as decoding it piece by piece.
struct DecodingRun {
    /// What a stage remembers.
    private struct State {
        var index = 0
        /// What waits for the next token.
        var held: [UInt8] = []
        var isHolding = false
        var assembler = TextAssembler()
        /// How many characters at the beginning are looked at already.
        var stripped = 0
        var isPastStart = false
    }

    private let decoder: TokenDecoder
    private let firstFused: Int
    private var states: [State]
    private var sentencePiece = SentencePieceDecoder.State()
    /// What is ready: whole characters only.
    private(set) var output: [UInt8] = []

    init(_ decoder: TokenDecoder) {
        self.decoder = decoder
        firstFused = decoder.firstFused
        states = Array(repeating: State(), count: decoder.stages.count)
    }

    /// What is ready, which is then forgotten.
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

    /// Passes on what was held back: no more comes.
    mutating func finish() {
        if case .sentencePiece(let decoder) = decoder.stages.first { decoder.finish(&sentencePiece, &output) }
        for stage in states.indices { flush(stage) }
    }

    /// Passes a token through a stage and all after it.
    private mutating func push(_ token: [UInt8], to stage: Int) {
        guard stage < decoder.stages.count else {
            output += token
            return
        }
        let index = states[stage].index
        states[stage].index += 1
        switch decoder.stages[stage] {
        case .fuse: stream(token, to: stage + 1)
        case .byteLevel:
            let text = states[stage].assembler.add(ByteLevelAlphabet.bytes(of: token) ?? token)
            stream(Array(text.utf8), to: stage + 1)
        case .spaced: push(index == 0 ? token : [UInt8(ascii: " ")] + token, to: stage + 1)
        case .wordPiece(let prefix, let cleansUp):
            var text = token
            if index > 0 {
                text = token.starts(with: prefix) ? Array(token[prefix.count...]) : [UInt8(ascii: " ")] + token
            }
            push(cleansUp ? Self.cleanedUp(text) : text, to: stage + 1)
        case .metaspace(let replacement, let dropsFirst):
            let content = index == 0 && dropsFirst ? [] : [UInt8(ascii: " ")]
            push(token.replacing(replacement, with: content), to: stage + 1)
        case .replace(let text, let content): push(token.replacing(text, with: content), to: stage + 1)
        case .strip(let content, let start, let stop):
            push(Self.stripped(token, content, start: start, stop: stop), to: stage + 1)
        case .bytePair(let suffix):
            // Only the last token is followed by no space.
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
            var text = token.replacing(pad, with: [])
            if cleansUp { text = Self.cleanedUp(text).replacing(delimiter, with: [UInt8(ascii: " ")]) }
            if !text.isEmpty { push(text, to: stage + 1) }
        case .sentencePiece: break
        }
    }

    /// Passes a part of the one text that all tokens have become through a stage and all after it.
    private mutating func stream(_ part: [UInt8], to stage: Int) {
        guard stage < decoder.stages.count else {
            output += part
            return
        }
        switch decoder.stages[stage] {
        case .fuse: stream(part, to: stage + 1)
        case .strip(let content, let start, let stop): strip(part, content, start, stop, stage)
        // It can look only at the whole.
        default: states[stage].held += part
        }
    }

    private mutating func strip(_ part: [UInt8], _ content: UInt32, _ start: Int, _ stop: Int, _ stage: Int) {
        var spelled: [UInt8] = []
        spelled.append(scalar: content)
        var rest = states[stage].held + part
        if !states[stage].isPastStart {
            while states[stage].stripped < start, rest.starts(with: spelled) {
                rest.removeFirst(spelled.count)
                states[stage].stripped += 1
            }
            states[stage].isPastStart = states[stage].stripped == start || !rest.isEmpty
        }
        // The last characters may be those that are cut off at the end.
        var held = 0
        for _ in 0..<stop where rest.dropLast(held).suffix(spelled.count).elementsEqual(spelled) {
            held += spelled.count
        }
        states[stage].held = Array(rest.suffix(held))
        stream(Array(rest.dropLast(held)), to: stage + 1)
    }

    private mutating func flush(_ stage: Int) {
        let state = states[stage]
        let isFused = stage >= firstFused
        switch decoder.stages[stage] {
        case .byteLevel where !isFused: stream(Array(states[stage].assembler.finish().utf8), to: stage + 1)
        case .bytePair(let suffix) where !isFused:
            if state.isHolding { push(state.held.replacing(suffix, with: []), to: stage + 1) }
        case .byteFallback where !isFused: passOnBytes(stage)
        case .fuse, .strip, .sentencePiece: break
        default:
            guard isFused else { break }
            states[stage] = State()
            push(state.held, to: stage)
            flushWhole(stage)
        }
    }

    /// What a stage still holds that has just been given the whole text at once.
    private mutating func flushWhole(_ stage: Int) {
        switch decoder.stages[stage] {
        case .byteLevel: stream(Array(states[stage].assembler.finish().utf8), to: stage + 1)
        case .bytePair(let suffix): push(states[stage].held.replacing(suffix, with: []), to: stage + 1)
        case .byteFallback: passOnBytes(stage)
        default: break
        }
    }

    /// Bytes in a row are text where they are UTF-8, else each is U+FFFD.
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

    private static func stripped(_ token: [UInt8], _ content: UInt32, start: Int, stop: Int) -> [UInt8] {
        var spelled: [UInt8] = []
        spelled.append(scalar: content)
        var rest = token[...]
        for _ in 0..<start where rest.starts(with: spelled) { rest = rest.dropFirst(spelled.count) }
        for _ in 0..<stop where rest.suffix(spelled.count).elementsEqual(spelled) {
            rest = rest.dropLast(spelled.count)
        }
        return Array(rest)
    }

    /// The spaces before punctuation and English endings that tokenization put there.
    private static let cleanups = [
        (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
        (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
    ].map { (Array($0.0.utf8), Array($0.1.utf8)) }

    private static func cleanedUp(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(UInt8(ascii: " ")) else { return text }
        return cleanups.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
