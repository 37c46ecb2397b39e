import HubCore

/// `hub try`
enum TryCommand {
    static let file = Option.text(
        "file", "NAME", "the GGUF file of the folder or repository that is meant")
    static let system = Option.text(
        "system", "TEXT", "the system message, for models with a chat template")
    static let chat = Switch(
        "chat", "talk with the model; with a PROMPT, answer it once",
        detail:
            "Fails if the model has no chat template. The conversation needs a terminal: lines are edited, /help lists its commands, Ctrl-C ends an answer and Ctrl-D the conversation."
    )
    static let raw = Switch("raw", "take the prompt as it is, without the chat template")
    static let logits = Switch("logits", "add the logits of the last prompt position, with --json")
    static let tokenize = Option.text(
        "tokenize", "TEXT", repeats: true, allowsEmpty: true, "show the tokens of a text; needs no weights")
    static let tokenizeFile = Option.text(
        "tokenize-file", "FILE", kind: .file, "show the tokens of each text in a JSON list; needs no weights")
    static let render = Option.text(
        "render", "FILE", kind: .file, "render a conversation with the chat template",
        detail: """
            Needs no weights. The file has a JSON object: messages and, optionally, tools, documents, add_generation_prompt, bos_token, \
            eos_token, and other variables of the template.
            """)
    static let template = Option.text(
        "template", "FILE", kind: .file, "use this chat template instead of the model's own")
    static let inspect = Switch("inspect", "show what the headers say, without running it")
    static let check = Switch(
        "check", refinements: ["full"], "check its files for damage, without running it",
        detail:
            "Checks samples of every tensor; with =full, every value. Results for cached files are kept."
    )
    static let embed = Option.text(
        "embed", "TEXT", repeats: true, "turn a text into a vector, with an embedding model")
    static let texts = Option.text(
        "texts", "FILE", kind: .file, "more texts for --embed and --similar: a JSON list, or lines")
    static let similar = Option.text(
        "similar", "QUERY", "rank the texts by their cosine with this one")
    static let perplexity = Option.text(
        "perplexity", "FILE", kind: .file, "how well the model predicts a text",
        detail: "Runs the beginning token and 256 tokens at a time, and scores all of them.")
    static let perplexityTokens = Option.whole(
        "perplexity-tokens", in: 1 ... .max, "stop after this many tokens of it")

    static let command = Command(
        name: "try", doc: "run a model on this machine and see whether it works",
        detail: """
            Without a PROMPT: the smoke test and its verdict. It checks the tokenizer, looks for NaN and for an output that \
            repeats itself, compares results that must be equal, and measures speed, memory bandwidth and peak memory. hub \
            ls and hub info show its verdict later.

            With a PROMPT: the text as it is generated. If the model has a chat template, the prompt is the user's \
            message in it; --raw takes it as it is. An embedding model turns the prompt into a vector.

            With --chat and no PROMPT: a conversation on the terminal.

            A model that is not cached is downloaded first, after its size and a yes (--yes in scripts). If its file names \
            and config.json show that hub cannot run it, or that it needs more memory than there is, nothing is \
            downloaded, and the message says what runs it. A folder on this machine is used as it is.

            The exit status is 1 if the smoke test ran and its verdict is fail; 7 if the model is damaged, fails --check \
            or is not supported; 6 if there is too little memory.
            """,
        operands: [Operand("REF|FOLDER", .one, .modelOrFolder), Operand("PROMPT", .optional, .text)],
        flags: GenerationFlags.all + [
            system.flag, chat.flag, raw.minor.flag, logits.minor.flag, embed.flag, texts.minor.flag, similar.flag,
            perplexity.flag,
            perplexityTokens.minor.flag, tokenize.flag, tokenizeFile.minor.flag, render.flag, template.minor.flag,
            inspect.flag,
            check.flag, file.flag, SharedFlags.yes.flag,
        ],
        exclusive: GenerationFlags.exclusive + [
            ["raw", "chat"], ["raw", "system"], ["raw", "template"],
        ]
            + ["tokenize", "tokenize-file", "embed", "texts", "similar", "perplexity"].map {
                ["inspect", "check", "render", "chat", $0]
            },
        examples: [
            .init("hub try org/model", "Does it work here?"),
            .init("hub try ./my-model 'Once upon a time' --max-tokens 50 --seed 1", "Text, the same every time."),
            .init("hub try ./e5 --similar 'sea' --embed ship --embed loan", "Which text is nearer."),
            .init("hub try gpt2 --tokenize 'Hello, world'", "How its tokenizer splits a text."),
        ],
        run: { try await run($0, Request($1)) })
}
