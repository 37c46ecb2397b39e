public import HubCore
import ModelFormats

/// A chat template: Jinja from a model's repository that makes one text of a conversation.
///
/// It is rendered as transformers' `apply_chat_template` does, within limits of time, depth and memory, whatever the
/// template says. Nothing but its own text and what it is given can be reached from within.
public struct ChatTemplate: Sendable {
    /// What a template is given beside the messages.
    public struct Options: Sendable {
        /// The tools that the model may call, as JSON schemas; nil for none.
        public var tools: [JSON]?
        /// Documents to answer from, each with `title` and `text`; nil for none.
        public var documents: [JSON]?
        /// Whether the text ends where the model is to go on as the assistant.
        public var addsGenerationPrompt: Bool
        /// More variables: `bos_token` and its like, `enable_thinking` and others that a template knows.
        public var variables: JSONObject

        /// What a template is given beside the messages.
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

    /// What came of a rendering.
    public struct Rendering: Sendable, Hashable {
        /// The text for the tokenizer, which must not add special tokens to it.
        public var text: String
        /// Where the text lies that the model is to learn to say, by Unicode scalars, as the template's generation
        /// blocks mark it; empty where it has none.
        public var generated: [Range<Int>]
    }

    /// Where it comes from, for errors.
    public let path: String
    /// The template itself.
    public let source: String
    private let program: Jinja.Program

    /// Reads a template.
    ///
    /// - Parameter path: The file it comes from, for errors.
    /// - Throws: ``ErrorCode/malformedModel`` with the line and what is wrong there;
    ///   ``ErrorCode/unsupportedModel`` for what Jinja can do and this cannot.
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

    /// Makes one text of a conversation. It may take five seconds where a template is hostile; typically it takes less
    /// than a millisecond.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` with the template's own words where it refuses the conversation;
    ///   ``ErrorCode/malformedModel`` with the line where it cannot be rendered or uses up a limit;
    ///   ``ErrorCode/unsupportedModel`` for what Jinja can do and this cannot; ``ErrorCode/cancelled`` where its task
    ///   was cancelled.
    public func render(_ messages: [Message], _ options: Options = Options()) throws(AIError) -> Rendering {
        try render(json: messages.map(\.json), options)
    }

    /// Makes one text of a conversation whose messages are objects with whatever members the template reads.
    public func render(json messages: [JSON], _ options: Options = Options()) throws(AIError) -> Rendering {
        try render(json: messages, options, limits: Jinja.Limits(), clock: .now)
    }

    func render(
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
        do throws(Jinja.Fault) {
            try run.start(program, variables)
            _ = try run.run(program.body, run.root)
        } catch {
            throw Self.error(error, path)
        }
        return Rendering(text: Jinja.Text(run.output).string, generated: run.generated)
    }

    /// A member of a message that is null is as one that is not there, for templates know the latter.
    private static func withoutNulls(_ message: JSON) -> JSON {
        guard let members = message.object?.members, members.contains(where: { $0.value == .null }) else {
            return message
        }
        return .object(JSONObject(members.filter { $0.value != .null }.map { ($0.key, $0.value) }))
    }

    /// Templates read a model's thoughts under one name or another: transformers gives each of them what the first of
    /// the others holds.
    private static func withReasoning(_ message: JSON) -> JSON {
        guard let members = message.object else { return message }
        let names = ["reasoning_content", "thinking", "reasoning"]
        guard let reasoning = names.lazy.compactMap({ message[$0] }).first else { return message }
        var result = JSONObject([("thinking", reasoning)])
        for member in members.members { result[member.key] = member.value }
        result["reasoning_content"] = reasoning
        return .object(result)
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
    /// Sets the outermost variables: those of every template first, which what is given may hide.
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
