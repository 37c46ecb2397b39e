import HubCore
import Support
import Testing

@testable import RemoteKit

@Suite struct SSEParserTests {
    private func data(_ pieces: [[UInt8]]) throws -> [String] {
        var parser = SSEParser()
        var out: [String] = []
        for piece in pieces { out += try parser.take(piece).map(\.data) }
        return out
    }

    private static let texts = [
        "data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r",
    ]

    @Test(arguments: texts)
    func everyLineEndIsOneCutOrNot(_ text: String) throws {
        let bytes = Array(text.utf8)
        #expect(try data([bytes]) == ["a", "b"])
        #expect(try data(bytes.map { [$0] }) == ["a", "b"])
        for cut in 1..<bytes.count {
            #expect(try data([Array(bytes[..<cut]), Array(bytes[cut...])]) == ["a", "b"])
        }
    }

    @Test func dataLinesAreJoinedAndOneSpaceIsTaken() throws {
        #expect(try data([Array("data: {\ndata:  1}\ndata\n\n".utf8)]) == ["{\n 1}\n"])
    }

    @Test func commentsNamesAndTheMarkOfTheByteOrderAreIgnored() throws {
        let text = "\u{FEFF}data: a\n: ping\nid: 4\nretry: 10\nevent: x\n\n:\n\nevent: alone\n\n"
        var parser = SSEParser()
        var events: [SSEParser.Event] = []
        for byte in Array(text.utf8) { events += try parser.take([byte]) }
        #expect(events == [SSEParser.Event(name: "x", data: "a")])
    }

    @Test func aCharacterCutBetweenPiecesIsWhole() throws {
        let bytes = Array("data: 🙂é\n\n".utf8)
        for cut in 1..<bytes.count { #expect(try data([Array(bytes[..<cut]), Array(bytes[cut...])]) == ["🙂é"]) }
    }

    @Test func aBlockWithoutItsEmptyLineIsNotAnEvent() throws {
        var parser = SSEParser()
        #expect(try parser.take(Array("data: [DONE]\n".utf8)).isEmpty)
        #expect(parser.unclosed == "[DONE]")
        var none = SSEParser()
        #expect(try none.take(Array(": x\n".utf8)).isEmpty && none.unclosed == nil)
    }

    @Test func anEventWithoutEndIsAnError() {
        var parser = SSEParser(mostBytes: 100)
        #expect(throws: AIError.self) { try parser.take(Array(repeating: UInt8(ascii: "x"), count: 101)) }
        var lines = SSEParser(mostBytes: 100)
        #expect(throws: AIError.self) {
            for _ in 0..<100 { _ = try lines.take(Array("data: 12345\n".utf8)) }
        }
    }

    /// Any cutting of any bytes gives the same events as no cutting.
    @Test func randomCutsChangeNothing() throws {
        var random = SeededRandom(number: 11)
        let words = ["data: ", "data", ":", "\r", "\n", "\r\n", "event: e", "🙂", "x", " ", "[DONE]"]
        for _ in 0..<300 {
            let bytes = (0..<20).flatMap { _ in Array(words.randomElement(using: &random)!.utf8) }
            var pieces: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...rest.count, using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(try data(pieces) == data([bytes]))
        }
    }
}
