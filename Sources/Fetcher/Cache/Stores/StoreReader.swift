import HubCore

/// Finds the models in a store, by the layout of its program.
struct StoreReader {
    let store: Store
    private var contents: StoreContents
    private let folders: [FolderWalk.Folder]
    /// The models by their ids, in the order of appearance.
    private var places: [String: Int] = [:]

    init(_ store: Store, _ walk: FolderWalk.Result) {
        self.store = store
        contents = StoreContents(store)
        folders = walk.folders
        contents.unreadable = walk.unreadable.map { Path.join(store.path, $0) }
    }

    /// Which folders' small files a reader needs by name.
    static func namesAreNeeded(_ store: Store) -> @Sendable (String) -> Bool {
        switch store.tool {
        case .ollama: { $0.hasPrefix("manifests/") }
        case .llamaCpp: { $0.isEmpty }
        case .jan: { _ in true }
        default: { _ in false }
        }
    }

    /// The models and files.
    mutating func read() -> StoreContents {
        switch store.tool {
        case .huggingface: readByFolder(hubModel)
        case .ollama: readOllama()
        case .lmstudio: readByFolder { path in Self.parts(path, 2) }
        case .llamaCpp: readLlamaCpp()
        case .jan: readJan()
        case .files: readLooseFiles()
        }
        return contents
    }

    // MARK: Files

    private mutating func add(_ file: StoreFile) -> Int {
        contents.files.append(file)
        let place = contents.files.count - 1
        if Self.isPartial(Path.name(file.path)) { contents.partials.insert(place) }
        return place
    }

    /// Names of downloads under way: of Python, hub, llama.cpp, LM Studio, Jan, ollama, GPT4All, RamaLama and browsers.
    static func isPartial(_ name: String) -> Bool {
        let endings = [
            ".incomplete", ".downloadInProgress", ".part", ".partial", ".tmp", ".crdownload", "-partial",
        ]
        return endings.contains { name.hasSuffix($0) } || name.hasPrefix("downloading_")
            || name.hasPrefix("incomplete-") || name.contains("-partial-")
    }

    /// The place of a model, made if it is new.
    private mutating func model(_ id: String) -> Int {
        if let place = places[id] { return place }
        contents.models.append(StoreModel(id: id))
        places[id] = contents.models.count - 1
        return contents.models.count - 1
    }

    /// Takes files as they lie: the folder says which model they are of.
    private mutating func readByFolder(_ name: (_ folder: String) -> String?) {
        for folder in folders {
            contents.smallBytes += folder.smallBytes
            // A folder whose files went is no model.
            let holds = !folder.files.isEmpty || folder.smallBytes > 0
            let model = holds ? name(folder.path).map { id in self.model(id) } : nil
            if let model { contents.models[model].smallBytes += folder.smallBytes }
            for file in folder.files {
                let place = add(file)
                if let model { contents.models[model].files.append(place) }
                if store.tool == .huggingface, Path.name(folder.path) == "blobs",
                    case .sha256(let digest) = ContentDigest(etag: Path.name(file.path))
                {
                    contents.claims[place] = digest
                }
            }
        }
    }

    /// `models--org--name` as `org/name`; the folder of `hub pull --local-dir` is one model.
    private func hubModel(_ path: String) -> String? {
        guard let first = Path.parts(path).first else { return nil }
        return Repository(folderName: String(first))?.description
    }

    private static func parts(_ path: String, _ count: Int) -> String? {
        let parts = Path.parts(path)
        return parts.count >= count ? parts.prefix(count).joined(separator: "/") : nil
    }

    // MARK: ollama

    /// The manifests say which blobs a model has; a blob's name is its digest.
    private mutating func readOllama() {
        var blobs: [String: Int] = [:]
        for folder in folders {
            contents.smallBytes += folder.smallBytes
            for file in folder.files {
                let place = add(file)
                guard folder.path == "blobs" else { continue }
                let name = Path.name(file.path)
                // Older versions wrote a colon.
                guard let digest = name.dropping(prefix: "sha256-") ?? name.dropping(prefix: "sha256:"),
                    case .sha256(let hex) = ContentDigest(etag: digest)
                else { continue }
                contents.claims[place] = hex
                blobs[hex] = place
            }
        }
        for folder in folders {
            let parts = Path.parts(folder.path).map(String.init)
            guard parts.count == 4, parts[0] == "manifests" else { continue }
            for tag in folder.smallNames {
                let path = Path.join(store.path, folder.path + "/" + tag)
                guard let manifest = OllamaManifest.read(path) else { continue }
                let id = OllamaName(host: parts[1], namespace: parts[2], model: parts[3], tag: tag).hubName
                let model = model(id)
                for layer in manifest.layers + [manifest.config] {
                    if let place = blobs[layer.digest] {
                        if !contents.models[model].files.contains(place) {
                            contents.models[model].files.append(place)
                        }
                    } else {
                        contents.models[model].smallBytes += min(layer.size, FolderWalk.large)
                    }
                }
            }
        }
    }

    // MARK: llama.cpp

    /// A flat folder in which `/` and `_` look alike: only a manifest says whose a file is.
    private mutating func readLlamaCpp() {
        var owners: [String: String] = [:]
        for folder in folders where folder.path.isEmpty {
            for name in folder.smallNames where name.hasPrefix("manifest=") && name.hasSuffix(".json") {
                let parts = name.dropFirst(9).dropLast(5).split(separator: "=").map(String.init)
                let bytes = (try? FileSystem.contents(Path.join(store.path, name), limit: 1 << 20)) ?? nil
                guard parts.count == 3, let json = bytes.flatMap({ try? JSON.parse($0) })?.object else { continue }
                for key in ["ggufFile", "mmprojFile"] {
                    guard let path = json[key]?.object?["rfilename"]?.string else { continue }
                    let file = "\(parts[0])_\(parts[1])_" + path.split(separator: "/").joined(separator: "_")
                    owners[file] = "\(parts[0])/\(parts[1])"
                }
            }
        }
        for folder in folders {
            contents.smallBytes += folder.smallBytes
            for file in folder.files {
                let name = Path.name(file.path)
                let place = add(file)
                // Newer versions keep the layout of the Hugging Face libraries, in the folder that LLAMA_CACHE names.
                let model = model(owners[name] ?? hubModel(folder.path) ?? Self.withoutEnding(name))
                contents.models[model].files.append(place)
            }
        }
    }

    private static func withoutEnding(_ name: String) -> String {
        for ending in [".gguf", ".safetensors"] where name.lowercased().hasSuffix(ending) {
            return String(name.dropLast(ending.count))
        }
        return name
    }

    // MARK: Jan

    /// The folders with a `model.yml`.
    private mutating func readJan() {
        let models = Set(folders.filter { $0.smallNames.contains("model.yml") }.map(\.path))
        readByFolder { path in
            var place = path
            while !place.isEmpty, !models.contains(place) {
                place = Path.parts(place).count > 1 ? Path.parent(place) : ""
            }
            return place.isEmpty ? nil : place
        }
    }

    // MARK: Folders

    /// Only weights count: the rest of a folder is nobody's model.
    private mutating func readLooseFiles() {
        for folder in folders {
            for file in folder.files {
                let name = Path.name(file.path)
                let lower = name.lowercased()
                guard lower.hasSuffix(".gguf") || lower.hasSuffix(".safetensors") else { continue }
                let place = add(file)
                // Shards and their configuration fill a folder; a GGUF stands alone.
                let isShard = lower.hasSuffix(".safetensors") && !folder.path.isEmpty
                let model = model(isShard ? folder.path : Self.withoutEnding(file.path))
                contents.models[model].files.append(place)
            }
        }
    }
}
