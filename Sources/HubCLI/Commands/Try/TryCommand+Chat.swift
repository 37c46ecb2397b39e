import HubChatTemplates
import HubCore
import InferenceKit

/// Chat templates, and texts from files.
extension TryCommand {
    /// The conversation that begins with a prompt, for the chat template; nil for a raw prompt.
    static func rendering(
        ofPrompt prompt: String, _ request: Request, _ path: String, _ context: Context
    ) async throws -> String? {
        if request.raw { return nil }
        guard let templates = try await templates(request, path, context) else {
            for (isGiven, flag) in [(request.chat, "chat"), (request.system != nil, "system")] where isGiven {
                throw AIError(
                    .invalidInput, "\(path) has no chat template",
                    advice: "leave out --\(flag), or name a --template")
            }
            return nil
        }
        let messages = (request.system.map { [Message.system($0)] } ?? []) + [.user(prompt)]
        return try await Blocking.run { try templates.render(json: messages.map(\.json)).text }
    }

    /// A conversation on the terminal.
    static func converse(
        _ target: ModelPlace, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws {
        let model = try await open(target, request, &report, context)
        try checkTalks(model, request, report)
        guard let templates = try await templates(request, target.path, context) else {
            throw AIError(
                .invalidInput, "\(target.path) has no chat template", advice: "name one with --template FILE")
        }
        var session = try ChatSession(
            Conversation(
                .local(model, templates), names: (target.id, "local"), request.config, system: request.system),
            context)
        try await session.run()
    }

    /// What the chat template makes of the conversation in a file.
    static func rendering(
        of file: String, _ request: Request, _ path: String, _ context: Context
    ) async throws -> String {
        let document = try await json(file, context)
        guard var variables = document.object, let messages = document["messages"]?.array else {
            throw AIError(.invalidInput, "\(file.printable) is not a JSON object with messages")
        }
        guard let templates = try await templates(request, path, context) else {
            throw AIError(.invalidInput, "\(path) has no chat template", advice: "name one with --template FILE")
        }
        var options = ChatTemplate.Options(
            tools: document["tools"]?.array, documents: document["documents"]?.array,
            addsGenerationPrompt: document["add_generation_prompt"]?.bool ?? false)
        for key in ["messages", "tools", "documents", "add_generation_prompt"] { variables[key] = nil }
        options.variables = variables
        return try await Blocking.run { [options] in try templates.render(json: messages, options).text }
    }

    /// The template of `--template`, else the model's own; nil if there is none.
    static func templates(
        _ request: Request, _ path: String, _ context: Context
    ) async throws -> ChatTemplates? {
        let own = try await Blocking.run { try ChatTemplates.read(model: path) }
        guard let name = request.template else { return own }
        let source = try await text(name, context)
        return ChatTemplates(
            source, path: context.environment.expand(name), specialTokens: own?.specialTokens ?? [:])
    }

    /// The texts of the list in a file; none if no file was named.
    /// The texts of a file: a JSON list of strings, or lines.
    static func texts(_ file: String?, _ context: Context) async throws -> [String] {
        guard let file else { return [] }
        // Read once: it may be a pipe.
        let (bytes, path) = try await context.input(file)
        let whole = try text(bytes, file, path)
        let isJSON = whole.first { !$0.isWhitespace } == "[" || file.lowercased().hasSuffix(".json")
        if isJSON { return try list(try json(bytes, file, path), file) }
        return whole.split(whereSeparator: \.isNewline).map(String.init)
    }

    private static func list(_ json: JSON, _ file: String) throws -> [String] {
        let fault = AIError(.invalidInput, "\(file.printable) is not a JSON list of strings")
        guard let list = json.array else { throw fault }
        return try list.map { entry in
            guard let text = entry.string else { throw fault }
            return text
        }
    }

    /// The text of a file.
    static func text(_ file: String, _ context: Context) async throws -> String {
        let (bytes, path) = try await context.input(file)
        return try text(bytes, file, path)
    }

    private static func text(_ bytes: [UInt8], _ file: String, _ path: String) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw AIError(.invalidInput, "\(file.printable) is not UTF-8", context: .init(path: path))
        }
        return text
    }

    private static func json(_ file: String, _ context: Context) async throws -> JSON {
        let (bytes, path) = try await context.input(file)
        return try json(bytes, file, path)
    }

    private static func json(_ bytes: [UInt8], _ file: String, _ path: String) throws -> JSON {
        do throws(JSONError) { return try JSON.parse(bytes) } catch {
            throw AIError(
                .invalidInput, "\(file.printable) is \(error)",
                advice: "hub help tokenize says what the file holds",
                context: .init(path: path))
        }
    }
}
