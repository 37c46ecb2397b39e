package import HubCore

/// The tokens that may come next under a constraint, for a vocabulary. States are kept with their masks, so texts that
/// follow one constraint should share an engine.
///
/// Used by one thread at a time.
package final class MaskEngine: @unchecked Sendable {
    /// Where a text is: in a free part, or in what a grammar rules.
    package struct State: Hashable, Sendable {
        /// The grammar by its number, or ``MaskEngine/freePart`` and its like.
        fileprivate var part: Int32
        /// The state of its automaton, or the place in the search for markers.
        fileprivate var place: Int32
        /// The ways within lists of different elements.
        fileprivate var ways: [GrammarState.Way] = []
        /// Whether nothing came before, so that reasoning may begin.
        fileprivate var isFirst = false

        /// Within a grammar.
        fileprivate var grammar: GrammarState { GrammarState(place: place, ways: ways) }
    }
    /// Free text, reasoning before free text, and the place of the token between reasoning and answer.
    private static let (freePart, reasoningPart, delimiterPart): (Int32, Int32, Int32) = (-1, -2, -3)

    private let vocabulary: TokenVocabulary
    private let ends: Set<Int>
    private let automata: [PushdownAutomaton]
    private let search: MarkerSearch
    /// The search for the end of reasoning before free text.
    private let closingSearch: MarkerSearch
    /// Whether the text goes on freely behind a grammar.
    private let isFreeAfterwards: Bool
    /// A token that makes a beginning free: that of reasoning.
    private let openingID: Int?
    /// The token between reasoning and answer.
    private let delimiterID: Int?
    private let constraint: OutputConstraint
    package private(set) var start: State
    private let plainCharacter: [RegexStore.ID]

    private var masks: [State: [UInt64]] = [:]
    /// The masks within strings of a limited length, far from the limit, by what follows the string.
    private var stringMasks: [StringPlace: [UInt64]] = [:]
    private struct StringPlace: Hashable {
        var part: Int32
        var following: PushdownAutomaton.Item
    }
    /// Masks kept: 16 KiB each for 128,000 tokens.
    private static let mostMasks = 1024

    /// - Parameter ends: the tokens that end a text.
    /// - Throws: ``ErrorCode/unsupportedModel`` for a vocabulary that cannot write every text.
    package init(
        _ constraint: OutputConstraint, _ vocabulary: TokenVocabulary, ends: Set<Int>
    ) throws(AIError) {
        guard vocabulary.missingBytes.isEmpty else {
            let byte = vocabulary.missingBytes[0]
            throw AIError(
                .unsupportedModel,
                "the tokenizer has no token for every byte (not for 0x\(String(byte, radix: 16))), so its model cannot be held to a grammar"
            )
        }
        self.vocabulary = vocabulary
        self.ends = ends
        self.constraint = constraint
        func token(_ text: String?) -> Int? {
            guard let text else { return nil }
            return vocabulary.special.first { vocabulary.bytes(Int($0)).elementsEqual(text.utf8) }.map { Int($0) }
        }
        var grammars: [CompiledGrammar] = []
        var markers: [[UInt8]] = []
        var closing: [UInt8] = []
        let reasoning: OutputConstraint.Reasoning?
        var written = ""
        switch constraint.form {
        case .answer(let grammar, let before, let begun):
            written = begun
            reasoning = before
            delimiterID = token(before?.delimiter)
            grammars = [grammar.compiled]
            if let before {
                grammars.append(try grammar.afterSpace())
                // A delimiter that is no token is a part of the marker.
                markers = [Array((before.closing + (delimiterID == nil ? before.delimiter ?? "" : "")).utf8)]
            }
            isFreeAfterwards = false
        case .sections(let sections, let begun, let before):
            reasoning = before
            delimiterID = nil
            closing = Array((before?.closing ?? "").utf8)
            written = begun
            for section in sections {
                grammars.append(try section.grammar.afterSpace())
                markers.append(Array(section.marker.utf8))
            }
            isFreeAfterwards = true
        }
        automata = grammars.map { PushdownAutomaton($0) }
        search = MarkerSearch(markers)
        closingSearch = MarkerSearch([closing])
        openingID = token(reasoning?.opening)
        let isWithin = reasoning != nil && reasoning?.opening == nil
        start =
            isFreeAfterwards
            ? State(part: isWithin ? Self.reasoningPart : Self.freePart, place: 0)
            : isWithin ? Self.free : State(part: 0, place: automata[0].start)
        start.isFirst = openingID != nil
        plainCharacter = grammars.map { grammar in
            var store = grammar.store
            let id = store.character(.all, .jsonString)
            // An expression that the grammar does not have gets a number that another may get later.
            return id < grammar.store.count ? id : RegexStore.nothing
        }
        // What a prompt has begun in another form is free.
        start = written.utf8.reduce(start) { state, byte in step(state, byte) ?? Self.free }
    }

    private static let free = State(part: freePart, place: 0)

    /// Whether a mask applies here: a free part without markers ahead bans nothing.
    private func isFree(_ state: State) -> Bool { state.part == Self.freePart || state.part == Self.reasoningPart }

    /// What ended the engine: a grammar that needs too much memory or time. Nothing that it says holds any more.
    package var failure: AIError? { automata.lazy.compactMap(\.failure).first }
    /// Whether it keeps so much that it is time for a new one.
    package var isLarge: Bool { automata.contains(where: \.isLarge) }
    /// A new engine for the same constraint, which has found out nothing yet.
    package func renewed() throws(AIError) -> MaskEngine { try MaskEngine(constraint, vocabulary, ends: ends) }

    /// Whether the text may end here.
    package func mayEnd(_ state: State) -> Bool {
        if state.part == Self.delimiterPart { return false }
        return isFree(state) ? isFreeAfterwards : automata[Int(state.part)].isComplete(state.grammar)
    }

    /// Whether nothing may follow but the end.
    package func isFinished(_ state: State) -> Bool {
        state.part >= 0 && !isFreeAfterwards && automata[Int(state.part)].isFinished(state.grammar)
            && failure == nil
    }

    // MARK: Tokens

    /// The state after a token; nil for one that is not allowed. Tokens that end a text change nothing.
    package func next(_ state: State, _ id: Int) -> State? {
        for automaton in automata { automaton.allowMore() }
        if ends.contains(id) { return mayEnd(state) ? state : nil }
        if id == openingID, state.isFirst {
            return isFreeAfterwards ? State(part: Self.reasoningPart, place: 0) : Self.free
        }
        if state.part == Self.delimiterPart { return id == delimiterID ? begin(automata.count - 1) : nil }
        let bytes = vocabulary.bytes(id)
        if bytes.isEmpty { return isFree(state) ? state : nil }
        guard vocabulary.isText(id) || isFree(state) || isFreeAfterwards && mayEnd(state) else { return nil }
        // A special token is no text: it cannot go on in a grammar.
        var at: State? = vocabulary.isText(id) ? state : leave(state)
        for byte in bytes {
            guard let here = at else { return nil }
            at = step(here, byte)
        }
        return at
    }

    private func leave(_ state: State) -> State { isFree(state) ? state : Self.free }

    private func begin(_ part: Int) -> State { State(part: Int32(part), place: automata[part].start) }

    /// The state after a byte; nil for one that is not allowed.
    private func step(_ state: State, _ byte: UInt8) -> State? {
        switch state.part {
        case Self.delimiterPart: return nil
        case Self.reasoningPart:
            switch closingSearch.step(state.place, byte) {
            case .at(let place): return State(part: Self.reasoningPart, place: place)
            case .found: return Self.free
            }
        case Self.freePart:
            switch search.step(state.place, byte) {
            case .at(let place):
                let isSpace = byte == 0x20 || (9...13).contains(byte)
                return State(part: Self.freePart, place: place, isFirst: state.isFirst && isSpace)
            case .found(let marker):
                if delimiterID != nil { return State(part: Self.delimiterPart, place: 0) }
                return begin(isFreeAfterwards ? marker : automata.count - 1)
            }
        default: break
        }
        let automaton = automata[Int(state.part)]
        if automaton.grammar.hasUniqueLists {
            if let next = automaton.next(state.grammar, byte) {
                return State(part: state.part, place: next.place, ways: next.ways)
            }
        } else {
            let place = automaton.next(state.place, byte)
            if place != PushdownAutomaton.dead { return State(part: state.part, place: place) }
        }
        return isFreeAfterwards && automaton.isComplete(state.grammar) ? step(Self.free, byte) : nil
    }

    /// The allowed tokens as bits, 64 of them in a word.
    package func mask(_ state: State) -> [UInt64] {
        if let known = masks[state] { return known }
        for automaton in automata { automaton.allowMore() }
        if masks.count >= Self.mostMasks { masks.removeAll(keepingCapacity: true) }
        guard let key = farFromLimit(state) else {
            let made = makeMask(state)
            masks[state] = made
            return made
        }
        if let known = stringMasks[key] { return known }
        let made = makeMask(state)
        stringMasks[key] = made
        return made
    }

    /// Where a string may go on for longer than any token, how long does not matter: what follows it says which mask it is.
    private func farFromLimit(_ state: State) -> StringPlace? {
        guard state.part >= 0, !isFreeAfterwards, !state.isFirst, state.ways.isEmpty else { return nil }
        let automaton = automata[Int(state.part)]
        let items = automaton.items(state.place)
        guard items.count == 1 else { return nil }
        let store = automaton.store
        let node = store[items[0].rest]
        guard node.kind == .then else { return nil }
        let head = store[node.first]
        guard head.kind == .repeated, head.first == plainCharacter[Int(state.part)], head.low == 0,
            head.high >= max(vocabulary.reach, TokenVocabulary.longestPlain)
        else { return nil }
        return StringPlace(
            part: state.part,
            following: .init(rest: node.second, place: items[0].place, returns: items[0].returns))
    }

    private func makeMask(_ state: State) -> [UInt64] {
        var mask = [UInt64](repeating: 0, count: (vocabulary.count + 63) / 64)
        func allow(_ id: Int32) { mask[Int(id) >> 6] |= 1 << UInt64(id & 63) }
        if state.part == Self.delimiterPart {
            if let delimiterID { allow(Int32(delimiterID)) }
            return mask
        }
        if isFree(state) || isFreeAfterwards {
            walkAnywhere(state, vocabulary.all, &mask)
        } else {
            let automaton = automata[Int(state.part)]
            let length = state.grammar.onlyPlace.flatMap { plainLength(state, $0, automaton) }
            if let length { mask = vocabulary.plain[min(length, TokenVocabulary.longestPlain)] }
            let tree = length == nil ? vocabulary.all : vocabulary.others
            if automaton.grammar.hasUniqueLists {
                walkAnywhere(state, tree, &mask)
            } else {
                Self.walk(automaton, state.place, tree, &mask)
            }
        }
        for (token, others) in vocabulary.twins where mask[Int(token) >> 6] >> UInt64(token & 63) & 1 == 1 {
            for other in others { allow(other) }
        }
        if isFree(state) || isFreeAfterwards {
            for id in vocabulary.special where !ends.contains(Int(id)) && next(state, Int(id)) != nil { allow(id) }
        }
        if let openingID, state.isFirst { allow(Int32(openingID)) }
        if mayEnd(state) { for id in ends where id < vocabulary.count { allow(Int32(id)) } }
        return mask
    }

    /// Within a JSON string without a pattern: how many characters may still follow as they are, if that says of every
    /// token of such characters whether it may come.
    private func plainLength(
        _ state: State, _ place: PushdownAutomaton.State, _ automaton: PushdownAutomaton
    ) -> Int? {
        let items = automaton.items(place)
        let store = automaton.store
        var longest: Int?
        for item in items {
            let node = store[item.rest]
            let head = node.kind == .then ? store[node.first] : node
            guard head.kind == .repeated, head.first == plainCharacter[Int(state.part)] else { continue }
            if head.high < 0 { return .max }
            // If only a quote follows, the tokens are exactly those that are short enough.
            if items.count == 1, node.kind == .then, store.beginsWith(UInt8(ascii: "\""), node.second) {
                longest = Int(head.high)
            }
        }
        return longest
    }

    /// Walks the tree of tokens as far as an automaton goes with it.
    private static func walk(
        _ automaton: PushdownAutomaton, _ state: PushdownAutomaton.State, _ tree: TokenVocabulary.Tree,
        _ mask: inout [UInt64]
    ) {
        withUnsafeTemporaryAllocation(of: PushdownAutomaton.State.self, capacity: tree.deepest + 1) { stack in
            stack[0] = state
            let (classes, classCount) = (automaton.classes, automaton.classCount)
            var rows = automaton.rows
            mask.withUnsafeMutableBufferPointer { mask in
                classes.withUnsafeBufferPointer { classes in
                    var node = 0
                    while node < tree.bytes.count {
                        let depth = Int(tree.depths[node])
                        let byteClass = Int(classes[Int(tree.bytes[node])])
                        var next = rows[Int(stack[depth]) * classCount + byteClass]
                        if next == PushdownAutomaton.unknown {
                            next = automaton.next(stack[depth], byteClass: byteClass)
                            rows = automaton.rows
                        }
                        guard next != PushdownAutomaton.dead else {
                            node = Int(tree.ends[node])
                            continue
                        }
                        let token = Int(tree.tokens[node])
                        if token >= 0 { mask[token >> 6] |= 1 << UInt64(token & 63) }
                        stack[depth + 1] = next
                        node += 1
                    }
                }
            }
        }
    }

    /// The same where a token may leave a grammar or begin one, or elements of a list must differ.
    private func walkAnywhere(_ state: State, _ tree: TokenVocabulary.Tree, _ mask: inout [UInt64]) {
        var stack = [State](repeating: state, count: tree.deepest + 1)
        var node = 0
        while node < tree.bytes.count {
            let depth = Int(tree.depths[node])
            guard let next = step(stack[depth], tree.bytes[node]) else {
                node = Int(tree.ends[node])
                continue
            }
            let token = Int(tree.tokens[node])
            if token >= 0 { mask[token >> 6] |= 1 << UInt64(token & 63) }
            stack[depth + 1] = next
            node += 1
        }
    }

    // MARK: Forced text

    /// The bytes of some tokens.
    package func text(of ids: [Int]) -> [UInt8] {
        ids.flatMap { vocabulary.isText($0) ? vocabulary.bytes($0) : [] }
    }

    /// The bytes that must come next, and whether they are the last of the text.
    package func forced(_ state: State) -> (bytes: [UInt8], isAll: Bool) {
        // Where reasoning may begin there is a choice.
        guard state.part >= 0, !state.isFirst else { return ([], false) }
        let automaton = automata[Int(state.part)]
        automaton.allowMore()
        var bytes: [UInt8] = []
        var at = state.grammar
        while bytes.count < Self.mostForced, let byte = automaton.onlyByte(at), let next = automaton.next(at, byte)
        {
            bytes.append(byte)
            at = next
        }
        return (bytes, !isFreeAfterwards && automaton.isFinished(at))
    }

    /// Whether an answer without reasoning must begin with a space.
    package var mustBeginWithSpace: Bool {
        start.part >= 0 && automata[Int(start.part)].onlyByte(start.place) == UInt8(ascii: " ")
    }

    /// Bytes that are taken as forced at once.
    private static let mostForced = 512
}
