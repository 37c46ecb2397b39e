import HubCore
import HubGrammar

extension AnswerReading {
    /// Holds an answer to a grammar, after any reasoning.
    func constraint(_ grammar: OutputGrammar) -> OutputConstraint {
        if format.calls?.syntax == .channels {
            // gpt-oss thinks in other channels before the one of the answer.
            return .answer(grammar, reasoning: .init(closing: "<|channel|>final<|message|>"))
        }
        guard let reasoning = format.reasoning else { return .answer(grammar) }
        return .answer(
            grammar,
            reasoning: .init(opening: beginsInReasoning ? nil : reasoning.opening, closing: reasoning.closing))
    }

    /// Holds the calls of tools to their schemas; nil for a model that knows no calls, or none whose arguments are JSON
    /// behind a text that is known beforehand.
    ///
    /// - Parameter template: the chat template, for forms that changed with time.
    func callConstraint(_ template: String) throws(AIError) -> OutputConstraint? {
        guard let calls = format.calls, !tools.isEmpty else { return nil }
        let known = tools.map { (name: $0["function"]?["name"]?.string ?? "", parameters: Self.parameters($0)) }
        var sections: [OutputConstraint.Section] = []
        switch calls.syntax {
        case .json(let key):
            sections.append(.init(after: calls.opening, try OutputGrammar(calls: known, argumentsKey: key)))
        case .listOrNamed where !template.contains("[ARGS]"):
            let list = try OutputGrammar(calls: known, argumentsKey: "arguments", isList: true)
            sections.append(.init(after: calls.opening, list))
        case .listOrNamed:
            for tool in known {
                sections.append(.init(after: tool.name + "[ARGS]", try OutputGrammar(jsonSchema: tool.parameters)))
            }
        case .named(let separator):
            for tool in known {
                let grammar = try OutputGrammar(jsonSchema: tool.parameters)
                sections.append(.init(after: tool.name + separator, grammar))
                sections.append(.init(after: separator + tool.name + "\n```json", grammar))
            }
        case .parameters, .elements, .marked, .channels: return nil
        }
        return .sections(sections, after: opening)
    }

    /// The schema of a tool's arguments; any object for one with keywords that no model can be held to here.
    private static func parameters(_ tool: JSON) -> JSON {
        let any = JSON.object(["type": "object"])
        guard let schema = tool["function"]?["parameters"] else { return any }
        do throws(AIError) {
            _ = try OutputGrammar(jsonSchema: schema)
            return schema
        } catch {
            return any
        }
    }
}
