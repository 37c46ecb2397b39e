import HubCore

/// A page of help that belongs to no single command.
struct HelpTopic: Sendable {
    var name: String
    /// One line, lower case, without a full stop.
    var doc: String
    /// What stands above the list.
    var detail: String
    var entries: [(term: String, text: String)]

    static let all = [exitCodes, environment, references]

    static let exitCodes = HelpTopic(
        name: "exit-codes", doc: "the exit statuses and what they mean",
        detail: """
            Where several things were asked for and some failed, all is done that can be, and the status is that of \
            the first failure. A reader of the output who goes away (hub ls | head -1) is no failure.
            """,
        entries: [
            ("0", "done; a search without a match too"),
            (
                "1",
                """
                done, and the answer is no: the smoke test of hub try ran and its verdict is fail, hub verify found damage, \
                or hub doctor sees something wrong
                """
            ),
            ("2", "the command line is wrong, or a deletion lacks --yes"),
            (
                "3",
                """
                not found: the repository (or it is private and there is no token: the Hub does not tell them apart), \
                the revision, the file, or a filter that matches nothing
                """
            ),
            ("4", "not allowed: the token is refused, or the model is gated"),
            (
                "5",
                "the network: unreachable, timed out, rate limited, switched off where it is needed, or the server misbehaved"
            ),
            ("6", "this machine: no space, no permission, or the catalog cannot be used where it is needed"),
            ("7", "integrity: a digest is wrong, or a model is malformed, fails a check or is not supported"),
            ("130", "interrupted by SIGINT or SIGTERM; what was fetched is kept"),
        ])

    static let environment = HelpTopic(
        name: "environment", doc: "the variables that are honoured",
        detail: """
            A flag goes before its variable. A variable that is set but empty counts as not set. Yes is 1, ON, YES or \
            TRUE, in capitals or not.
            """,
        entries: [
            ("HF_HUB_CACHE", "the cache folder; HUGGINGFACE_HUB_CACHE is its older name"),
            (
                "HF_HOME",
                "the folder that holds hub and token; otherwise XDG_CACHE_HOME/huggingface, ~/.cache/huggingface"
            ),
            ("HF_ENDPOINT", "the address of the Hub"),
            (
                "HF_TOKEN",
                "the token; sent to the Hub's own origin only, never shown; HUGGING_FACE_HUB_TOKEN is its older name"
            ),
            ("HF_TOKEN_PATH", "the file with the token; otherwise HF_HOME/token"),
            ("HF_HUB_OFFLINE", "yes: use no network; TRANSFORMERS_OFFLINE counts where it is not set"),
            ("HF_HUB_DISABLE_PROGRESS_BARS", "yes: no progress unless --progress asks for it"),
            (
                "HF_HUB_ETAG_TIMEOUT",
                "seconds to reach the Hub when it is asked about a model; otherwise 10 (more than 60 are for its answer too)"
            ),
            ("HF_HUB_DOWNLOAD_TIMEOUT", "seconds to connect, and to wait for the next bytes; otherwise 10"),
            ("HF_HUB_DISABLE_SYMLINKS", "yes: snapshots hold files and no links"),
            ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "yes: send no token"),
            ("HUB_SERVE_TOKEN", "the token that hub serve asks for"),
            ("HUB_HOME", "the folder of the catalog; otherwise XDG_STATE_HOME/hub, ~/.local/state/hub"),
            ("HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY", "the way to the network, in small letters too"),
            (
                "REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE",
                "the file or folder with the certificates to trust; checking them cannot be switched off"
            ),
            ("NO_COLOR", "set: no colour unless --color asks for it"),
            ("TERM", "dumb: no colour, and progress in plain lines"),
            ("LC_ALL, LC_CTYPE, LANG", "whether more than ASCII can be shown"),
        ])

    static let references = HelpTopic(
        name: "references", doc: "how models, files and folders are named",
        detail: "Where a command takes a REF, all of these are understood:",
        entries: [
            ("org/name", "a model on the Hub; a few old ones are a single word, such as gpt2"),
            ("llama-3.2-1b", "an alias of hub registry; it goes before a model of the same single word"),
            ("org/name@revision", "a branch, tag or commit of it"),
            ("org/name:path", "a file of it; where several may be meant, a glob"),
            ("hf://org/name@revision/path", "the same, as other tools write it"),
            ("https://.../org/name/tree/main", "an address from the Hub's pages, of the endpoint in force"),
            ("datasets/org/name, spaces/org/name", "a dataset or a Space, where a command deals with the cache"),
            ("'org/*'", "a glob over the cached models, for ls and rm; quote it from the shell"),
            ("./folder, /folder, ~/folder", "a folder on this machine, for try and serve"),
        ])
}
