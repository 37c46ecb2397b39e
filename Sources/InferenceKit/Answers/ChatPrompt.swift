import HubChatTemplates
import HubCore
import HubGrammar
import HubTokenizers
import ModelFormats

/// The prompt of a conversation's next turn, and how its answer is read.
struct ChatPrompt: Sendable {
    var text: String
    var reading: AnswerReading
    /// What the answer has to follow: the format that was asked for, or in calls the tools' schemas.
    var constraint: OutputConstraint?

    /// Renders a conversation.
    ///
    /// - Parameters:
    ///   - templates: the chat templates; nil for the model's own.
    ///   - folder: the model's.
    /// - Throws: ``ErrorCode/unsupportedModel`` for pictures and for a model without a chat template,
    ///   ``ErrorCode/invalidInput`` for options that the template does not know; what ``ChatTemplate/render(json:_:)``
    ///   throws.
    init(
        _ messages: [Message], _ options: ChatOptions, templates: ChatTemplates? = nil, folder: String,
        tokenizer: Tokenizer
    ) throws(AIError) {
        guard messages.allSatisfy({ $0.images.isEmpty }) else {
            throw AIError(
                .unsupportedModel, "\(Self.name(folder)): pictures are not read on this machine",
                context: .init(path: folder))
        }
        let chosen = if let templates { templates } else { try ChatTemplates.read(model: folder) }
        guard let templates = chosen else {
            throw .unsupported(folder, "the model has no chat template")
        }
        var tools = try options.checkedTools()
        if options.toolChoice == ToolChoice.none { tools = [] }
        let grammar = try options.responseFormat?.grammar()
        guard grammar == nil || tools.isEmpty else {
            throw AIError(.invalidInput, "a model on this machine takes tools or a form of its answer, not both")
        }
        let template = try templates.template(hasTools: !tools.isEmpty)
        let format = AnswerFormat(template: template, tokenizer: tokenizer)
        try Self.check(template, format, tools, model: Self.name(folder))
        var inputs = ChatTemplate.Options(variables: templates.specialTokens)
        var messages = messages
        TemplateTools.offer(tools, template, format, &inputs, &messages)
        if let effort = options.reasoningEffort {
            try Self.set(effort, template, format, &inputs.variables, model: Self.name(folder))
        }
        let rendered = try TemplateMessages.render(messages, template, format, inputs)
        reading = AnswerReading(format: format, tools: tools)
        if let reasoning = format.reasoning {
            reading.beginsInReasoning = rendered.text.trimmed.hasSuffix(reasoning.opening.trimmed)
        }
        text = rendered.text
        demand(options.toolChoice, template.source)
        constraint =
            if let grammar { reading.constraint(grammar) } else { try reading.callConstraint(template.source) }
    }

    /// What people call the model of a folder: the repository of a snapshot, else the folder's name.
    private static func name(_ folder: String) -> String {
        let parts = Path.parts(folder)
        guard let place = parts.lastIndex(of: "snapshots"), place > 0,
            let repository = Repository(folderName: String(parts[place - 1]))
        else { return Path.name(Path.withoutEnd(folder)) }
        return repository.description
    }

    /// - Throws: ``ErrorCode/invalidInput`` for tools that the template or this library does not know how to use.
    private static func check(
        _ template: ChatTemplate, _ format: AnswerFormat, _ tools: [JSON], model: String
    ) throws(AIError) {
        guard !tools.isEmpty else { return }
        guard TemplateTools.areKnown(template, format) else {
            throw AIError(
                .invalidInput, "\(model): the chat template knows no tools",
                advice: "leave them out, or choose a model that was trained to call tools",
                context: .init(path: template.path))
        }
        guard format.calls != nil else {
            throw AIError(
                .invalidInput,
                "\(model): the chat template shows tool calls in no form that can be read here",
                advice: "leave the tools out, or choose another model", context: .init(path: template.path))
        }
    }

    /// Says how much the model reasons, by the variable that the template has for it: an effort, or a switch.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for an effort that the template does not know.
    private static func set(
        _ effort: ReasoningEffort, _ template: ChatTemplate, _ format: AnswerFormat, _ variables: inout JSONObject,
        model: String
    ) throws(AIError) {
        let word = effort.rawValue
        // Templates put the word in as it is; those that know more than the usual three compare it.
        let isKnown =
            [.low, .medium, .high].contains(effort) || template.source.contains("'\(word)'")
            || template.source.contains("\"\(word)\"")
        if template.has("reasoning_effort"), isKnown {
            variables["reasoning_effort"] = .string(word)
        } else if let name = ["enable_thinking", "thinking"].first(where: template.has) {
            variables[name] = .bool(effort != .none)
        } else if template.has("reasoning_effort") || effort != .none || format.reasoning != nil {
            let known =
                template.has("reasoning_effort")
                ? "takes the reasoning efforts low, medium and high" : "takes no reasoning effort"
            throw AIError(
                .invalidInput, "\(model): the chat template \(known), not \(word)",
                context: .init(path: template.path))
        }
    }

    /// Begins the call that is demanded.
    private mutating func demand(_ choice: ToolChoice?, _ template: String) {
        let name: String?
        switch choice {
        case .required?: name = nil
        case .tool(let tool)?: name = tool
        case nil, .auto?, ToolChoice.none?: return
        }
        guard var opening = reading.format.opening(calling: name, template: template) else { return }
        if reading.beginsInReasoning, let reasoning = reading.format.reasoning {
            opening = reasoning.closing + "\n\n" + opening
        }
        text += opening
        reading.opening = opening
    }
}

/// Messages in the forms that templates differ in.
enum TemplateMessages {
    static func json(
        _ messages: [Message], _ template: ChatTemplate, _ format: AnswerFormat, argumentsAreTexts: Bool = false
    ) -> [JSON] {
        // DeepSeek's templates join the arguments to a text.
        let hasTexts = argumentsAreTexts || format.calls?.syntax == .named(separator: "<｜tool▁sep｜>")
        let all = messages.map { json($0, argumentsAreTexts: hasTexts) }
        // Gemma 4 has results in the message with the calls.
        return template.source.contains("'tool_responses'") ? withResponses(all) : all
    }

    /// A turn that only calls tools has an empty text: some templates join it to others.
    private static func json(_ message: Message, argumentsAreTexts: Bool) -> JSON {
        guard message.role == .assistant, !message.toolCalls.isEmpty, var members = message.json.object else {
            return message.json
        }
        members["content"] = .string(message.content ?? "")
        if argumentsAreTexts {
            members["tool_calls"] = .array(
                (members["tool_calls"]?.array ?? []).map { call in
                    guard var parts = call.object, var function = parts["function"]?.object else { return call }
                    function["arguments"] = .string((function["arguments"] ?? .object([:])).text())
                    parts["function"] = .object(function)
                    return .object(parts)
                })
        }
        return .object(members)
    }

    /// Results of tools as `tool_responses` of the message that called them.
    private static func withResponses(_ messages: [JSON]) -> [JSON] {
        var out: [JSON] = []
        for message in messages {
            guard message["role"]?.string == "tool", var caller = out.last?.object,
                let calls = caller["tool_calls"]?.array
            else {
                out.append(message)
                continue
            }
            var responses = caller["tool_responses"]?.array ?? []
            let called = calls.indices.contains(responses.count) ? calls[responses.count]["function"]?["name"] : nil
            responses.append(
                .object(["name": message["name"] ?? called, "response": message["content"] ?? ""]))
            caller["tool_responses"] = .array(responses)
            out[out.count - 1] = .object(caller)
        }
        return out
    }
}
