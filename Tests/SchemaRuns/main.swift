import HubCore
import HubGrammar
import InferenceKit

/// Answers each JSON Schema of standard input, one a line, with a model at temperature 1.5: a line of JSON with the text
/// and why it ended, or the error. The folder of the model is the argument.
let model = try await LanguageModel.open(folder: CommandLine.arguments[1])
var number: UInt64 = 0
while let line = readLine() {
    number += 1
    var answer: JSONObject = [:]
    do {
        let grammar = try OutputGrammar(jsonSchema: try JSON.parse(line))
        let config = GenerateConfig(
            maxTokens: 400, temperature: 1.5, topP: nil, seed: number, constraint: .answer(grammar))
        let result = try await model.generate(prompt: "To be", config: config).collectWithMetadata()
        answer = [
            "text": .string(result.text), "finish_reason": .string(result.finishReason.rawValue),
            "tokens": .int(Int64(result.ids.count)),
        ]
    } catch {
        answer = ["error": .string("\(error)")]
    }
    print(JSON.object(answer).text())
}
