import HubCore
import HubGrammar

extension AnswerReading {
    /// Holds an answer to a grammar, after any reasoning.
    func constraint(_ grammar: OutputGrammar) -> OutputConstraint {
        if format.calls?.syntax == .channels {
            // gpt-oss thinks in other channels before the one of the answer.
            // The delimiter is forced: models would name the type of the answer before it.
            return .answer(grammar, reasoning: .init(closing: "<|channel|>final", delimiter: "<|message|>"))
        }
        return .answer(grammar, reasoning: brackets)
    }

    /// The reasoning that may come first, or that the prompt has begun.
    private var brackets: OutputConstraint.Reasoning? {
        format.reasoning.map { .init(opening: beginsInReasoning ? nil : $0.opening, closing: $0.closing) }
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
        case .json(let key) where format.mayBeBare && !opening.isEmpty:
            // The call that is demanded is the whole answer: behind text it would be none.
            let grammar = try OutputGrammar(calls: known, argumentsKey: key)
            return .answer(grammar, reasoning: brackets, after: opening)
        case .json(let key):
            sections.append(.init(after: calls.opening, try OutputGrammar(calls: known, argumentsKey: key)))
            // A call without its marker, as Llama writes it.
            for tool in format.mayBeBare ? known : [] {
                let grammar = try OutputGrammar(jsonSchema: tool.parameters)
                sections.append(.init(after: "{\"name\": \"\(tool.name)\", \"\(key)\":", grammar))
            }
        case .list(let name, let key, let id):
            // A tool that stands for no call takes no arguments.
            let none = calls.none.map { (name: $0, parameters: JSON.object(["enum": .array([.object([:])])])) }
            let list = try OutputGrammar(
                calls: known + none, nameKey: name, argumentsKey: key, idKey: id, isList: true)
            sections.append(.init(after: calls.opening, list))
        case .keyed: sections.append(.init(after: calls.opening, try OutputGrammar(keyedCalls: known)))
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
        case .channels:
            for tool in known {
                let grammar = try OutputGrammar(jsonSchema: tool.parameters)
                for head in [" <|constrain|>json", "<|channel|>commentary <|constrain|>json", " json", ""] {
                    sections.append(.init(after: "to=functions.\(tool.name)\(head)<|message|>", grammar))
                }
            }
        case .parameters, .elements, .marked, .python, .invocations: return nil
        }
        return .sections(sections, after: opening, reasoning: brackets)
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
