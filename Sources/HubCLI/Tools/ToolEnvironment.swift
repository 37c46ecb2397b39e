import HubCore

/// The environment of a tool: this program's without secrets.
enum ToolEnvironment {
    /// Words of a name, between underscores, whose variable holds a secret: HF_TOKEN, OPENAI_API_KEY,
    /// AWS_SECRET_ACCESS_KEY.
    private static let secret: Set = [
        "TOKEN", "TOKENS", "KEY", "KEYS", "APIKEY", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE",
        "CREDENTIAL", "CREDENTIALS", "COOKIE",
    ]

    /// Variables without those whose name says that they hold a secret, and those whose value has a token of the Hub or an
    /// address with a password.
    static func without(secretsOf variables: [String: String]) -> [String: String] {
        variables.filter { name, value in
            name.uppercased().split(separator: "_").allSatisfy { !secret.contains(String($0)) }
                && Secrets.masked(in: value) == value
        }
    }
}
