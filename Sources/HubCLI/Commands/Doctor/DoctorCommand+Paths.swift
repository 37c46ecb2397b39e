import Fetcher
import HubCore

extension DoctorCommand {
    /// The paths and addresses in use, and what sets them: a flag, a variable or nothing.
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
        findings += workspace.furtherCaches.map { cache in
            let isThere = FileSystem.exists(cache.root)
            return DoctorFinding(
                section: "paths", name: "further_cache", level: isThere ? .good : .note,
                text: isThere
                    ? "read after it: \(cache.root) (HUB_CACHE_PATH)"
                    : "HUB_CACHE_PATH names \(cache.root.printable), which is not there")
        }
        findings += try proxyFindings(context)
        findings += environment.unclearSwitches.map { name, value in
            DoctorFinding(
                section: "paths", name: "unclear_switch", level: .bad,
                text: "\(name) is \"\(value.printable)\", which is neither yes nor no and counts as no",
                advice: "set \(name) to 1 or 0")
        }
        findings += try await Blocking.run { try folderFindings(workspace, environment) }
        if let source = try await Blocking.run({ try CacheMove.unfinished(workspace.layout) }) {
            findings.append(
                DoctorFinding(
                    section: "paths", name: "unfinished_move", level: .bad,
                    text:
                        "a move of the cache from \(source.printable) was interrupted, and files of it may be left there",
                    advice: "hub cache mv \(ShellQuoting.word(workspace.layout.root)) finishes it"))
        }
        findings += try await Blocking.run { try diskFinding(workspace) }
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
                    "proxy for \(scheme): \(Secrets.address(proxy).printable) (\(variable(names)))"))
        }
        if let noProxy = settings.noProxy, !findings.isEmpty {
            findings.append(
                fact("no_proxy", "no proxy for: \(noProxy.printable) (\(variable(["no_proxy", "NO_PROXY"])))"))
        }
        let places = [settings.certificateFile, settings.certificateFolder].compactMap { $0 }
        if !places.isEmpty {
            let names = ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"]
            findings.append(
                fact(
                    "certificates", "certificates to trust: \(places.joined(separator: ", ")) (\(variable(names)))")
            )
        }
        if context.isOffline {
            findings.append(
                DoctorFinding(
                    section: "paths", name: "offline", level: .note,
                    text: "the network is switched off (--offline, HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE)"))
        }
        return findings
    }

    /// Folders that cannot be written. Missing ones count if they cannot be created.
    private static func folderFindings(_ workspace: Workspace, _ environment: HubEnvironment) throws
        -> [DoctorFinding]
    {
        var findings: [DoctorFinding] = []
        var places = [
            ("cache", "the cache", workspace.layout.root, "HF_HOME, HF_HUB_CACHE or --cache-dir"),
            ("hub_home", "the catalog's folder", environment.stateDirectory, "HUB_HOME"),
        ]
        // The cache is usually in it, and one finding is enough.
        let home = environment.huggingFaceHome
        if !workspace.layout.root.hasPrefix(home) {
            places.append(("hf_home", "the home of Hugging Face's programs", home, "HF_HOME"))
        }
        for (name, title, path, variable) in places {
            guard let fault = try fault(ofFolder: path) else { continue }
            findings.append(
                DoctorFinding(
                    section: "paths", name: "\(name)_unusable", level: .bad, text: "\(title) \(path) \(fault)",
                    advice: "check who owns it, or name another folder with \(variable)"))
        }
        return findings
    }

    /// Why nothing can be kept in a folder; nil if it can. A missing folder is tried by making another one where it
    /// would be made, which goes at once: some file systems tell in no other way.
    private static func fault(ofFolder path: String) throws(AIError) -> String? {
        if let status = try FileSystem.status(path) {
            if status.kind != .directory { return "is not a folder" }
            return FileSystem.isWritable(path) ? nil : "cannot be written"
        }
        var place = Path.parent(path)
        while !FileSystem.exists(place), Path.parent(place) != place { place = Path.parent(place) }
        let probe = Path.join(place, ".hub-\(FileSystem.randomHex(4))")
        do throws(AIError) {
            try FileSystem.createDirectories(probe, mode: 0o700)
            try FileSystem.removeEmptyDirectory(probe)
            return nil
        } catch { return "cannot be made: no folder can be made in \(place)" }
    }

    /// What is free where the cache is.
    private static func diskFinding(_ workspace: Workspace) throws(AIError) -> [DoctorFinding] {
        let (available, total) = try FileSystem.diskSpace(workspace.layout.root)
        let isLow = available < 1_000_000_000
        return [
            DoctorFinding(
                section: "paths", name: "disk", level: isLow ? .note : .good,
                text: "disk of the cache: \(ByteCount(available)) free of \(ByteCount(total))", bytes: available,
                advice: isLow ? "hub gc shows what can be deleted" : nil)
        ]
    }
}
