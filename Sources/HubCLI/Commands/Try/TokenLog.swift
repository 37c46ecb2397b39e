import HubCore
import HubTokenizers
import InferenceKit

/// A token of an answer with its log probability and the alternatives, as `--logprobs` asks.
struct TokenLog: Sendable {
    var token: TokenLogprob
    var top: [TokenLogprob]

    /// nil for a chunk without a log probability.
    ///
    /// - Parameter tokenizer: knows the text of a token that is part of a character; nil for a remote model.
    init?(_ chunk: GenerationChunk, _ tokenizer: Tokenizer?) {
        guard let logprob = chunk.logprob else { return nil }
        let text = chunk.tokenId.flatMap { id in tokenizer?.decode([id]) } ?? chunk.text
        token = TokenLogprob(tokenId: chunk.tokenId, text: text, logprob: logprob)
        top = chunk.topLogprobs
    }

    static func table(_ tokens: [TokenLog]) -> Table {
        var table = Table([.init("TOKEN"), .init("LOGPROB", .right), .init("ALTERNATIVES", least: 20)])
        func shown(_ text: String) -> String { "\"\(SafeText.line(text.replacing("\n", with: "\\n")))\"" }
        for entry in tokens {
            let others = entry.top.map { "\(shown($0.text)) \(TryReport.rounded($0.logprob))" }
            table.add([
                Styled(shown(entry.token.text)), Styled(TryReport.rounded(entry.token.logprob)),
                Styled(others.joined(separator: "  "), .faint),
            ])
        }
        return table
    }

    var json: JSON {
        var entry = Self.json(token)
        entry["top"] = .array(top.map { .object(Self.json($0)) })
        return .object(entry)
    }

    private static func json(_ token: TokenLogprob) -> JSONObject {
        [
            "id": token.tokenId.map { .int(Int64($0)) }, "text": .string(token.text),
            "logprob": .double(token.logprob),
        ]
    }
}
