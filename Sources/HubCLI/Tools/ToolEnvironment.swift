import HubCore

/// The environment of a tool: this program's without secrets.
enum ToolEnvironment {
    /// What the name of a secret's variable has anywhere in it: HF_TOKEN, PGPASSWORD, npm_config__authToken.
    private static let parts = [
        "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIAL", "COOKIE", "SSHPASS",
    ]
    /// Words of such a name, between underscores: OPENAI_API_KEY, MYSQL_PWD, GH_PAT.
    private static let words: Set = ["KEY", "KEYS", "PASS", "PWD", "PAT", "AUTH", "JWT"]
    /// Paths, whose names have such a word.
    private static let paths: Set = ["PWD", "OLDPWD", "SSH_AUTH_SOCK"]

    /// Variables without those whose name says that they hold a secret, and those whose value has a token of the Hub or an
    /// address with a password.
    static func without(secretsOf variables: [String: String]) -> [String: String] {
        variables.filter { name, value in !isSecret(name) && Secrets.masked(in: value) == value }
    }

    private static func isSecret(_ name: String) -> Bool {
        guard !paths.contains(name) else { return false }
        let name = name.uppercased()
        return parts.contains { name.contains($0) }
            || name.split(separator: "_").contains { words.contains(String($0)) }
    }
}
