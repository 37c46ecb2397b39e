import HubCore

/// `hub chat`
enum ChatCommand {
    static let model = Option<String>(
        "model", short: "m", "MODEL", .model, "the model; then every word is the PROMPT",
        read: { text throws(AIError) in
            if text.isEmpty { throw AIError(.invalidInput, "the value is empty") }
            return text
        })
    static let system = Option.text("system", "TEXT", "the system message")
    static let attach = Option.text(
        "attach", "FILE", kind: .file, repeats: true, "put a file before the PROMPT: text, or a picture",
        detail: """
            Text is UTF-8. Pictures (PNG, JPEG, GIF, WebP) are for remote models that see. Before a file is sent to a \
            remote provider hub asks; --yes answers.
            """)

    /// Flags about how this machine computes.
    static let computing = ["exact", "fast", "kv", "threads", "context", "speculate", TryCommand.file.flag.name]

    static let command = Command(
        name: "chat", doc: "talk with a model, on this machine or a remote one",
        detail: """
            With a PROMPT, or with text on stdin: answers once, as the text comes. Without: a conversation on the \
            terminal. Lines are edited, /help lists its commands, Ctrl-C ends an answer and Ctrl-D the conversation. \
            Conversations are not kept.

            MODEL is org/name, an alias, a folder or a GGUF file. --provider says who answers: by default this machine if \
            the model is cached and fits, else the Hub's inference providers, which hub then says. org/name:groq is \
            served by groq. For a server's URL, MODEL is the server's own name of it.

            A flag that the provider cannot honor is refused before anything is sent. What a model reasons before its \
            answer is dimmed on a terminal, left out in a pipe, and apart from the text in JSON.

            With --schema the answer is JSON that fits a JSON Schema, with --grammar a text of a grammar, with --regex a text \
            of a regular expression: a model on this machine cannot write anything else. If the answer is cut before it \
            is complete, the exit status is 7.

            With --tool the model may call programs before it answers; --json lists the calls.

            If an answer breaks off, what came of it is printed, then the error, and the exit status is 5. It is 4 if the \
            token is refused, lacks a permission or its account lacks credits; 3 if nobody serves the model.
            """,
        operands: [Operand("MODEL", .optional, .modelOrFolder), Operand("PROMPT", .any, .text)],
        flags: [
            model.flag, ProviderFlags.provider.flag, system.flag, attach.flag, AnswerForm.schema.flag,
            AnswerForm.grammar.flag, AnswerForm.regex.flag, ChatTools.tool.flag, ChatTools.allow.flag,
            ProviderFlags.why.flag,
        ]
            + GenerationFlags.all + [
                ProviderFlags.timeout.flag, TryCommand.file.minor.flag, SharedFlags.yes.flag,
            ],
        exclusive: GenerationFlags.exclusive + AnswerForm.exclusive,
        examples: [
            .init(
                "hub chat qwen3-4b-gguf 'Why is the sky blue?'",
                "An answer, from this machine if the model is here."),
            .init("hub chat --provider hf org/model:cheapest", "A conversation with a remote model."),
            .init("git diff | hub chat ./model --system 'Review this.'", "The prompt comes from a pipe."),
            .init(
                "hub chat --provider http://127.0.0.1:8080 -m qwen 'Hi' --attach a.png --yes",
                "A server of one's own, and a picture."),
        ],
        run: { try await run($0, Request($1)) })
}
