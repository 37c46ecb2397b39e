import HubCore

/// A page of help that belongs to no single command.
struct HelpTopic: Sendable {
    var name: String
    /// One line, lower case, without a full stop.
    var doc: String
    /// What stands above the list.
    var detail: String
    var entries: [(term: String, text: String)]

    /// What stands on a terminal of a width in place of the list, where that says more.
    var table: (@Sendable (_ width: Int) -> [String])?
    /// What programs read, where that says more than the name.
    var json: JSONObject?

    static let all = [flags, generation, exitCodes, environment, references, providers, architectures]

    static let flags = HelpTopic(
        name: "flags", doc: "the flags that every command takes",
        detail: """
            Every command takes these flags, before or after its name. Flags of a command follow its name, in any order; -- \
            ends the flags, so that a word after it may start with a dash. A value may follow a space or an equals sign.
            """,
        entries: GlobalFlags.all.map { ($0.usage, HelpText.sentence($0)) })

    static let generation = HelpTopic(
        name: "generation", doc: "the settings of generation, and how this machine computes",
        detail: """
            hub chat and hub try take all of these flags. embed, rank, classify, forecast, eval and serve api take those about \
            computing: --exact, --fast, --threads and --context; serve api also --kv. forecast and image take --seed. A \
            preset sets several at once; a flag beside it wins. Without any, the preset is default.
            """,
        entries: GenerationFlags.all.map { ($0.usage, HelpText.sentence($0)) })

    static let exitCodes = HelpTopic(
        name: "exit-codes", doc: "the exit codes and what they mean",
        detail: """
            If one of several things fails, hub does the others, and the exit code is that of the first failure. Only hub pull \
            looks up all names first, and fetches nothing if one is unknown. A reader of a pipe that stops early (hub ls | \
            head -1) is not a failure.
            """,
        entries: [
            ("0", "done; also a search that finds nothing"),
            (
                "1",
                """
                done, and the answer is no: the model failed the smoke test of hub try, hub verify found damaged or missing files, \
                hub lock check or hub diff --exit-code found a difference, or hub doctor found a problem
                """
            ),
            (
                "2",
                """
                the command line is wrong, no command was given, something needs a yes and has none (nobody could be \
                asked, or the answer was no), or hub rm names a pinned model
                """
            ),
            (
                "3",
                """
                not found: the repository (or it is private and there is no token: the Hub does not tell the difference), \
                the revision, the file, a part of an archive, hub.lock, or a filter that matches nothing
                """
            ),
            (
                "4",
                "not allowed: the token is rejected or lacks a permission, the account lacks credits, or the model is gated"
            ),
            (
                "5",
                "the network: unreachable, timed out, rate limited, needed but off, an invalid response, or an answer that broke off"
            ),
            (
                "6",
                """
                this machine: no space, too little memory, no permission, a target of hub gc or a budget that cannot be \
                reached, or a catalog that is needed and cannot be used
                """
            ),
            (
                "7",
                """
                integrity: a digest does not match, a file was changed, a model is malformed, not supported or not made for \
                the task, a picture cannot be read, or an answer was cut before its form was complete
                """
            ),
            ("130", "interrupted by SIGINT or SIGTERM; what was downloaded is kept"),
        ])

    static let environment = HelpTopic(
        name: "environment", doc: "the environment variables that hub reads",
        detail: """
            A flag overrides its variable. A variable that is set but empty counts as unset. Yes is 1, ON, YES or TRUE, in \
            upper or lower case. hub env shows which are set.
            """,
        entries: EnvironmentVariable.all.map { ($0.names.joined(separator: ", "), $0.doc) })

    static let references = HelpTopic(
        name: "references", doc: "how to name models, files and folders",
        detail: """
            How to write a REF, which names a model. A command that takes a glob or a folder says GLOB or FOLDER in its usage \
            line. A set of weights is the files of one format and quantization that make the model run; a repository may have \
            several.
            """,
        entries: [
            ("org/name", "a model on the Hub; a few old ones are a single word, such as gpt2"),
            ("llama-3.2-1b", "an alias from hub registry; it comes before a model with the same single-word name"),
            ("org/name@revision", "a branch, tag or commit of it"),
            (
                "org/name:Q4_K_M",
                """
                that quantization, in upper or lower case, with the files that it needs; hf.co/org/name:Q4_K_M works too. A \
                file of exactly that name comes first
                """
            ), ("org/name:path", "a file of it; a glob where a command takes several files"),
            ("hf://org/name@revision/path", "a file of a revision, as other tools write it"),
            ("https://.../org/name/tree/main", "the address of a page of the Hub's web site"),
            ("datasets/org/name, spaces/org/name", "a dataset or a Space, for commands that work on the cache"),
            (
                "'org/*'",
                "a glob over cached models, where the usage line has GLOB, and for --keep; quote it from the shell"
            ),
            (
                "./folder, /folder, ~/folder",
                "a folder on this machine, for commands that use a model (try, chat and so on), rm, verify, diff and serve"
            ),
        ])

    static let providers = HelpTopic(
        name: "providers", doc: "who can answer: this machine and others",
        detail: """
            hub chat, embed, try, transcribe and image take --provider, with one of these values. A flag that a provider cannot \
            honor is refused before anything is sent. hub chat --why says who answers and why.
            """,
        entries: [
            ("local", "this machine; a model that is not cached is downloaded after a yes"),
            ("hf", "the Hub's inference providers, with the Hub's token; the Hub's router chooses one"),
            (
                "hf:groq, hf with MODEL:groq",
                "that one of these providers. A file or a quantization (MODEL:Q4_K_M) after a colon is never a provider"
            ), ("hf with MODEL:cheapest, :fastest, :preferred", "the one that the router chooses by that rule"),
            (
                "http://host:port, https://host/v1",
                """
                a server that speaks OpenAI's protocol: vLLM, llama.cpp, Ollama; its key is HUB_PROVIDER_KEY, or the one \
                that hub auth login --provider URL kept, and the Hub's token never goes there
                """
            ),
            (
                "auto",
                """
                the default (of hub try it is local): this machine if the model is cached and fits, else hf if you agree. hub \
                asks once, on a terminal, and hub auth logout --provider hf takes the yes back. A script has to say \
                --provider; --yes is not enough
                """
            ),
        ])
}
