import HubCore
import Support
import Testing

@testable import HubTokenizers

/// Folders of encoders with a vocabulary and settings, and without a tokenizer.json. What they give was written by
/// Tests/Peers/make_folder_goldens.py.
@Suite struct VocabularyFolderTests {
    private static let golden = Result { try Fixtures.json("goldens/tokenizer-folders.json") }

    private func folder(_ row: JSON) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, place) in row["files"]?.object?.members ?? [] {
            let text = try #require(try Self.golden.get()["files"]?[place.string ?? ""]?.string)
            try folder.write(
                name, name.hasSuffix(".model") ? try #require(Base64.bytes(text)) : Array(text.utf8))
        }
        return folder
    }

    private static let names = (try? golden.get())?["folders"]?.array?.compactMap { $0["name"]?.string } ?? []

    @Test func aClassThatIsUnknownIsNamed() async throws {
        let folder = try TemporaryFolder()
        try folder.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n")
        try folder.write("tokenizer_config.json", #"{"tokenizer_class":"TapasTokenizer"}"#)
        let error = try await thrown { try Tokenizer(folder: folder.path) }
        #expect(error.code == .unsupportedModel && error.message.contains("TapasTokenizer"), "\(error.message)")
    }

    @Test(arguments: [
        ("vocab.txt", "bert", [0xFF, 0xFE, 0x0A], "UTF-8"), ("vocab.json", "roberta", Array("[1]".utf8), "object"),
        ("vocab.json", "roberta", Array(#"{"a":-1}"#.utf8), "id"),
        ("vocab.json", "roberta", Array("{".utf8), "JSON"),
        ("merges.txt", "roberta", Array("a nothing\n".utf8), "merge 0"),
        ("merges.txt", "roberta", Array("a b c\n".utf8), "merge 0"),
        ("sentencepiece.bpe.model", "xlm-roberta", [0x0A, 0xFF, 0xFF], "damaged"),
    ]) func aBrokenVocabularyIsMalformed(file: String, name: String, content: [UInt8], fault: String) async throws {
        let row = try #require(try Self.golden.get()["folders"]?.array?.first { $0["name"]?.string == name })
        let folder = try folder(row)
        try folder.write(file, content)
        let error = try await thrown { try Tokenizer(folder: folder.path) }
        #expect(error.code == .malformedModel && error.message.contains(fault), "\(error.message)")
    }

    /// As if the settings named no token.
    @Test func anEmptySpecialTokenMatchesNothing() throws {
        for name in ["xlm-roberta", "bert"] {
            let row = try #require(try Self.golden.get()["folders"]?.array?.first { $0["name"]?.string == name })
            let folder = try folder(row)
            try folder.write("tokenizer_config.json", #"{"mask_token":""}"#)
            let tokenizer = try Tokenizer(folder: folder.path)
            #expect(try tokenizer.encode("a b") == tokenizer.encode("a b", nil, withOffsets: true).ids)
        }
    }

    @Test(arguments: [
        (#"{"model_max_length":512}"#, 512), (#"{"model_max_length":1e30}"#, nil), ("{}", nil),
        (#"{"model_max_length":1000000000000000019884624838656}"#, nil),
    ]) func theLimitOfAModelIsRead(config: String, limit: Int?) throws {
        let folder = try TemporaryFolder()
        try folder.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n")
        try folder.write("tokenizer_config.json", config)
        #expect(try Tokenizer(folder: folder.path).maxTokens == limit)
    }

    @Test func everyKindIsThere() { #expect(Self.names.count == 32) }

    @Test(arguments: names) func aFolderAgrees(name: String) throws {
        let row = try #require(
            try Self.golden.get()["folders"]?.array?.first { $0["name"]?.string == name })
        let folder = try folder(row)
        let tokenizer = try Tokenizer(folder: folder.path)
        for item in row["cases"]?.array ?? [] {
            let first = try #require(item["first"]?.string)
            let about: Comment = "\(item.text())"
            let strategy: TruncationStrategy = item["strategy"] == "only_first" ? .onlyFirst : .longestFirst
            for withOffsets in [false, true] {
                func encode() throws -> TokenizedText {
                    try tokenizer.encode(
                        first, item["second"]?.string, maxTokens: item["limit"]?.int.map(Int.init),
                        cutting: strategy, withOffsets: withOffsets)
                }
                if item["fails"] != nil {
                    #expect(throws: AIError.self, about) { try encode() }
                    continue
                }
                let tokens = try encode()
                #expect(tokens.ids == item["ids"]?.ids, about)
                #expect(tokens.types == item["types"]?.ids, about)
                if withOffsets, let offsets = item["offsets"]?.array {
                    #expect(tokens.offsets?.map { [$0.lowerBound, $0.upperBound] } == offsets.map(\.ids), about)
                }
            }
            if item["second"] == nil, let ids = item["ids"]?.ids {
                #expect(try tokenizer.encode(first) == ids, about)
                #expect(Array(tokenizer.decode(ids).utf8) == item["decoded"]?.string.map { Array($0.utf8) }, about)
                let skipped = tokenizer.decode(ids, skipSpecialTokens: true)
                #expect(Array(skipped.utf8) == item["skipped"]?.string.map { Array($0.utf8) }, about)
            }
        }
    }
}
