import HubChatTemplates
import HubCore

/// The budget of all trials of a model's templates together.
struct TemplateBudget: Sendable {
    /// CPU seconds of this thread for all of them.
    var seconds = 10.0
    /// Steps of one rendering: a tenth of the limit in a chat. Known templates take a few thousand.
    var steps = 2_000_000
    /// Maximum number of templates to try.
    var count = 32
    var clock: @Sendable () -> Double = { Clock.threadSeconds }
    var isCancelled: @Sendable () -> Bool = { false }

    /// The limits of a rendering that begins this many seconds after the first.
    func limits(after elapsed: Double) -> Jinja.Limits {
        var limits = Jinja.Limits.chat
        limits.steps = steps
        limits.seconds = max(1, min(limits.seconds, Int(seconds - elapsed)))
        limits.isCancelled = isCancelled
        return limits
    }
}

/// Tries the templates of a model, each text once.
struct TemplateTrials {
    private let budget: TemplateBudget
    private let start: Double
    private var seen: Set<String> = []
    /// The number of templates tried.
    private(set) var count = 0
    private var left = 0

    init(budget: TemplateBudget) {
        self.budget = budget
        start = budget.clock()
    }

    private var elapsed: Double { budget.clock() - start }

    /// - Throws: ``ErrorCode/malformedModel`` if it cannot be rendered, ``ErrorCode/unsupportedModel`` for what is not
    ///   implemented, ``ErrorCode/invalidInput`` if it rejects the conversations, ``ErrorCode/cancelled``.
    mutating func run(_ templates: ChatTemplates, _ name: String) throws(AIError) {
        guard count < budget.count, elapsed < budget.seconds else {
            left += 1
            return
        }
        let template = try templates.template(named: name)
        guard seen.insert(template.source).inserted else { return }
        count += 1
        var options = ChatTemplate.Options(variables: templates.specialTokens)
        if name == ChatTemplates.toolName { options.tools = [Self.tool] }
        try run(template, options)
    }

    /// The note if some were not tried.
    var untried: String? {
        guard left > 0 else { return nil }
        let why = count < budget.count ? "the others took too long" : "\(count) are enough"
        return "\(left) more not tried: \(why)"
    }

    /// Templates for images and audio accept content as a list of parts, some of them only that.
    private func run(_ template: ChatTemplate, _ options: ChatTemplate.Options) throws(AIError) {
        do throws(AIError) { try talk(template, options, Self.text) } catch {
            // A limit is exceeded in either form.
            if error.code == .cancelled || (error.cause as? Jinja.Fault)?.kind == .limit { throw error }
            do throws(AIError) { try talk(template, options, Self.parts) } catch let other {
                throw other.code == .cancelled ? other : error
            }
        }
    }

    private func talk(
        _ template: ChatTemplate, _ options: ChatTemplate.Options, _ content: (String) -> JSON
    ) throws(AIError) {
        func turn(_ role: String, _ text: String) -> JSON {
            .object(["role": .string(role), "content": content(text)])
        }
        let question = [turn("user", "Hello!")]
        let talk = question + [turn("assistant", "How are you?"), turn("user", "I am well.")]
        for messages in [question, talk] {
            if budget.isCancelled() { throw AIError(.cancelled, "interrupted") }
            let text = try template.render(
                json: messages, options, limits: budget.limits(after: elapsed), clock: .now
            ).text
            guard text.contains(messages.count == 1 ? "Hello!" : "I am well.") else {
                throw AIError(
                    .invalidInput, "\(template.path): the chat template leaves out the user's message",
                    context: .init(path: template.path))
            }
        }
    }

    private static func text(_ text: String) -> JSON { .string(text) }

    private static func parts(_ text: String) -> JSON {
        .array([.object(["type": "text", "text": .string(text)])])
    }

    private static let tool: JSON = .object([
        "type": "function",
        "function": .object([
            "name": "weather", "description": "Tells the weather of a place.",
            "parameters": .object([
                "type": "object", "properties": .object(["place": .object(["type": "string"])]),
                "required": .array(["place"]),
            ]),
        ]),
    ])
}
