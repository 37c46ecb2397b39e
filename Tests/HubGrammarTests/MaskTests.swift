import HubCore
import HubGrammar
import Support
import Testing

/// Masks over a vocabulary, and texts that are free in parts.
@Suite struct MaskTests {
    /// A mask says of every token what reading it byte by byte says.
    @Test func masksSayWhatTheBytesSay() throws {
        for number in 0..<40 {
            var source = RandomSchema(number: number)
            guard let grammar = try? OutputGrammar(jsonSchema: source.next()) else { continue }
            let engine = try Words.engine(.answer(grammar))
            var random = SeededRandom(number: number)
            var state = engine.start
            for _ in 0..<30 {
                let allowed = Words.allowed(engine, state)
                let taken = (0..<Words.vocabulary.count).filter { engine.next(state, $0) != nil }
                #expect(allowed == taken)
                let texts = allowed.filter { $0 != Words.end }
                guard !texts.isEmpty else { break }
                state = engine.next(state, texts[Int(random.next() % UInt64(texts.count))])!
            }
        }
    }

    /// Strings of a limited length take the short way, which must not differ from the long one.
    @Test func limitedStringsCountTheirCharacters() throws {
        let schema = try JSON.parse(#"{"type":"string","minLength":1,"maxLength":3}"#)
        let engine = try Words.engine(.answer(OutputGrammar(jsonSchema: schema)))
        var state = engine.next(engine.start, Int(UInt8(ascii: "\"")))!
        func allows(_ text: String) -> Bool {
            Words.allowed(engine, state).contains { $0 < Words.end && Words.texts[$0] == Array(text.utf8) }
        }
        #expect(allows("abc") && allows("the") && !allows(" the") && !allows("value") && !allows("\"}"))
        #expect(allows("öa") && allows("🙂") && !allows("\"") && allows("\\\"") && allows("\\u00"))
        state = engine.next(state, Int(UInt8(ascii: "a")))!
        #expect(!allows("abc") && allows("ab") && allows("\"") && !allows("123") && allows("12"))
        state = engine.next(state, 256 + 2)!
        #expect(Words.allowed(engine, state) == [Int(UInt8(ascii: "\""))])
        #expect(engine.forced(state).bytes == Array("\"".utf8) && engine.forced(state).isAll)
    }

    @Test func theEndIsAllowedWhereTheTextIsComplete() throws {
        let engine = try Words.engine(.answer(OutputGrammar(regularExpression: "ab?")))
        #expect(!Words.allowed(engine, engine.start).contains(Words.end))
        let state = engine.next(engine.start, Int(UInt8(ascii: "a")))!
        #expect(Words.allowed(engine, state) == [Int(UInt8(ascii: "b")), Words.end])
        #expect(engine.mayEnd(state) && !engine.isFinished(state))
        #expect(engine.isFinished(engine.next(state, Int(UInt8(ascii: "b")))!))
    }

    @Test func whatMustComeIsForced() throws {
        let schema = try JSON.parse(
            #"{"type":"object","properties":{"name":{"enum":["the"]}},"required":["name"]}"#)
        let engine = try Words.engine(.answer(OutputGrammar(jsonSchema: schema)))
        #expect(engine.forced(engine.start).bytes == Array(#"{"name":"#.utf8))
        var state = engine.start
        for byte in #"{"name":"#.utf8 { state = engine.next(state, Int(byte))! }
        state = engine.next(state, Int(UInt8(ascii: "\"")))!
        #expect(engine.forced(state) == (Array(#"the"}"#.utf8), true))
    }

    private func state(_ engine: MaskEngine, _ text: String, _ ids: Int...) -> MaskEngine.State? {
        var state: MaskEngine.State? = engine.start
        for byte in text.utf8 { state = state.flatMap { engine.next($0, Int(byte)) } }
        for id in ids { state = state.flatMap { engine.next($0, id) } }
        return state
    }

    /// Free text, then a call after its marker, then free text again; the marker may be a token or spelt.
    @Test func sectionsBeginWithTheirMarker() throws {
        let grammar = try OutputGrammar(
            jsonSchema: try JSON.parse(#"{"type":"object","additionalProperties":false}"#))
        let engine = try Words.engine(.sections([.init(after: "<call>", grammar)]))
        #expect(state(engine, "Hello {\"") != nil)
        let free = Words.allowed(engine, engine.start)
        #expect(free.contains(Words.end) && free.contains(Words.end + 1) && free.contains(Words.end + 2))
        let begun = try #require(state(engine, "Hi ", Words.end + 1))
        #expect(begun == state(engine, "Hi <call>"))
        let allowed = Words.allowed(engine, begun)
        #expect(!allowed.contains(Words.end) && !allowed.contains(Words.end + 2))
        #expect(Set(allowed.filter { $0 < 256 }.map { UInt8($0) }) == Set("{ \n\t\r".utf8))
        var whole = try #require(engine.next(begun, Int(UInt8(ascii: "{"))))
        whole = try #require(engine.next(whole, Int(UInt8(ascii: "}"))))
        #expect(Words.allowed(engine, whole).contains(Words.end + 2) && engine.mayEnd(whole))
        #expect(state(engine, "<call>{}\nmore <call>[") == nil && state(engine, "<call>{} more <call>{}.") != nil)
        // A token that ends the call and goes on behind it.
        #expect(engine.next(try #require(state(engine, "<call>{")), 256 + 10) != nil)
        // What a prompt has begun.
        let later = try Words.engine(.sections([.init(after: "<call>", grammar)], after: "<call>\n{"))
        #expect(Words.allowed(later, later.start).filter { $0 < 256 } == [Int(UInt8(ascii: "}"))])
    }

    @Test func anAnswerFollowsItsReasoning() throws {
        let grammar = try OutputGrammar(regularExpression: "yes|no")
        let open = try Words.engine(.answer(grammar, reasoning: .init(closing: "</think>")))
        #expect(!Words.allowed(open, open.start).contains(Words.end))
        #expect(state(open, "I think no.") != nil)
        let closed = try #require(state(open, "Well", Words.end + 4))
        #expect(Set(Words.allowed(open, closed).filter { $0 < 256 }.map { UInt8($0) }) == Set("yn \n\t\r".utf8))
        #expect(open.isFinished(try #require(state(open, "x</think>\n\nyes"))))
        let free = try Words.engine(.answer(grammar, reasoning: .init(opening: "<think>", closing: "</think>")))
        #expect(Set(Words.allowed(free, free.start)) == [121, 110, Words.end + 3])
        #expect(free.isFinished(try #require(state(free, "no"))))
        #expect(state(free, "", Words.end + 3, 120, Words.end + 4, 110) != nil)
    }

    /// A text that may be empty again and again begins once.
    @Test func reasoningBeginsAtTheBeginningAlone() throws {
        let grammar = try OutputGrammar(regularExpression: "[a-z]*")
        let engine = try Words.engine(.answer(grammar, reasoning: .init(opening: "<think>", closing: "</think>")))
        #expect(Words.allowed(engine, engine.start).contains(Words.end + 3))
        let later = try #require(state(engine, "a"))
        #expect(!Words.allowed(engine, later).contains(Words.end + 3) && engine.next(later, Words.end + 3) == nil)
        // Nothing is forced where reasoning may begin.
        let fixed = try OutputGrammar(regularExpression: "yes")
        let choice = try Words.engine(.answer(fixed, reasoning: .init(opening: "<think>", closing: "</think>")))
        #expect(choice.forced(choice.start).bytes.isEmpty)
    }

    /// Reasoning may speak of a marker.
    @Test func noSectionBeginsWithinReasoning() throws {
        let grammar = try OutputGrammar(
            jsonSchema: try JSON.parse(#"{"type":"object","additionalProperties":false}"#))
        let section = OutputConstraint.Section(after: "<call>", grammar)
        let begun = try Words.engine(.sections([section], reasoning: .init(closing: "</think>")))
        #expect(state(begun, "I use <call> for it</think><call>{}") != nil)
        #expect(state(begun, "I use <call> for it</think><call>[") == nil)
        let free = try Words.engine(
            .sections([section], reasoning: .init(opening: "<think>", closing: "</think>")))
        #expect(state(free, "\n", Words.end + 3, Words.end + 1, 120, Words.end + 4, Words.end + 1, 123) != nil)
        #expect(state(free, "\n", Words.end + 3, Words.end + 1, 120, Words.end + 4, Words.end + 1, 120) == nil)
        // Behind text it is no reasoning.
        #expect(state(free, "Hi ", Words.end + 3, Words.end + 1, 120) == nil)
    }

    /// A channel's name, then the token that begins its text, and nothing between them.
    @Test func aDelimiterIsForced() throws {
        let grammar = try OutputGrammar(regularExpression: "yes|no")
        let engine = try Words.engine(
            .answer(grammar, reasoning: .init(closing: "<call>the", delimiter: "</call>")))
        let closed = try #require(state(engine, "x", Words.end + 1, 256))
        #expect(Words.allowed(engine, closed) == [Words.end + 2] && engine.forced(closed).bytes.isEmpty)
        #expect(engine.next(closed, 121) == nil && engine.next(closed, Words.end) == nil)
        let begun = try #require(engine.next(closed, Words.end + 2))
        #expect(Set(Words.allowed(engine, begun).filter { $0 < 256 }.map { UInt8($0) }) == Set("yn \n\t\r".utf8))
    }

    @Test func anAnswerGoesOnFromItsBeginning() throws {
        let grammar = try OutputGrammar(
            calls: [(name: "the", parameters: .object(["type": "null"]))], argumentsKey: "parameters")
        let engine = try Words.engine(.answer(grammar, after: #"{"name": "the", "parameters": "#))
        #expect(Words.allowed(engine, engine.start) == [Int(UInt8(ascii: "n")), 256 + 12])
        #expect(engine.forced(engine.start) == (Array("null}".utf8), true))
    }

    @Test func aVocabularyWithoutAByteIsRefused() throws {
        let vocabulary = TokenVocabulary(texts: [[0x61], [0x62]], special: [:])
        #expect(throws: AIError.self) { try MaskEngine(.answer(.json), vocabulary, ends: []) }
    }
}
