extension AnswerFormat {
    /// The beginning of a call, for an answer that must be one. It follows the prompt.
    ///
    /// - Parameters:
    ///   - name: the tool; nil for any, whose name the model writes.
    ///   - template: the chat template, for forms that changed with time.
    /// - Returns: nil for a model that knows no calls.
    func opening(calling name: String?, template: String) -> String? {
        guard let calls else { return nil }
        let start = calls.before + (calls.wrapping?.opening ?? "") + calls.opening
        switch calls.syntax {
        case .json(let arguments):
            let json = "{\"name\": \"" + (name.map { $0 + "\", \"\(arguments)\": " } ?? "")
            return mayBeBare ? json : start + "\n" + json
        case .listOrNamed:
            guard template.contains("[ARGS]") else {
                return start + " [{\"name\": \"" + (name.map { $0 + "\", \"arguments\": " } ?? "")
            }
            return start + (name.map { $0 + "[ARGS]" } ?? "")
        case .named(let separator):
            if calls.opening == "<|tool_call_begin|>" {
                return start + "functions." + (name.map { $0 + ":0" + separator } ?? "")
            }
            guard template.contains("```json") else { return start + (name.map { $0 + separator } ?? "") }
            return start + "function" + separator + (name.map { $0 + "\n```json\n" } ?? "")
        case .list(let nameKey, let arguments, let id):
            let number = id.map { "\"\($0)\": \"0\", " } ?? ""
            return start + "[{\(number)\"\(nameKey)\": \"" + (name.map { $0 + "\", \"\(arguments)\": " } ?? "")
        case .keyed: return start + "[{\"" + (name.map { $0 + "\": " } ?? "")
        case .python: return start + "[" + (name.map { $0 + "(" } ?? "")
        case .invocations:
            return (calls.wrapping?.opening ?? "") + "\n" + calls.opening + (name.map { $0 + "\">\n" } ?? "")
        case .parameters: return start + "\n<function=" + (name.map { $0 + ">\n" } ?? "")
        case .elements: return start + (name.map { $0 + "\n" } ?? "")
        case .marked: return start + "call:" + (name.map { $0 + "{" } ?? "")
        case .channels:
            return "<|channel|>commentary to=functions." + (name.map { $0 + " <|constrain|>json<|message|>" } ?? "")
        }
    }
}
