import HubCore
import InferenceKit

/// `hub try`
enum TryCommand {
    static let system = Option.text(
        "system", "TEXT", "the system message")
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
    static let inspect = Switch("inspect", "show what the headers of the weights say: nothing is run")
    static let check = Switch(
        "check", refinements: ["full"], "check its files for damage, without running it",
        detail:
            "Checks samples of every tensor; with =full, every value. Results for cached files are kept."
    )
    static let embed = Option.text(
        "embed", "TEXT", repeats: true, "turn a text into a vector, with an embedding model")
    static let similar = Option.text(
        "similar", "QUERY", "rank the texts by their cosine with this one")
    static let query = Option.text(
        "query", "QUERY", "rank the texts of --texts by how well they answer this",
        detail: "A reranker reads each text with the query; an embedding model compares vectors by their cosine.")
    static let textPair = Option.text(
        "text-pair", "TEXT", "a second text to classify together with the first")
    static let labels = Option<[String]>(
        "labels", "LABEL,...", .text, "try these labels",
        detail: """
            On a text, a model for natural language inference says how much it entails "This example is LABEL.". On a picture, \
            a model with vectors of pictures and texts (CLIP, SigLIP) compares its vector with those of the labels, each in \
            the sentence of --label-template.
            """
    ) { text throws(AIError) in
        let labels = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            String(part.trimmingPrefix(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
        guard labels.allSatisfy({ !$0.isEmpty }) else { throw AIError(.invalidInput, "one of the labels is empty") }
        return labels
    }
    static let labelTemplate = Option.text(
        "label-template", "TEXT", "the sentence for labels on pictures; {} is the label",
        detail: "\"\(PictureModel.labelTemplate)\" by default; {} takes the labels as they are.")
    static let threshold = Option.real(
        "threshold", "F", in: 0...1, "show objects whose score is above this",
        detail: "From 0 to 1; \(PictureModel.objectThreshold) if it is not given.")
    static let task = Option<ModelTask>(
        "task", "NAME", .choice(ModelTask.allCases.map(\.rawValue)),
        "the task: what the model is to do, where it can do several things",
        detail: """
            NAME is one of \(ModelTask.allCases.map(\.rawValue).joined(separator: ", ")). A model for masked words, for \
            example, gives vectors with --task feature-extraction.
            """
    ) { text throws(AIError) in try Option<ModelTask>.value(text) }
    static let output = OutputFlags.output(
        "what a model makes of a picture, .png or .npy",
        detail: """
            Objects and segments are drawn on the picture. Depth is a PNG of 16 bits, from black for the smallest number to \
            white for the largest. In a file of NumPy, .npy, each pixel has its depth, or the place of its segment in the \
            list. If FILE exists, hub asks; without a terminal it needs --force.
            """)
    static let series = Option.text(
        "series", "FILE", kind: .file, "forecast the series of numbers in a CSV file",
        detail: """
            The latest value is last, and values are at even distances of time. A file with several columns of numbers needs \
            --column. Empty cells, NaN and NA are missing values.
            """)
    static let column = Option.text("column", "NAME", "the column of the series, by its header or its number")
    static let horizon = Option.whole(
        "horizon", in: 1...1_000_000, "forecast this many values; 64 if not given, or as many as the model can")
    static let from = Option.text("from", "LANG", "translate from this language, as the model calls it")
    static let to = Option.text("to", "LANG", "translate the PROMPT to this language, as the model calls it")
    static let perplexity = Option.text(
        "perplexity", "FILE", kind: .file, "how well the model predicts a text",
        detail: "Runs the beginning token and 256 tokens at a time, and scores all of them.")
    static let perplexityTokens = Option.whole(
        "perplexity-tokens", in: 1 ... .max, "stop after this many tokens of it")

    /// The names of flags about generated text.
    static let generating =
        GenerationFlags.generating + [chat.flag.name, system.flag.name, template.flag.name, logits.flag.name]

    static let command = Command(
        name: "try", doc: "run a model and see whether it works",
        detail: """
            Without a PROMPT, hub try runs the smoke test. The first line is the verdict: works, works with warnings, or does \
            not work. The test checks the tokenizer, looks for NaN and for an output that repeats itself, compares results \
            that must be equal, and measures speed, memory bandwidth and peak memory. The checks are shown if one of them \
            did not pass, and with -v. hub ls and hub info show the verdict later.

            With a PROMPT, the model does once what it is for. A model for texts prints the text as it is generated. If it has \
            a chat template, the prompt is the user's message in it; --raw takes the prompt as it is. Other models print a \
            translation (--to), a vector, the labels of a text or of its tokens, or the words that fit where the prompt has a \
            mask, written as the model writes it, or as [MASK] or <mask>. A model that labels or embeds pictures, finds objects \
            in them, or says how far away their pixels are or what they show, takes one by --attach, without a PROMPT; for a \
            picture with a PROMPT use hub chat --provider. Objects come with a score and with their sides in pixels: left, \
            top, right, bottom. With -o FILE what was found is drawn on the picture, or depth as one. hub chat, embed, rank, \
            classify and forecast take more than one input; hub tokenize and hub eval look at tokens and predictions.

            With --chat and no PROMPT, it is a conversation on the terminal.

            A model that is not cached is downloaded first: hub shows its size and asks (--yes in scripts). If its file names \
            and config.json show that hub cannot run it, or that it needs more memory than there is, nothing is \
            downloaded, and the message names a program that runs it. A folder on this machine is used as it is.

            With --provider hf and no PROMPT, the smoke test asks a remote model one short question. It measures the time to \
            the first token and the speed, and shows the price if it is known. hub chat and hub embed use such a model.

            The exit code is 1 if the smoke test ran and the model does not work; 7 if the model is damaged, fails --check \
            or is not supported; 6 if there is too little memory.
            """,
        operands: [Operand("REF|FOLDER", .one, .modelOrFolder), Operand("PROMPT", .optional, .text)],
        flags: GenerationFlags.all + [
            system.flag, chat.flag, raw.minor.flag, logits.minor.flag, InputFlags.attach.flag, output.flag,
            SharedFlags.force.minor.flag, threshold.minor.flag, textPair.minor.flag, labels.minor.flag,
            labelTemplate.minor.flag, task.minor.flag, from.minor.flag, to.minor.flag,
            InputFlags.promptName.minor.flag,
            InputFlags.dimensions.minor.flag, template.minor.flag, inspect.flag, check.flag, InputFlags.gguf.flag,
            ProviderFlags.provider.flag, ProviderFlags.timeout.minor.flag, SharedFlags.yes.flag,
            embed.flag.now("hub embed"), InputFlags.texts.flag.now("hub embed --texts or hub rank --texts"),
            similar.flag.now("hub rank"), query.flag.now("hub rank"), series.flag.now("hub forecast"),
            column.flag.now("hub forecast --column"), horizon.flag.now("hub forecast --horizon"),
            perplexity.flag.now("hub eval"), perplexityTokens.flag.now("hub eval --tokens"),
            tokenize.flag.now("hub tokenize"), tokenizeFile.flag.now("hub tokenize --texts"),
            render.flag.now("hub tokenize --render"),
        ],
        exclusive: GenerationFlags.exclusive + [
            ["raw", "chat"], ["raw", "system"], ["raw", "template"],
        ]
            + ["embed", "similar", "labels", "text-pair"].map { ["query", $0] } + [["labels", "text-pair"]]
            + [
                "tokenize", "tokenize-file", "embed", "texts", "similar", "query", "text-pair", "labels",
                "perplexity",
            ]
            .map { ["series", $0] }
            + ["tokenize", "tokenize-file", "embed", "texts", "similar", "query", "perplexity", "series"]
            .map { ["attach", $0] }
            + [
                "tokenize", "tokenize-file", "embed", "texts", "similar", "query", "text-pair", "labels",
                "prompt-name",
                "dimensions", "perplexity", "series", "attach",
            ].map { ["inspect", "check", "render", "chat", $0] },
        examples: [
            .init("hub try org/model", "Does it work here?"),
            .init("hub try ./my-model 'Once upon a time' --max-tokens 50 --seed 1", "Text, the same every time."),
            .init("hub try bert-base-uncased 'Paris is the [MASK] of France.'", "The word that is missing."),
            .init("hub try org/yolos --attach photo.jpg -o found.png", "The objects in a picture, drawn on it."),
        ],
        run: { try await run($0, Request($1)) })
}
