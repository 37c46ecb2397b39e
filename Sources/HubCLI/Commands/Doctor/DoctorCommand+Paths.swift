import Fetcher
import HubCore

extension DoctorCommand {
    /// The paths and addresses in force, and what says so: a flag, a variable or nothing.
    @Sendable static func pathFindings(_ context: Context, _ workspace: Workspace) async throws -> [DoctorFinding] {
        let environment = context.environment
        func origin(_ flag: String?, _ given: Bool, _ variables: String...) -> String {
            if let flag, given { return flag }
            return variables.first { environment[$0] != nil } ?? "the default"
        }
        func fact(_ name: String, _ title: String, _ value: String, _ origin: String) -> DoctorFinding {
            DoctorFinding(section: "paths", name: name, level: .good, text: "\(title): \(value) (\(origin))")
        }
        var findings = [
            fact(
                "cache", "cache", workspace.layout.root,
                origin(
                    "--cache-dir", context.cacheDir != nil, "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME",
                    "XDG_CACHE_HOME")),
            fact(
                "hf_home", "home of Hugging Face's programs", environment.huggingFaceHome,
                origin(nil, false, "HF_HOME", "XDG_CACHE_HOME")),
            fact(
                "hub_home", "home of the catalog", environment.stateDirectory,
                origin(nil, false, "HUB_HOME", "XDG_STATE_HOME")),
            fact(
                "token_path", "token file", environment.tokenPath,
                origin(nil, false, "HF_TOKEN_PATH", "HF_HOME", "XDG_CACHE_HOME")),
            fact(
                "endpoint", "Hub", workspace.configuration.endpoint.address,
                environment.isTrue("HUGGINGFACE_CO_STAGING") && context.endpoint == nil
                    ? "HUGGINGFACE_CO_STAGING" : origin("--endpoint", context.endpoint != nil, "HF_ENDPOINT")),
        ]
        findings += try proxyFindings(context)
        findings += try folderFindings(workspace, environment)
        return findings
    }

    /// The proxies, without the names and passwords that may stand in their addresses.
    private static func proxyFindings(_ context: Context) throws -> [DoctorFinding] {
        let environment = context.environment
        let settings = try HTTPEngine.Settings(environment)
        func fact(_ name: String, _ text: String) -> DoctorFinding {
            DoctorFinding(section: "paths", name: name, level: .good, text: text)
        }
        func variable(_ names: [String]) -> String { names.first { environment[$0] != nil } ?? "" }
        var findings: [DoctorFinding] = []
        for (scheme, proxy) in [("http", settings.httpProxy), ("https", settings.httpsProxy)] {
            guard let proxy else { continue }
            let names = ["\(scheme)_proxy", "\(scheme.uppercased())_PROXY", "all_proxy", "ALL_PROXY"]
            findings.append(
                fact(
                    "\(scheme)_proxy",
                    "proxy for \(scheme): \(ProxyAddress.shown(proxy)) (\(variable(names)))"))
        }
        if let noProxy = settings.noProxy, !findings.isEmpty {
            findings.append(
                fact("no_proxy", "no proxy for: \(noProxy.printable) (\(variable(["no_proxy", "NO_PROXY"])))"))
        }
        if let place = settings.certificateFile ?? settings.certificateFolder {
            let names = ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"]
            findings.append(fact("certificates", "certificates to trust: \(place) (\(variable(names)))"))
        }
        if context.isOffline {
            findings.append(
                DoctorFinding(
                    section: "paths", name: "offline", level: .note,
                    text: "the network is switched off (--offline, HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE)"))
        }
        return findings
    }

    /// Folders in which nothing could be kept. Those that are missing are made when they are needed.
    private static func folderFindings(_ workspace: Workspace, _ environment: HubEnvironment) throws
        -> [DoctorFinding]
    {
        var findings: [DoctorFinding] = []
        for (name, title, path) in [
            ("cache", "the cache", workspace.layout.root),
            ("hub_home", "the catalog's folder", environment.stateDirectory),
        ] {
            guard let status = try FileSystem.status(path) else { continue }
            let fault: String
            if status.kind != .directory {
                fault = "is no folder"
            } else if !FileSystem.isWritable(path) {
                fault = "cannot be written"
            } else {
                continue
            }
            findings.append(
                DoctorFinding(
                    section: "paths", name: "\(name)_unusable", level: .bad, text: "\(title) \(path) \(fault)",
                    advice: "check who owns it, or choose another folder"))
        }
        return findings
    }
}

/// The address of a proxy as it may be shown.
enum ProxyAddress {
    /// Without what stands before the last `@`, which is a name and a password.
    static func shown(_ address: String) -> String {
        guard let at = address.unicodeScalars.lastIndex(of: "@") else { return address.printable }
        let scheme = address.range(of: "://").map { String(address[..<$0.upperBound]) } ?? ""
        return (scheme + String(address.unicodeScalars[address.unicodeScalars.index(after: at)...])).printable
    }
}
