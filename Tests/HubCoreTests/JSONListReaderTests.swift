import HubCore
import Testing

@Suite struct JSONListReaderTests {
    /// What the reader hands over of a text that arrives in pieces.
    private func elements(_ text: String, pieces: Int, batch: Int = 1, most: Int = 1 << 20) throws -> [JSON] {
        var reader = JSONListReader(mostElementBytes: most, batchBytes: batch)
        var found: [JSON] = []
        let bytes = Array(text.utf8)
        var at = 0
        while at < bytes.count {
            let piece = bytes[at..<min(at + pieces, bytes.count)]
            try piece.withUnsafeBytes { piece in
                try reader.take(piece) { found += try #require(try JSON.parse($0).array) }
            }
            at += pieces
        }
        try reader.finish()
        return found
    }

    @Test(arguments: [
        "[]", " [ ] \n", "[1]", "[1,2,3]", #"[{"a":[1,{"b":",]}"}]},"x\"],[",[[],[]]]"#, "[\"\\\\\",\"é,😀\"]",
        "\n[ 1 ,\t{\"k\" : null} , [ ] ]\r\n",
    ])
    func aListIsTheSameHoweverItArrives(text: String) throws {
        let whole = try JSON.parse(text).array
        for batch in [1, 4, 1 << 20] {
            for pieces in [1, 2, 3, 7, 1000] { #expect(try elements(text, pieces: pieces, batch: batch) == whole) }
        }
    }

    @Test(arguments: [
        "", " ", "[", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[1}", "[1]]", "[1] 2", "[\"a", "[{]", "[1 2]",
        "[nul]",
        "[\"\u{1}\"]", "[[1,2]", "{\"a\":[1]}", "null", "<html>", "x",
    ])
    func whatIsNotAListIsRefusedHoweverItArrives(text: String) {
        for batch in [1, 1 << 20] {
            for pieces in [1, 3, 1000] {
                #expect(throws: (any Error).self) { try elements(text, pieces: pieces, batch: batch) }
            }
        }
    }

    @Test(arguments: [
        "[1,\"aaaaaaaaaaaaaaaaaaaaaaaa\"]", "[[[[[[[[[[[[[[[[[[[[[[[[", "[1,                         2]",
    ])
    func aLargeElementIsRefused(text: String) {
        for pieces in [1, 5, 1000] {
            #expect(throws: JSONListReader.Fault.elementTooLarge) { try elements(text, pieces: pieces, most: 16) }
        }
    }

    @Test func aDocumentOfManyValuesIsRefusedBeforeTheyAreMade() throws {
        let text = "[" + String(repeating: "0,", count: 999) + "0]"
        #expect(throws: JSONError.tooManyValues) { try JSON.parse(Array(text.utf8), mostWords: 2000) }
        #expect(try JSON.parse(Array(text.utf8), mostWords: 2010).array?.count == 1000)
        // Numbers that are rewritten first count too.
        let long = "[123456789012345678901234567890," + text + "]"
        #expect(throws: JSONError.tooManyValues) { try JSON.parse(Array(long.utf8), mostWords: 2000) }
    }
}
