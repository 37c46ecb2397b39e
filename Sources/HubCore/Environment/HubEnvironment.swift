/// The settings that environment variables give, read once: the Python client's own, honoured alike, and `HUB_HOME`.
///
/// A variable that is set but empty counts as unset. (Python treats an empty `HF_HOME` as a relative path and fails on
/// an empty `HF_ENDPOINT`.) https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
public struct HubEnvironment: Sendable {
    private let variables: [String: String]

    /// The settings in these variables.
    public init(_ variables: [String: String]) { self.variables = variables }

    /// The settings of this process.
    public static let process = HubEnvironment(ProcessVariables.all())

    /// The value of a variable; nil if unset or empty.
    public subscript(name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The first of these variables that is set and not empty.
    public func first(_ names: String...) -> String? {
        for name in names { if let value = self[name] { return value } }
        return nil
    }

    /// All variables but these, for a program to start.
    package func variables(without names: Set<String>) -> [String: String] {
        variables.filter { !names.contains($0.key) }
    }

    /// `1`, `ON`, `YES`, `TRUE` in any case are true; everything else is false, as in Python.
    public func isTrue(_ name: String) -> Bool {
        self[name].map { ["1", "ON", "YES", "TRUE"].contains($0.uppercased()) } ?? false
    }

    /// The switches with an unrecognised value. They count as off, which may be a mistake.
    package var unclearSwitches: [(name: String, value: String)] {
        let no = ["0", "OFF", "NO", "FALSE"]
        return Self.switches.compactMap { name in
            guard let value = self[name], !isTrue(name), !no.contains(value.uppercased()) else { return nil }
            return (name, value)
        }
    }

    private static let switches = [
        "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "HF_HUB_DISABLE_SYMLINKS",
        "HF_HUB_DISABLE_PROGRESS_BARS", "HUGGINGFACE_CO_STAGING", "HUB_NO_KEYRING", "HUB_NO_KEEP",
    ]

    /// The user's home folder.
    public var home: String { self["HOME"] ?? "/" }

    /// `HF_HOME`, else `$XDG_CACHE_HOME/huggingface`, else `~/.cache/huggingface`.
    public var huggingFaceHome: String {
        if let home = self["HF_HOME"] { return expand(home) }
        return Path.join(expand(self["XDG_CACHE_HOME"] ?? "~/.cache"), "huggingface")
    }

    /// The cache: `HF_HUB_CACHE`, else `HUGGINGFACE_HUB_CACHE`, else `hub` below ``huggingFaceHome``.
    public var cacheDirectory: String {
        first("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE").map(expand) ?? Path.join(huggingFaceHome, "hub")
    }

    /// Caches of others to read: `HUB_CACHE_PATH`, separated by colons, searched in order after ``cacheDirectory``.
    package var furtherCaches: [String] {
        (self["HUB_CACHE_PATH"] ?? "").split(separator: ":").map { expand(String($0)) }
    }

    /// The Xet folder of Python's client: `HF_XET_CACHE`, else `xet` below ``huggingFaceHome``.
    public var xetDirectory: String {
        self["HF_XET_CACHE"].map(expand) ?? Path.join(huggingFaceHome, "xet")
    }

    /// The folder of Python's assets: `HF_ASSETS_CACHE`, else `assets` below ``huggingFaceHome``.
    package var assetsDirectory: String {
        self["HF_ASSETS_CACHE"].map(expand) ?? Path.join(huggingFaceHome, "assets")
    }

    /// The token's file: `HF_TOKEN_PATH`, else `token` below ``huggingFaceHome``.
    public var tokenPath: String { self["HF_TOKEN_PATH"].map(expand) ?? Path.join(huggingFaceHome, "token") }

    /// The variable whose token takes precedence over the file: `HF_TOKEN`, else `HUGGING_FACE_HUB_TOKEN`; nil if both
    /// are blank.
    package var tokenVariable: String? {
        ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"].first { self[$0]?.contains { !$0.isWhitespace } ?? false }
    }

    /// The folder of the catalog: `HUB_HOME`, else `$XDG_STATE_HOME/hub`, else `~/.local/state/hub`. Outside the cache,
    /// where every stray file makes `hf cache ls` warn.
    public var stateDirectory: String {
        self["HUB_HOME"].map(expand) ?? Path.join(expand(self["XDG_STATE_HOME"] ?? "~/.local/state"), "hub")
    }

    /// `HF_ENDPOINT`, else the Hub; `HUGGINGFACE_CO_STAGING` means the Hub's staging site.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if the value is not an address.
    public func endpoint() throws(AIError) -> Endpoint {
        if isTrue("HUGGINGFACE_CO_STAGING") { return try Endpoint("https://hub-ci.huggingface.co") }
        guard let address = self["HF_ENDPOINT"] else { return .huggingFace }
        do throws(AIError) { return try Endpoint(address) } catch {
            throw AIError(.invalidInput, "HF_ENDPOINT: \(error.message)", advice: error.specificAdvice)
        }
    }

    /// `HF_HUB_OFFLINE`, or `TRANSFORMERS_OFFLINE` if that is unset or empty.
    public var isOffline: Bool {
        self["HF_HUB_OFFLINE"] != nil ? isTrue("HF_HUB_OFFLINE") : isTrue("TRANSFORMERS_OFFLINE")
    }

    /// `HF_HUB_ETAG_TIMEOUT`: connect timeout for requests about a repository; 10 if unset or 0.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for what is not a whole number.
    public func etagTimeout() throws(AIError) -> Int { try seconds("HF_HUB_ETAG_TIMEOUT") }

    /// `HF_HUB_DOWNLOAD_TIMEOUT`: connect and stall timeout in seconds; 10 if unset or 0.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for what is not a whole number.
    public func downloadTimeout() throws(AIError) -> Int { try seconds("HF_HUB_DOWNLOAD_TIMEOUT") }

    private func seconds(_ name: String) throws(AIError) -> Int {
        guard let text = self[name] else { return 10 }
        let trimmed = text.drop { $0 == " " }
        guard let value = Int(trimmed.prefix { $0 != " " }), value >= 0,
            trimmed.drop(while: { $0 != " " }).allSatisfy({ $0 == " " })
        else {
            throw AIError(.invalidInput, "\(name) is \"\(text.printable)\", which is not a whole number of seconds")
        }
        return value == 0 ? 10 : value
    }

    /// `HF_HUB_DISABLE_PROGRESS_BARS`: nil for automatic, true disables bars, false forces them.
    public var progressBarsDisabled: Bool? {
        self["HF_HUB_DISABLE_PROGRESS_BARS"] == nil ? nil : isTrue("HF_HUB_DISABLE_PROGRESS_BARS")
    }

    /// A path with a leading `~` and then every `$NAME` and `${NAME}` replaced, in Python's order. Unset variables stay
    /// unchanged.
    package func expand(_ path: String) -> String {
        var text = path
        if text == "~" || text.hasPrefix("~/") { text = home + text.dropFirst() }
        var out = ""
        var rest = Substring(text)
        while let dollar = rest.firstIndex(of: "$") {
            out += rest[..<dollar]
            rest = rest[rest.index(after: dollar)...]
            let braced = rest.first == "{"
            let body = braced ? rest.dropFirst() : rest
            let name = body.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            let after = body[name.endIndex...]
            if !name.isEmpty, !braced || after.first == "}", let value = variables[String(name)] {
                out += value
                rest = braced ? after.dropFirst() : after
            } else {
                out += "$"
            }
        }
        return out + rest
    }
}
