import HubCore
import HubGrammar
import HubTokenizers

/// The cost of holding an answer to a JSON Schema, measured as grammar_peer.py measures llama.cpp's.
///
///     Benchmarks grammar FOLDER
enum GrammarTask {
    /// Runs the task if the first word names it; otherwise returns false.
    static func run(_ arguments: [String]) throws -> Bool {
        guard arguments.first == "grammar", arguments.count == 2 else { return false }
        let tokenizer = try Tokenizer(folder: arguments[1])
        guard let bytes = try FileSystem.contents(Path.join(arguments[1], "cases.json")),
            let cases = try JSON.parse(bytes).array
        else { throw AIError(.fileNotFound, "there is no cases.json in \(arguments[1])") }
        var texts = try tokenizer.texts()
        let end = texts.count
        texts.append(nil)
        let began = Clock.seconds
        let vocabulary = TokenVocabulary(texts: texts, special: [end: Array("<|end|>".utf8)])
        let prepared = Clock.seconds - began
        var (costs, starts): ([Double], [Double]) = ([], [])
        for example in cases {
            guard let schema = example["schema"], let ids = example["ids"]?.array?.compactMap(\.int) else {
                continue
            }
            let began = Clock.seconds
            let grammar = try OutputGrammar(jsonSchema: schema)
            let engine = try MaskEngine(.answer(grammar), vocabulary, ends: [end])
            starts.append(Clock.seconds - began)
            var state = engine.start
            for id in ids.map(Int.init) {
                let began = Clock.seconds
                let mask = engine.mask(state)
                let next = engine.next(state, id)
                costs.append(Clock.seconds - began)
                guard let next, mask[id >> 6] >> UInt64(id & 63) & 1 == 1 else {
                    throw AIError(.generationFailed, "token \(id) is not allowed by \(schema.text())")
                }
                state = next
            }
            guard engine.mayEnd(state) else { throw AIError(.generationFailed, "an answer is not complete") }
        }
        let result: JSONObject = [
            "mean_seconds": .double(costs.reduce(0, +) / Double(costs.count)),
            "worst_seconds": .double(costs.max() ?? 0),
            "start_seconds": .double(starts.max() ?? 0), "vocabulary_seconds": .double(prepared),
            "tokens": .int(Int64(costs.count)), "vocabulary": .int(Int64(vocabulary.count)),
        ]
        print(JSON.object(result).text())
        return true
    }
}
