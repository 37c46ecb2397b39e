/// What must be there before lines are run, and what a person would type while they run.
struct ExampleNeed: Sendable {
    /// A regular expression for the beginning of the lines.
    var lines: String
    /// Models that the lines are about and do not name. They are cached, like those that are named.
    var models: [String] = []
    /// A line of the shell.
    var before = ""
    /// What hub shows on a terminal before the keys are typed; nil where it needs no terminal.
    var awaits: String?
    var keys = ""

    /// Lines that no test can run, and why. None so far.
    static let excluded: [String: String] = [:]

    static func of(_ line: String) -> [ExampleNeed] { all.filter { $0.isFor(line) } }

    func isFor(_ line: String) -> Bool {
        // The table's mistake ends the test.
        try! Regex(lines).prefixMatch(in: line) != nil
    }

    static let all: [ExampleNeed] =
        [aboutTheCache, copies, locks, archives, conversations, accounts, typed].flatMap(\.self)

    // MARK: Models that are not named

    private static let aboutTheCache = [
        ExampleNeed(
            lines: "hub (ls|gc|outdated|sync|search|verify|trash|lock|cache (du|adopt|unadopt|mv|inventory))",
            models: ["org/model"]),
        ExampleNeed(lines: "hub (rm|verify) 'org/", models: ["org/model"]),
        ExampleNeed(lines: "hub (ls 'mlx|outdated 'mlx|sync|search)", models: ["mlx-community/tiny"]),
        ExampleNeed(lines: ".*--with docs", models: ["org/embedder"]),
        ExampleNeed(
            lines: "hub embed .*--attach photos ", before: "mkdir -p photos && cp one.jpg photo.png photos"),
        ExampleNeed(lines: "hub unpin gpt2", before: "hub pin gpt2"),
        ExampleNeed(lines: "hub unpin org/model@v1", before: "hub pin org/model@v1"),
        ExampleNeed(lines: "hub trash", before: "hub rm org/model --trash --yes"),
        ExampleNeed(lines: "hub cache budget install", before: "hub cache budget 200GB"),
        ExampleNeed(lines: "hub registry rm", models: ["org/model"], before: "hub registry add mine org/model"),
        ExampleNeed(
            lines: "hub serve status",
            before: """
                mkfifo address && { hub serve hub models > address 2> served & } && trap "kill $!" EXIT \
                && exec 3< address && read -r -u 3 url && export HF_ENDPOINT=$url
                """),
        ExampleNeed(lines: "hub serve mirror .*--auth own", before: "export HUB_SERVE_TOKEN=secret"),
        ExampleNeed(lines: "hub registry add llama-3.1-70b", before: "hub registry rm llama-3.1-70b"),
        ExampleNeed(lines: "hub registry import list.json", before: "hub registry export > list.json"),
    ]

    // MARK: Folders, and the stores of other programs

    private static let copies = [
        ExampleNeed(
            lines: "hub (diff|try|verify) .*\\./model", models: ["org/model"],
            before: "hub pull org/model --local-dir ./model"),
        ExampleNeed(
            lines: "hub (diff|try|verify) .*\\./my-model", models: ["org/model"],
            before: "hub pull org/model --local-dir ./my-model"),
        ExampleNeed(
            lines: "hub rank \\./reranker", models: ["org/reranker"],
            before: "hub pull org/reranker --local-dir ./reranker"),
        ExampleNeed(
            lines: "hub cache (adopt|unadopt)",
            before: """
                mkdir -p ~/.lmstudio/models/org/model ~/.ollama/models/blobs \
                && cp "$(hub path org/model:model.safetensors)" ~/.lmstudio/models/org/model
                """),
        ExampleNeed(lines: "hub cache unadopt", before: "hub cache adopt --yes"),
        ExampleNeed(
            lines: "hub cache link", before: "mkdir -p ~/.lmstudio/models ~/.ollama/models/{blobs,manifests}"),
    ]

    // MARK: Locks

    private static let locks = [
        ExampleNeed(
            lines: "hub pull --locked|.*hub lock (check|key|ls|update)", models: ["org/model"],
            before: "{ test -e hub.lock || hub lock write org/model; }")
    ]

    // MARK: Archives

    private static let archives = [
        ExampleNeed(
            lines: "hub import model.tar",
            before: """
                { test -e model.tar \
                || { ssh there hub pull org/model && ssh there hub export org/model -o model.tar; }; }
                """),
        ExampleNeed(
            lines: "hub import /media/stick",
            before: """
                ssh there hub pull org/model && ssh there hub export org/model -o /media/stick/models --split 4GB
                """),
        ExampleNeed(lines: "hub import|ssh", models: ["org/model"]),
        ExampleNeed(lines: "ssh host hub export", before: "ssh host hub pull org/model"),
        ExampleNeed(
            lines: "hub export .*--since there.json",
            before: "{ test -e there.json || ssh there hub cache inventory > there.json; }"),
    ]

    // MARK: Conversations

    private static let conversations = [
        ExampleNeed(
            lines: "hub (chats|chat --continue)", models: ["unsloth/Qwen3-4B-GGUF"],
            before: """
                { test -n "$(hub chats -q)" || hub chat qwen3-4b-gguf 'Where is the kraken?' --max-tokens 4; }
                """)
    ]

    // MARK: Accounts

    private static let accounts = [
        ExampleNeed(lines: "hub auth (switch|whoami|logout)", before: "{ pass huggingface | hub auth login; }")
    ]

    // MARK: What is typed

    private static let typed = [
        ExampleNeed(lines: "hub gc$", awaits: "q quit", keys: "q"),
        ExampleNeed(lines: "hub auth login$", awaits: "(input hidden", keys: "hf_pasted\n"),
        ExampleNeed(lines: "hub auth login --provider", awaits: "(input hidden", keys: "a-key\n"),
        ExampleNeed(lines: "hub rm gpt2$|hub rm .*--trash$|hub trash empty$", awaits: "[y/N] ", keys: "y\n"),
        ExampleNeed(lines: "hub chats rm|hub cache (mv \\S+|adopt|unadopt)$", awaits: "[y/N] ", keys: "y\n"),
        // Without --provider it is asked whether the text may go to one.
        ExampleNeed(lines: "hub image org/model:fal-ai", awaits: "[y/N] ", keys: "y\n"),
        // Ctrl-D at the first prompt.
        ExampleNeed(
            lines: "hub chat (\\S+|--continue\\S*|--provider hf \\S+)$", awaits: ChatTerminal.prompt,
            keys: "\u{4}"),
    ]
}
