/// A variable of the environment that hub reads, or several that mean the same: what help says of them, and how `hub env`
/// may show their values.
struct EnvironmentVariable: Sendable {
    /// What a value may hold.
    enum Content: Sendable {
        case plain
        /// An address, in which a name and a password may stand.
        case address
        /// Never shown.
        case secret
    }

    var names: [String]
    /// One line, lower case, without a full stop.
    var doc: String
    var content = Content.plain

    init(_ names: String..., content: Content = .plain, doc: String) {
        (self.names, self.doc, self.content) = (names, doc, content)
    }

    static let all = [
        EnvironmentVariable("HF_HUB_CACHE", doc: "the cache folder; its older name is HUGGINGFACE_HUB_CACHE"),
        EnvironmentVariable(
            "HUB_CACHE_PATH",
            doc: "caches of others, separated by colons: read in order after one's own, never written"),
        EnvironmentVariable(
            "HF_HOME",
            doc:
                "the folder that holds hub/ (the cache) and the token file; otherwise XDG_CACHE_HOME/huggingface, ~/.cache/huggingface"
        ),
        EnvironmentVariable("HF_ENDPOINT", content: .address, doc: "the address of the Hub"),
        EnvironmentVariable(
            "HF_TOKEN", content: .secret,
            doc: "the token; sent only to the Hub itself, never shown; its older name is HUGGING_FACE_HUB_TOKEN"),
        EnvironmentVariable("HF_TOKEN_PATH", doc: "the file with the token; otherwise HF_HOME/token"),
        EnvironmentVariable(
            "HF_DEVICE_CODE_OAUTH_CLIENT_ID",
            doc:
                "the client id of the OAuth app for hub auth login --device and --browser; otherwise HUB_HOME/oauth-client-id"
        ),
        EnvironmentVariable(
            "HF_HUB_OFFLINE", doc: "yes: do not use the network; where it is not set, TRANSFORMERS_OFFLINE counts"),
        EnvironmentVariable(
            "HF_HUB_DISABLE_PROGRESS_BARS", doc: "yes: no progress unless --progress asks for it"),
        EnvironmentVariable(
            "HF_HUB_ETAG_TIMEOUT",
            doc:
                "seconds to reach the Hub when asking about a model; otherwise 10; above 60 it limits the wait for the answer, too"
        ),
        EnvironmentVariable(
            "HF_HUB_DOWNLOAD_TIMEOUT", doc: "seconds to connect, and to wait for more bytes; otherwise 10"),
        EnvironmentVariable("HF_HUB_DISABLE_SYMLINKS", doc: "yes: snapshots hold files, not links"),
        EnvironmentVariable("HF_HUB_DISABLE_IMPLICIT_TOKEN", doc: "yes: do not send a token"),
        EnvironmentVariable("HF_XET_CACHE", doc: "the cache of Xet chunks that hf keeps; otherwise HF_HOME/xet"),
        EnvironmentVariable(
            "HUB_INFERENCE_ENDPOINT", content: .address,
            doc: "the address of the router to inference providers; otherwise router.huggingface.co"),
        EnvironmentVariable(
            "HUB_PROVIDER_KEY", content: .secret,
            doc: "the key of the server that --provider names by its address; sent only there, never shown"),
        EnvironmentVariable(
            "HUB_NO_KEEP", doc: "yes: hub chat keeps no conversation, as with --no-keep"),
        EnvironmentVariable(
            "HUB_SEARXNG_URL", content: .address,
            doc: "the address of a SearxNG with the format json, which hub chat --web searches with"),
        EnvironmentVariable("HUB_SERVE_PORT", doc: "the port of hub serve where --port is not given"),
        EnvironmentVariable(
            "HUB_SERVE_TOKEN", content: .secret, doc: "the token that clients of hub serve must send"),
        EnvironmentVariable("HUB_API_KEY", content: .secret, doc: "a key of hub serve api"),
        EnvironmentVariable(
            "HUB_API_KEYS", content: .secret, doc: "several keys of hub serve api, with spaces or commas"),
        EnvironmentVariable(
            "HUB_NO_KEYRING",
            doc: "yes: keep refresh tokens in a file of HUB_HOME, not in the desktop's keyring"),
        EnvironmentVariable(
            "HUB_HOME",
            doc: "the folder of the catalog and of sign-ins; otherwise XDG_STATE_HOME/hub, ~/.local/state/hub"),
        EnvironmentVariable(
            "OLLAMA_MODELS", doc: "the folder of ollama's models, for hub cache du, adopt and link"),
        EnvironmentVariable(
            "LLAMA_CACHE", doc: "the folder of llama.cpp's models, for hub cache du, adopt and link"),
        EnvironmentVariable("XDG_DATA_HOME", doc: "the folder that holds Jan's models; otherwise ~/.local/share"),
        EnvironmentVariable(
            "XDG_CONFIG_HOME", doc: "the folder for the timer of hub cache budget install; otherwise ~/.config"),
        EnvironmentVariable(
            "HUB_THREADS", doc: "the threads that models compute with; otherwise one for each core"),
        EnvironmentVariable(
            "HUB_KERNELS", doc: "scalar, avx2, avx512 or neon: the instructions that models compute with"),
        EnvironmentVariable(
            "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", content: .address,
            doc: "the proxies and their exceptions, in lower case too"),
        EnvironmentVariable(
            "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE",
            doc: "a file or folder of certificates to trust; certificates are always checked"),
        EnvironmentVariable("SSL_CERT_DIR", doc: "folders of such certificates, as openssl rehash makes them"),
        EnvironmentVariable("NO_COLOR", doc: "set: no color unless --color asks for it"),
        EnvironmentVariable("TERM", doc: "dumb: no color, and progress in plain lines"),
        EnvironmentVariable("LC_ALL", "LC_CTYPE", "LANG", doc: "whether more than ASCII can be shown"),
    ]

    /// Older and further names of the same things, which help mentions beside them or not at all.
    static let others = [
        EnvironmentVariable(
            "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME", "XDG_STATE_HOME", "TRANSFORMERS_OFFLINE", doc: ""),
        EnvironmentVariable("HUGGINGFACE_CO_STAGING", doc: ""),
        EnvironmentVariable("HUGGING_FACE_HUB_TOKEN", content: .secret, doc: ""),
        EnvironmentVariable("http_proxy", "https_proxy", "all_proxy", "no_proxy", content: .address, doc: ""),
    ]
}
