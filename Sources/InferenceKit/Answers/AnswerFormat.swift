import HubChatTemplates
import HubCore
import HubTokenizers

/// How a model writes what is not the text of an answer: its reasoning and its tool calls. Models learn the form from
/// their chat template, so the template says which it is.
struct AnswerFormat: Sendable, Hashable {
    /// A pair of texts around something.
    struct Brackets: Sendable, Hashable {
        var opening: String
        var closing: String
    }

    /// How tool calls are written.
    struct Calls: Sendable, Hashable {
        /// Texts of a template, one of which shows that its model writes calls so.
        var evidence: [String]
        /// What begins a call.
        var opening: String
        /// What ends it; nil if the next call or the end of the answer does.
        var closing: String?
        var syntax: CallSyntax
        /// What stands around several calls.
        var wrapping: Brackets?
        /// Parts of a call that are tokens of their own.
        var parts: [String] = []
        /// Tokens that end an answer besides those that the model's settings name.
        var ends: [String] = []
        /// What stands before a call that is demanded and is the first of an answer.
        var before = ""
        /// Tools that every model of this form knows; calling one says that no tool is needed.
        var none: [String] = []

        /// Whether the closing marker also occurs in ordinary text.
        var closesLikeText: Bool { closing == "```" }
    }

    /// The tool calls; nil for a model that knows none.
    var calls: Calls?
    /// What is around the reasoning; nil for a model that does not reason, and in ``CallSyntax/channels``.
    var reasoning: Brackets?

    /// The forms of calls by their evidence, the more particular first.
    static let calls: [Calls] = [
        Calls(
            evidence: ["<|channel|>"], opening: "<|start|>", syntax: .channels,
            parts: ["<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>"],
            ends: ["<|call|>", "<|return|>"]),
        Calls(
            evidence: ["<|tool_call>"], opening: "<|tool_call>", closing: "<tool_call|>", syntax: .marked,
            parts: ["<|\"|>"], ends: ["<|tool_response>"]),
        Calls(
            evidence: ["<｜tool▁call▁begin｜>"], opening: "<｜tool▁call▁begin｜>", closing: "<｜tool▁call▁end｜>",
            syntax: .named(separator: "<｜tool▁sep｜>"),
            wrapping: Brackets(opening: "<｜tool▁calls▁begin｜>", closing: "<｜tool▁calls▁end｜>"),
            parts: ["<｜tool▁sep｜>"]),
        Calls(
            evidence: ["<|tool_call_argument_begin|>"], opening: "<|tool_call_begin|>",
            closing: "<|tool_call_end|>", syntax: .named(separator: "<|tool_call_argument_begin|>"),
            wrapping: Brackets(
                opening: "<|tool_calls_section_begin|>", closing: "<|tool_calls_section_end|>"),
            parts: ["<|tool_call_argument_begin|>"]),
        // DeepSeek 3.2 and 4. The name of a call belongs to its marker, which is several tokens.
        dsml("function_calls"), dsml("tool_calls"),
        Calls(
            evidence: ["<|tool_call_start|>", "<|tool_list_start|>"], opening: "<|tool_call_start|>",
            closing: "<|tool_call_end|>", syntax: .python),
        Calls(
            evidence: ["<|tools_prefix|>"], opening: "<|tools_prefix|>", closing: "<|tools_suffix|>",
            syntax: .keyed, ends: ["<|tools_suffix|>"]),
        Calls(
            evidence: ["<|START_ACTION|>"], opening: "<|START_ACTION|>", closing: "<|END_ACTION|>",
            syntax: .list(name: "tool_name", arguments: "parameters", id: "tool_call_id")),
        // Command R: "Action:" and a block of Markdown.
        Calls(
            evidence: ["json-formatted list of actions"], opening: "Action: ```json", closing: "```",
            syntax: .list(name: "tool_name", arguments: "parameters"),
            none: ["directly_answer", "directly-answer"]),
        Calls(
            evidence: ["<|tool_call|>"], opening: "<|tool_call|>",
            syntax: .list(name: "name", arguments: "arguments")),
        // GigaChat 3: a call is a turn of its own.
        Calls(
            evidence: ["function call<|role_sep|>"], opening: "function call<|role_sep|>",
            closing: "<|message_sep|>", syntax: .json("arguments"), before: "<|message_sep|>\n\n"),
        Calls(
            evidence: ["[TOOL_CALLS]"], opening: "[TOOL_CALLS]", syntax: .listOrNamed,
            parts: ["[CALL_ID]", "[ARGS]"]),
        Calls(
            evidence: ["<arg_key>"], opening: "<tool_call>", closing: "</tool_call>",
            syntax: .elements(
                key: Brackets(opening: "<arg_key>", closing: "</arg_key>"),
                value: Brackets(opening: "<arg_value>", closing: "</arg_value>"))),
        Calls(
            evidence: ["<seed:tool_call>"], opening: "<seed:tool_call>", closing: "</seed:tool_call>",
            syntax: .parameters),
        Calls(evidence: ["<function="], opening: "<tool_call>", closing: "</tool_call>", syntax: .parameters),
        Calls(
            evidence: ["<tool_call>"], opening: "<tool_call>", closing: "</tool_call>", syntax: .json("arguments")),
        // Llama 3 and 4: the answer itself is the call, with or without the marker.
        Calls(
            evidence: ["<|python_tag|>", "\"parameters\": dictionary of argument name"], opening: "<|python_tag|>",
            syntax: .json("parameters"), ends: ["<|eom_id|>"]),
        // LFM2.5, whose template has no call.
        Calls(
            evidence: ["List of tools: ["], opening: "<|tool_call_start|>", closing: "<|tool_call_end|>",
            syntax: .python),
    ]

    private static func dsml(_ block: String) -> Calls {
        Calls(
            evidence: ["<｜DSML｜\(block)>"], opening: "<｜DSML｜invoke name=\"", closing: "</｜DSML｜invoke>",
            syntax: .invocations,
            wrapping: Brackets(opening: "<｜DSML｜\(block)>", closing: "</｜DSML｜\(block)>"))
    }

    /// What is around reasoning, the more particular first.
    static let reasoning = [
        Brackets(opening: "<|channel>thought\n", closing: "<channel|>"),
        Brackets(opening: "[THINK]", closing: "[/THINK]"),
        Brackets(opening: "<seed:think>", closing: "</seed:think>"),
        Brackets(opening: "<|START_THINKING|>", closing: "<|END_THINKING|>"),
        Brackets(opening: "<|inner_prefix|>", closing: "<|inner_suffix|>"),
        Brackets(opening: "<think>", closing: "</think>"),
    ]

    /// The form of a model's answers by its template, and for reasoning by its vocabulary: not every template that
    /// leaves reasoning to the model mentions it.
    init(template: ChatTemplate, tokenizer: Tokenizer?) {
        self.init(template: template.source, tokenizer: tokenizer)
        // Some templates assemble their markers from parts, which only a rendered call shows.
        if calls == nil, let sample = TemplateTools.sample(template) {
            calls = AnswerFormat(template: sample, tokenizer: nil).calls
        }
    }

    /// The same by the text of a template, or by a text that it rendered.
    init(template: String, tokenizer: Tokenizer?) {
        calls = Self.calls.first { $0.evidence.contains { template.contains($0) } }
        guard calls?.syntax != .channels else { return }
        reasoning = Self.reasoning.first { brackets in
            template.contains(brackets.opening) || template.contains(brackets.closing)
                || tokenizer?.id(of: brackets.closing) != nil
        }
    }

    /// A format with these parts.
    init(calls: Calls?, reasoning: Brackets?) {
        self.calls = calls
        self.reasoning = reasoning
    }

    /// Whether an answer that is JSON may be a call without its marker.
    var mayBeBare: Bool { calls?.syntax == .json("parameters") }

    /// What the parts of an answer are told from each other by.
    var markers: [String] {
        var all = [reasoning?.opening, reasoning?.closing].compactMap { $0 }
        guard let calls else { return all }
        all += [calls.opening] + [calls.closing].compactMap { $0 }
        if calls.syntax == .channels { all += calls.parts }
        if let wrapping = calls.wrapping { all += [wrapping.opening, wrapping.closing] }
        return all
    }

    /// The special tokens among these, which decoding must not leave out.
    func tokens(_ tokenizer: Tokenizer) throws(AIError) -> Set<Int> {
        var ids: Set<Int> = []
        for text in markers + (calls?.parts ?? []) {
            ids.formUnion(try tokenizer.encode(text, addSpecialTokens: false).filter(tokenizer.isSpecial))
        }
        return ids
    }
}
