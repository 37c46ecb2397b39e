import HubCore

/// `hub try`
enum TryCommand {
    static let maxTokens = Option.whole("max-tokens", in: 1...1_000_000, "generate at most this many tokens")
    static let temperature = Option.real(
        "temperature", "T", in: 0...100, "sampling temperature; 0 takes the most likely token")
    static let topK = Option.whole("top-k", in: 0...1_000_000, "sample from this many tokens; 0 means all")
    static let topP = Option.real(
        "top-p", "P", in: 0...1, "sample from the most likely tokens with this total probability")
    static let minP = Option.real(
        "min-p", "P", in: 0...1, "drop tokens below this fraction of the highest probability")
    static let repeatPenalty = Option.real("repeat-penalty", "X", in: 0.01...100, "penalize repetition; 1 is off")
    static let seed = Option.seed("seed", "make the output repeatable")
    static let greedy = Switch("greedy", "always take the most likely token")
    static let stop = Option.text("stop", "TEXT", repeats: true, "stop before this text")
    static let system = Option.text(
        "system", "TEXT", "the system message, for models with a chat template")
    static let chat = Switch(
        "chat", "fail if the model has no chat template, instead of taking the prompt as it is")
    static let raw = Switch("raw", "take the prompt as it is, without the chat template")
    static let logits = Switch("logits", "add the logits of the last prompt position, with --json")
    static let tokenize = Option.text(
        "tokenize", "TEXT", repeats: true, allowsEmpty: true, "show the tokens of a text; needs no weights")
    static let tokenizeFile = Option.text(
        "tokenize-file", "FILE", kind: .file, "show the tokens of each text in a JSON list; needs no weights")
    static let render = Option.text(
        "render", "FILE", kind: .file, "render a conversation with the chat template; needs no weights",
        detail: """
            The file has a JSON object: messages and, optionally, tools, documents, add_generation_prompt, bos_token, \
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
    static let threads = Option.whole("threads", in: 1...1024, "number of threads")
    static let contextLength = Option.whole("context", in: 1...10_000_000, "size of the context in tokens")

    static let command = Command(
        name: "try", doc: "run a model on this machine and see whether it works",
        detail: """
            Without a PROMPT: the smoke test and its verdict. With one: the test, and the text as it is generated. If \
            the model has a chat template, the prompt is the user's message in it; --raw takes it as it is.

            A model that is not cached is downloaded first, after its size and a yes (--yes in scripts). If its file names \
            and config.json show that hub cannot run it, or that it needs more memory than there is, nothing is \
            downloaded, and the message says what runs it. A folder on this machine is used as it is.

            The exit status is 1 if the smoke test ran and its verdict is fail; 7 if the model is damaged, fails --check \
            or is not supported; 6 if there is too little memory.
            """,
        operands: [Operand("REF|FOLDER", .one, .modelOrFolder), Operand("PROMPT", .optional, .text)],
        flags: [
            maxTokens.flag, temperature.flag, topK.flag, topP.flag, minP.flag, repeatPenalty.flag, seed.flag,
            greedy.flag, stop.flag, system.flag, chat.flag, raw.flag, logits.flag, tokenize.flag, tokenizeFile.flag,
            render.flag, template.flag, inspect.flag, check.flag, threads.flag, contextLength.flag,
            SharedFlags.yes.flag,
        ],
        exclusive: [
            ["greedy", "temperature"], ["inspect", "check", "render", "tokenize"],
            ["inspect", "check", "render", "tokenize-file"], ["raw", "chat"], ["raw", "system"],
            ["raw", "template"],
        ],
        examples: [
            .init("hub try org/model", "Does it work here?"),
            .init("hub try ./my-model 'Once upon a time' --max-tokens 50 --seed 1", "Text, the same every time."),
            .init("hub try gpt2 --tokenize 'Hello, world'", "How its tokenizer splits a text."),
            .init("hub try org/model --inspect --json", "What it is and what memory it needs, for a program."),
        ],
        run: { try await run($0, Request($1)) })
}
