import Support
import Testing

@testable import HubCore

/// A document parsed in two parts is the document.
@Suite struct JSONPartsTests {
    /// What is read of a document with the lists `merges` and `vocab` in its member `model`, and whether in parts.
    private func parts(_ text: String) throws -> (document: JSON, isDivided: Bool) {
        var bytes = Array(text.utf8)
        defer { #expect(bytes == Array(text.utf8)) }
        return try JSONCursor.read(&bytes, dividing: "model", ["merges", "vocab"]) { root, rest in
            guard let rest else { return (root.json, false) }
            var members = try #require(root.json.object).members
            var model = try #require(members.removeLast().value.object).members
            let name = String(decoding: rest.list, as: UTF8.self)
            var list = try #require(model.removeLast().value.array)
            for part in rest.elements { list += try #require(part.json.array) }
            func named(_ members: [(key: JSONCursor.Text, value: JSONCursor)]) -> [(key: String, value: JSON)] {
                members.map { (String(decoding: $0.key, as: UTF8.self), $0.value.json) }
            }
            model += [(name, .array(list))] + named(rest.members)
            members += [("model", .object(JSONObject(model)))] + named(rest.rootMembers)
            return (.object(JSONObject(members)), true)
        }
    }

    private static func list(_ element: (Int) -> String, count: Int, separator: String = ",\n") -> String {
        "[" + (0..<count).map(element).joined(separator: separator) + "]"
    }

    /// So long that a few thousand elements are more than a mebibyte.
    private static let long = String(repeating: "x", count: 500)
    private static let lists = [
        list({ #"["\#($0)\#(long)", "b"]"# }, count: 2500), list({ #"  ["\#(long)\#($0)",-1.5]"# }, count: 2500),
        list({ #"["a\#($0)","\#(long)"]"# }, count: 2500, separator: ","),
        list({ #""a \#(long)\#($0)""# }, count: 2500), list({ #""\#(long)]},{\"\#($0)\", [""# }, count: 2500),
        list({ #"[["\#(long)\#($0)", "é\\"]]"# }, count: 2500),
    ]

    @Test(arguments: lists.indices, ["merges", "vocab"])
    func aListOfManyElementsIsDivided(index: Int, name: String) throws {
        let list = Self.lists[index]
        for text in [
            #"{"version":"1.0","model":{"type":"BPE","\#(name)":\#(list)}}"#,
            #"{"model":{"\#(name)":\#(list),"x":[1],"":{}}, "model2" : {"merges":[]}, "":[[]]}"#,
        ] {
            let (document, isDivided) = try parts(text)
            #expect(isDivided)
            #expect(try JSON.parse(text) == document)
        }
    }

    @Test func whatIsNoSuchListIsParsedWhole() throws {
        let list = Self.lists[0]
        for text in [
            #"{"model":{"merges":[["a", "b"]]}}"#, list, #"{"merges":\#(list)}"#, #"{"model":{"other":\#(list)}}"#,
            #"{"model":{"merges":[\#(list)]}}"#, #"{"model":{"x":{"merges":\#(list)}}}"#,
            #"{"other":{"merges":\#(list)}}"#, #"{"model":{"merges":\#(list),"merges":[["c", "d"]]}}"#,
            #"{"model":{"merges":\#(list)},"model":{"merges":[]}}"#,
            // The commas are within a string.
            #"{"model":{"merges":["\#(String(repeating: #"[],\n"#, count: 300_000))"]}}"#,
        ] {
            let (document, isDivided) = try parts(text)
            #expect(!isDivided)
            #expect(try JSON.parse(text) == document)
        }
    }

    @Test func whatIsNoDocumentIsRefusedAsAWhole() throws {
        let list = Self.lists[0]
        for text in [
            #"{"model":{"merges":\#(list)}"#, #"{"model":{"merges":\#(list)}}}"#,
            #"{"model":{"merges":\#(list),}}"#,
            #"{"model":{"merges":[,\#(list.dropFirst())}}"#, #"{"model":{"merges":\#(list)}} x"#,
            #"{"model":{"merges":\#(list.replacing("\"b\"", with: "\n", maxReplacements: 1))}}"#,
        ] {
            let whole = #expect(throws: JSONError.self) { try JSON.parse(text) }
            let divided = #expect(throws: JSONError.self) { try parts(text) }
            #expect(whole == divided)
        }
    }
}
