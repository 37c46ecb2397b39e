import HubCore
import Support
import Testing

@testable import HubTokenizers

/// Folders with a tiktoken.model, against tiktoken as Tests/Peers/make_rank_goldens.py wrote it down.
@Suite struct RankFileTests {
    private static let golden = Result { try Fixtures.json("goldens/tokenizer-ranks.json") }

    private func folder(_ file: String? = nil, _ config: String? = nil) throws -> TemporaryFolder {
        let golden = try Self.golden.get()
        let folder = try TemporaryFolder()
        let ranks = try file ?? #require(golden["tiktoken.model"]?.string)
        try folder.write("tiktoken.model", Array(ranks.utf8))
        let settings = try config.map { try JSON.parse($0) } ?? #require(golden["tokenizer_config.json"])
        try folder.write("tokenizer_config.json", settings)
        return folder
    }

    @Test func textsBecomeTheSameTokens() throws {
        let folder = try folder()
        let tokenizer = try Tokenizer(folder: folder.path)
        let cases = try #require(try Self.golden.get()["cases"]?.array)
        #expect(cases.count >= 7)
        for entry in cases {
            let text = try #require(entry["text"]?.string)
            let ids = try tokenizer.encode(text)
            #expect(ids == entry["ids"]?.ids, "\(text.debugDescription)")
            #expect(tokenizer.decode(ids) == text)
        }
        #expect(tokenizer.id(of: "[EOS]").map(tokenizer.isSpecial) == true)
    }

    /// By config.json, where the settings name no class.
    @Test func theModelsTypeIsEnough() throws {
        let folder = try folder(nil, "{}")
        try folder.write("config.json", #"{"model_type":"kimi_k2"}"#)
        #expect(try Tokenizer(folder: folder.path).encode("hello").count < 5)
    }

    @Test(arguments: [
        ("YQ== 0\nYg==\n", "line 2 is not a token and its rank"), ("YQ== 0\nYg== 0\n", "line 2 is not"),
        ("YQ== 1\n", "line 1 is not"), ("=== 0\n", "line 1 is not"), ("YQ== -1\n", "line 1 is not"),
    ]) func aBrokenFileIsMalformed(file: String, fault: String) async throws {
        let folder = try folder(file, #"{"tokenizer_class":"TikTokenTokenizer"}"#)
        let error = try await thrown { try Tokenizer(folder: folder.path) }
        #expect(error.code == .malformedModel && error.message.contains(fault), "\(error.message)")
    }

    @Test func aTokenBelowThoseOfTheFileIsMalformed() async throws {
        let folder = try folder(
            "YQ== 0\nYg== 1\n",
            #"{"tokenizer_class":"TikTokenTokenizer","added_tokens_decoder":{"1":{"content":"[BOS]"}}}"#)
        let error = try await thrown { try Tokenizer(folder: folder.path) }
        #expect(error.code == .malformedModel && error.message.contains("no valid token 1"), "\(error.message)")
    }
}
