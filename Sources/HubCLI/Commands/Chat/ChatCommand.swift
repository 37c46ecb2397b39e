import HubCore

/// `hub chat`
enum ChatCommand {
    static let model = Option<String>(
        "model", short: "m", "MODEL", .model, "the model; then all other arguments are the PROMPT",
        read: { text throws(AIError) in
            if text.isEmpty { throw AIError(.invalidInput, "the value is empty") }
            return text
        })
    static let with = Option.text(
        "with", "FOLDER", kind: .folder, repeats: true, "answer from the documents of a folder, or a file",
        detail: """
            Texts, Markdown, code, and PDF files if pdftotext is installed. Each message is answered with the excerpts that fit it \
            best, which are named below the answer. What changed is read again. Hidden files, what .gitignore names, symbolic \
            links and binary files are left out. Before excerpts are sent to a remote provider hub asks; --yes answers.
            """)
    static let embedder = Option<String>(
        "embedder", "MODEL", .model, "with --with: the model that finds excerpts by their meaning",
        detail: """
            By default the embedding model of the cache that was used last. Without one, excerpts are found by words alone. hub \
            says which it is.
            """
    ) { text throws(AIError) in
        if text.isEmpty { throw AIError(.invalidInput, "the value is empty") }
        return text
    }
    static let continuing = Option.text(
        "continue", "ID", kind: .conversation,
        "continue the last conversation, or the one of this ID; then all arguments are the PROMPT",
        detail: "Its model answers unless --model names another."
    ).withOptionalValue()
    static let noKeep = Switch("no-keep", "do not keep the conversation on this machine")

    /// Flags about how this machine computes.
    static let computing =
        (GenerationFlags.computing + [
            GenerationFlags.cache.flag, GenerationFlags.speculate.flag, InputFlags.gguf.flag,
        ]).map(\.name)

    static let command = Command(
        name: "chat", doc: "talk with a model, on this machine or a remote one",
        detail: """
            With a PROMPT, or with text on stdin, hub chat answers once, and prints the text as it is generated. Text on \
            stdin follows the PROMPT. Without either, it is a conversation on the terminal: /help lists its commands, @FILE in \
            a message adds a file, Ctrl-C ends an answer and Ctrl-D the conversation. Conversations are kept on this machine; \
            hub chats lists them.

            MODEL is org/name, org/name:Q4_K_M for one quantization of a GGUF repository, an alias, a folder or a GGUF file. \
            --provider says who answers: by default this machine if the model is cached and fits, else the Hub's inference \
            providers, if you agree: hub asks once, on a terminal. A script has to say --provider. With --provider hf, \
            org/name:groq is served by groq. With a server's URL, MODEL is the name that the server uses.

            A flag that the provider cannot honor is refused before anything is sent. On a terminal, reasoning before an \
            answer is folded into one line (--verbose shows it); in a pipe it is left out; in JSON it has a key of its own.

            --schema makes the answer JSON that fits a JSON Schema, --grammar a text of a grammar, --regex a text that matches \
            a regular expression. A model on this machine can write only what fits. If the answer is cut before it is \
            complete, the exit code is 7.

            With --tool the model may call programs before it answers; --json lists the calls.

            If an answer breaks off, hub prints the part that came, then the error, and the exit code is 5. It is 4 if the \
            token is refused, lacks a permission or its account lacks credits; 3 if nobody serves the model.
            """,
        operands: [Operand("MODEL", .optional, .modelOrFolder), Operand("PROMPT", .any, .text)],
        flags: [
            model.flag, ProviderFlags.provider.flag, TryCommand.system.flag, InputFlags.attach.flag, with.flag,
            embedder.flag,
            AnswerForm.schema.flag, AnswerForm.grammar.flag, AnswerForm.regex.flag, ChatTools.tool.flag,
            ChatTools.allow.flag, ChatTools.web.flag, continuing.flag, noKeep.flag,
            ProviderFlags.why.flag,
        ]
            + GenerationFlags.all + [
                ProviderFlags.timeout.flag, InputFlags.gguf.minor.flag, SharedFlags.yes.flag,
            ],
        exclusive: GenerationFlags.exclusive + AnswerForm.exclusive,
        examples: [
            .init(
                "hub chat --provider hf org/model:cheapest",
                "A conversation with a remote model; hub chat --continue continues it."),
            .init("git diff | hub chat -m qwen3-4b-gguf 'Write a commit message.'", "A text from a pipe."),
            .init("hub chat -m qwen3-4b-gguf --with docs 'How do I install it?'", "An answer from documents."),
            .init(
                "hub chat qwen3-4b-gguf 'Who wrote Hamlet, and when?' --schema book.json --json",
                "JSON that fits a schema, in \"value\"."),
        ],
        run: { try await run($0, Request($1)) })
}
