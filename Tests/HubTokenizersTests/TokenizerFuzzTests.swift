import HubCore
import Support
import Testing

@testable import HubTokenizers

/// Tokenizers that nobody wrote; scripts/fuzz draws millions of them.
@Suite struct TokenizerFuzzTests {
    /// A tokenizer.json of each kind, and SentencePiece's models.
    @Test func tokenizer() throws {
        let all = try Fixtures.json("goldens/tokenizer-parts.json")
        let documents = try #require(all["tokenizers"]?.array).compactMap { $0["json"] }.filter {
            $0.text().utf8.count < 20_000
        }
        let texts = documents.map { Array($0.text().utf8) }
        let models = try #require(all["sentencepiece"]?.array).compactMap {
            $0["model"]?.string.flatMap { Base64.bytes($0) }
        }.filter { $0.count < 20_000 }
        #expect(documents.count > 10 && !models.isEmpty)
        expect(
            Fuzz("tokenizer") { number in
                var random = SeededRandom(number: number)
                let at = random.below(documents.count)
                do throws(AIError) {
                    let tokenizer: Tokenizer
                    switch random.below(4) {
                    case 0: tokenizer = try Tokenizer(json: random.mutated(texts[at]), path: "f")
                    case 1:
                        let model = random.mutated(models[random.below(models.count)])
                        tokenizer = try Tokenizer(SentencePieceFile(model, path: "f").parts(), path: "f")
                    default:
                        tokenizer = try Tokenizer(json: Array(random.mutated(documents[at]).text().utf8), path: "f")
                    }
                    let ids = try tokenizer.encode("Hello  wörld 12 <s> 日本 \u{301}\u{0}x")
                    _ = tokenizer.decode(ids + [-1, .max, 1 << 31])
                } catch {
                    guard [.malformedModel, .unsupportedModel, .generationFailed].contains(error.code) else {
                        throw error
                    }
                }
            }, usual: 100)
    }
}
