package import HubCore

/// Where the stores of other programs are.
package struct StoreLocations: Sendable {
    let environment: HubEnvironment

    package init(_ environment: HubEnvironment) { self.environment = environment }

    /// The stores that exist, each folder once.
    ///
    /// - Parameters:
    ///   - layout: the cache in use.
    ///   - xet: its Xet folder; nil if it has none of its own.
    ///   - localFolders: of `hub pull --local-dir`.
    ///   - given: folders named by the user.
    package func all(
        _ layout: CacheLayout, xet: XetFolder?, localFolders: [String] = [], given: [String] = []
    ) -> [Store] {
        var stores = [Store(.huggingface, layout.root), Store(.huggingface, Trash(layout).path, part: "trash")]
        if let xet {
            stores += [
                Store(.huggingface, xet.path, part: "xet"),
                Store(.huggingface, environment.assetsDirectory, part: "assets"),
            ]
        }
        stores += localFolders.map { Store(.huggingface, $0, part: "folder") }
        stores += ollama.map { Store(.ollama, $0) }
        stores += [Store(.lmstudio, lmStudio), Store(.llamaCpp, llamaCpp)] + jan.map { Store(.jan, $0) }
        stores += given.map { Store(.files, $0) }
        var seen: Set<String> = []
        return stores.compactMap { store in
            guard let path = FileSystem.resolved(store.path), isFolder(path), seen.insert(path).inserted else {
                return nil
            }
            return Store(store.tool, path, part: store.part)
        }
    }

    private func isFolder(_ path: String) -> Bool { (try? FileSystem.status(path))??.kind == .directory }

    /// `OLLAMA_MODELS`, else what the system's unit says, else the user's and the service's own folders.
    /// https://github.com/ollama/ollama/blob/main/envconfig/config.go
    package var ollama: [String] {
        if let folder = environment["OLLAMA_MODELS"] { return [environment.expand(folder)] }
        let units = ["/etc/systemd/system/ollama.service"] + Self.dropIns
        let named = units.compactMap { path in ((try? FileSystem.text(path)) ?? nil).flatMap(Self.models(inUnit:)) }
        return [environment.expand("~/.ollama/models")] + named + ["/usr/share/ollama/.ollama/models"]
    }

    private static var dropIns: [String] {
        let folder = "/etc/systemd/system/ollama.service.d"
        let names = ((try? FileSystem.entries(folder)) ?? nil) ?? []
        return names.filter { $0.hasSuffix(".conf") }.map { Path.join(folder, $0) }
    }

    /// The folder in a unit's `Environment="OLLAMA_MODELS=/models"`; the last one counts. systemd.exec(5)
    static func models(inUnit text: String) -> String? {
        var found: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = String(line.drop { $0 == " " || $0 == "\t" })
            guard line.hasPrefix("Environment="), let at = line.range(of: "OLLAMA_MODELS=") else { continue }
            let quote: Character? = line[..<at.lowerBound].last.flatMap { "\"'".contains($0) ? $0 : nil }
            found = String(line[at.upperBound...].prefix { $0 != (quote ?? " ") })
        }
        return found?.isEmpty == false ? found : nil
    }

    /// LM Studio's home: what its pointer says, else the older folder if it is there, else the newer one. Nothing is
    /// created: a folder at the older place would move the home.
    private var lmStudioHome: String {
        let pointer = (try? FileSystem.text(environment.expand("~/.lmstudio-home-pointer"))) ?? nil
        if let pointer, let home = pointer.split(whereSeparator: \.isNewline).first { return String(home) }
        let older = environment.expand("~/.cache/lm-studio")
        return FileSystem.exists(older) ? older : environment.expand("~/.lmstudio")
    }

    /// `downloadsFolder` of LM Studio's settings, else `models` in its home.
    /// https://github.com/lmstudio-ai/lms/blob/main/src/subcommands/importCmd.ts
    package var lmStudio: String {
        let settings = Path.join(lmStudioHome, "settings.json")
        let bytes = (try? FileSystem.contents(settings)) ?? nil
        let json = bytes.flatMap { try? JSON.parse($0) }?.object
        return json?["downloadsFolder"]?.string ?? Path.join(lmStudioHome, "models")
    }

    /// The flat folder of llama.cpp from before it used the Hugging Face cache. `LLAMA_CACHE` means either.
    package var llamaCpp: String {
        if let folder = environment["LLAMA_CACHE"] { return environment.expand(folder) }
        #if os(macOS)
        return environment.expand("~/Library/Caches/llama.cpp")
        #else
        return Path.join(environment.expand(environment["XDG_CACHE_HOME"] ?? "~/.cache"), "llama.cpp")
        #endif
    }

    /// The files of a model of the Hub in LM Studio and in llama.cpp's older cache, which name them by the model.
    func names(of model: String) -> [String] {
        let folder = Path.join(lmStudio, model)
        let prefix = model.split(separator: "/").joined(separator: "_") + "_"
        let own = (try? FileSystem.entries(folder)) ?? nil
        let flat = (try? FileSystem.entries(llamaCpp)) ?? nil
        return (own ?? []).map { Path.join(folder, $0) }
            + (flat ?? []).filter { $0.hasPrefix(prefix) }.map { Path.join(llamaCpp, $0) }
    }

    /// Jan's models: in `data_folder` of its settings, else in its own data folder.
    private var jan: [String] {
        #if os(macOS)
        let home = environment.expand("~/Library/Application Support/Jan")
        #else
        let home = Path.join(environment.expand(environment["XDG_DATA_HOME"] ?? "~/.local/share"), "Jan")
        #endif
        let bytes = (try? FileSystem.contents(Path.join(home, "settings.json"))) ?? nil
        let data = bytes.flatMap { try? JSON.parse($0) }?.object?["data_folder"]?.string
        return [Path.join(data ?? Path.join(home, "data"), "llamacpp/models")]
    }
}
