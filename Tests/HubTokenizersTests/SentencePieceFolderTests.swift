import HubCore
import Support
import Testing

@testable import HubTokenizers

/// Folders with a SentencePiece model and settings beside it. What they give was written by
/// Tests/Peers/make_sentencepiece_goldens.py.
@Suite struct SentencePieceFolderTests {
    private static let golden = Result { try Fixtures.json("goldens/sentencepiece-folders.json") }

    private func folder(_ file: String, config: JSON? = nil, added: JSON? = nil) throws
        -> TemporaryFolder
    {
        let folder = try TemporaryFolder()
        let model = try #require(try Self.golden.get()[file]?.string.flatMap { Base64.bytes($0) })
        try folder.write(file, model)
        if let config { try folder.write("tokenizer_config.json", config) }
        if let added { try folder.write("added_tokens.json", added) }
        return folder
    }

    @Test func everyFolderAgrees() throws {
        let rows = try #require(try Self.golden.get()["folders"]?.array)
        #expect(rows.count == 7)
        for row in rows {
            let name = row["name"]?.string ?? ""
            let files = try #require(row["files"])
            let folder = try folder(
                try #require(row["file"]?.string), config: files["tokenizer_config.json"],
                added: files["added_tokens.json"])
            let tokenizer = try Tokenizer(folder: folder.path)
            for item in row["cases"]?.array ?? [] {
                let text = try #require(item.array?[0].string)
                let about: Comment = "\(name) \(text.debugDescription)"
                let ids = try tokenizer.encode(text)
                #expect(ids == item.array?[1].ids, about)
                #expect(tokenizer.decode(ids) == item.array?[2].string, about)
                #expect(tokenizer.decode(ids, skipSpecialTokens: true) == item.array?[3].string, about)
                var stream = tokenizer.stream()
                #expect(ids.map { stream.add($0) }.joined() + stream.finish() == item.array?[2].string, about)
            }
        }
    }

    @Test(arguments: [
        ("PegasusTokenizer", "ids"), ("PLBartTokenizerFast", "ids"), ("XLNetTokenizer", "puts"),
        ("BigBirdTokenizerFast", "puts"), ("GPTSw3Tokenizer", "rewrites"),
    ])
    func aClassThatDoesMoreThanTheModelSaysIsRefused(name: String, reason: String) async throws {
        let folder = try folder("spiece.model", config: try JSON.parse(#"{"tokenizer_class":"\#(name)"}"#))
        let error = try await thrown { try Tokenizer(folder: folder.path) }
        #expect(error.code == .unsupportedModel)
        #expect(error.message.contains(name) && error.message.contains(reason), "\(error.message)")
    }

    /// The first conversions of Llama spell its class otherwise.
    @Test func anOlderNameOfLlamasClassIsTheSame() throws {
        func ids(_ name: String) throws -> [Int] {
            let config = try JSON.parse(#"{"tokenizer_class":"\#(name)","add_prefix_space":false}"#)
            let folder = try folder("tokenizer.model", config: config)
            return try Tokenizer(folder: folder.path).encode("hi</s>hi")
        }
        #expect(try ids("LLaMATokenizer") == ids("LlamaTokenizer"))
        #expect(try ids("LLaMATokenizer") != ids("OtherTokenizer"))
    }

    @Test func anAddedTokenThatContradictsTheModelIsMalformed() async throws {
        func fault(_ config: String, _ added: String = "{}") async throws -> String {
            let folder = try folder(
                "tokenizer.model", config: try JSON.parse(config), added: try JSON.parse(added))
            let error = try await thrown { try Tokenizer(folder: folder.path) }
            #expect(error.code == .malformedModel)
            return error.message
        }
        #expect(try await fault(#"{"added_tokens_decoder":{"5":{"content":"<|x|>"}}}"#).contains("5"))
        #expect(try await fault(#"{"added_tokens_decoder":{"9":{"content":"<s>"}}}"#).contains("<s>"))
        #expect(try await fault(#"{"added_tokens_decoder":{"-1":{"content":"<|x|>"}}}"#).contains("<|x|>"))
        #expect(try await fault(#"{"added_tokens_decoder":{"500":{}}}"#).contains("content"))
        #expect(try await fault("{}", #"{"<|x|>":"a"}"#).contains("<|x|>"))
        #expect(try await fault(#"{"add_eos_token":true,"eos_token":"<|x|>"}"#).contains("eos_token"))
    }
}
