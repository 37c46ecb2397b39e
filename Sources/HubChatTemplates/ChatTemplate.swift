public import HubCore
import ModelFormats

/// A chat template: Jinja from a model's repository that renders a conversation as one text.
///
/// It is rendered as transformers' `apply_chat_template` does, within limits of time, depth and memory. A template can
/// access only its own text and its variables.
public struct ChatTemplate: Sendable {
    /// The inputs of a template besides the messages.
    public struct Options: Sendable {
        /// The tools that the model may call, as JSON schemas; nil for none.
        public var tools: [JSON]?
        /// Documents to answer from, each with `title` and `text`; nil for none.
        public var documents: [JSON]?
        /// Whether the text ends with the start of the assistant's turn.
        public var addsGenerationPrompt: Bool
        /// Further variables: `bos_token`, `enable_thinking` and others.
        public var variables: JSONObject

        /// The inputs of a template besides the messages.
        public init(
            tools: [JSON]? = nil, documents: [JSON]? = nil, addsGenerationPrompt: Bool = true,
            variables: JSONObject = [:]
        ) {
            self.tools = tools
            self.documents = documents
            self.addsGenerationPrompt = addsGenerationPrompt
            self.variables = variables
        }
    }

    /// The result of a rendering.
    public struct Rendering: Sendable, Hashable {
        /// The text for the tokenizer, which must not add special tokens to it.
        public var text: String
        /// The ranges of the template's generation blocks (text to train on), in Unicode scalars; empty if there are
        /// none.
        public var generated: [Range<Int>]
    }

    /// The file it comes from, for errors.
    public let path: String
    /// The template's source text.
    public let source: String
    private let program: Jinja.Program

    /// Parses a template.
    ///
    /// - Parameter path: The file it comes from, for errors.
    /// - Throws: ``ErrorCode/malformedModel`` with the line and the reason; ``ErrorCode/unsupportedModel`` for Jinja
    ///   features not implemented here.
    public init(_ source: String, path: String) throws(AIError) {
        guard source.utf8.count <= Self.longest else {
            throw .malformed(path, "the chat template has more than \(Self.longest) bytes")
        }
        self.path = path
        self.source = source
        do throws(Jinja.Fault) {
            program = try Jinja.Parser.program(source)
        } catch {
            throw Self.error(error, path)
        }
    }

    /// The longest known template has some 30,000 bytes.
    private static let longest = 1 << 20

    /// Whether the template has a variable of this name: `tools`, `enable_thinking`.
    package func has(_ variable: String) -> Bool { program.names.contains(variable) }

    /// Renders a conversation. Typically under a millisecond; a hostile template is stopped after five seconds.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` with the template's own message if it rejects the conversation, and for one
    ///   that is too deep or too large;
    ///   ``ErrorCode/malformedModel`` with the line if it cannot be rendered or exceeds a limit;
    ///   ``ErrorCode/unsupportedModel`` for Jinja features not implemented here; ``ErrorCode/cancelled`` if the task
    ///   was cancelled.
    public func render(_ messages: [Message], _ options: Options = Options()) throws(AIError) -> Rendering {
        try render(json: messages.map(\.json), options)
    }

    /// Renders a conversation whose messages are JSON objects with any members.
    public func render(json messages: [JSON], _ options: Options = Options()) throws(AIError) -> Rendering {
        try render(json: messages, options, limits: Jinja.Limits(), clock: .now)
    }

    package func render(
        json messages: [JSON], _ options: Options, limits: Jinja.Limits, clock: TemplateClock
    ) throws(AIError) -> Rendering {
        var variables = options.variables
        variables["messages"] = .array(messages.map { Self.withReasoning(Self.withoutNulls($0)) })
        variables["tools"] = options.tools.map { .array($0) } ?? .null
        variables["documents"] = options.documents.map { .array($0) } ?? .null
        variables["add_generation_prompt"] = .bool(options.addsGenerationPrompt)
        return try render(variables: variables, limits: limits, clock: clock)
    }

    /// Renders with exactly these variables.
    func render(variables: JSONObject, limits: Jinja.Limits, clock: TemplateClock) throws(AIError) -> Rendering {
        let run = Jinja.Run(program, limits, clock)
        defer { run.end() }
        do throws(Jinja.Fault) { try run.start(program, variables) } catch {
            throw Self.inputError(error, path)
        }
        do throws(Jinja.Fault) {
            _ = try run.run(program.body, run.root)
        } catch {
            throw Self.error(error, path)
        }
        return Rendering(text: Jinja.Text(run.output).string, generated: run.generated)
    }

    /// Removes null members of a message, because templates test for absent ones.
    private static func withoutNulls(_ message: JSON) -> JSON {
        guard let members = message.object?.members, members.contains(where: { $0.value == .null }) else {
            return message
        }
        return .object(JSONObject(members.filter { $0.value != .null }.map { ($0.key, $0.value) }))
    }

    /// Templates read a model's reasoning under different names: transformers fills each of them from the first one
    /// present.
    private static func withReasoning(_ message: JSON) -> JSON {
        guard let members = message.object else { return message }
        let names = ["reasoning_content", "thinking", "reasoning"]
        guard let reasoning = names.lazy.compactMap({ message[$0] }).first else { return message }
        var result = JSONObject([("thinking", reasoning)])
        for member in members.members { result[member.key] = member.value }
        result["reasoning_content"] = reasoning
        return .object(result)
    }

    /// The error for values that exceed a limit before the template is run: the request is at fault.
    private static func inputError(_ fault: Jinja.Fault, _ path: String) -> AIError {
        guard fault.kind == .limit else { return error(fault, path) }
        return AIError(
            .invalidInput, "the conversation or its tools are too large for a chat template: \(fault.message)",
            context: .init(path: path))
    }

    private static func error(_ fault: Jinja.Fault, _ path: String) -> AIError {
        let place = "\(path): chat template, line \(fault.line)"
        switch fault.kind {
        case .raised:
            return AIError(
                .invalidInput, "\(place): the template refuses the conversation: \(fault.message)",
                context: .init(path: path))
        case .unsupported:
            return AIError(
                .unsupportedModel, "\(place): \(fault.message)", context: .init(path: path))
        case .cancelled: return AIError(.cancelled, "interrupted")
        case .syntax, .runtime, .limit:
            return AIError(
                .malformedModel, "\(place): \(fault.message)", context: .init(path: path), cause: fault)
        }
    }
}

extension Jinja.Run {
    /// Sets the global variables: the built-in ones first, which the given ones may shadow.
    func start(_ program: Jinja.Program, _ variables: JSONObject) throws(Fault) {
        let functions = Dictionary(uniqueKeysWithValues: Jinja.globals.map { ($0.name, $0.make) })
        for (number, name) in names.enumerated() {
            if name == "self" {
                context.set(number, Self.blocks(program.blocks))
            } else if let given = variables[name] {
                context.set(number, try value(given))
            } else if let function = functions[name] {
                context.set(number, .function(function()))
            }
        }
    }
}
