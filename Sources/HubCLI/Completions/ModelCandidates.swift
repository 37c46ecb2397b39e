import Catalog
import Fetcher
import HubCore
import ModelFormats

/// The names of models, and of what is in them, that this machine knows. Nothing is asked of the Hub, and a catalog that
/// is missing or cannot be used leaves what the cache and the shipped list know.
struct ModelCandidates {
    let environment: HubEnvironment
    let layout: CacheLayout
    let catalog: Catalog?
    /// As many models of the catalog are offered.
    private static let most = 100

    init(_ environment: HubEnvironment, _ layout: CacheLayout) {
        (self.environment, self.layout) = (environment, layout)
        let path = Catalog.path(in: environment.stateDirectory)
        catalog = FileSystem.exists(path) ? try? Catalog(path: path) : nil
    }

    // MARK: Names

    /// Any model: aliases, then the catalog's by popularity, and the cached ones last, for they are here already.
    func models(_ typed: String) -> [Candidate] {
        let aliases = registry.filter { $0.alias.begins(like: typed) }
        var seen: Set<String> = []
        return
            (aliases.map { .word($0.alias, $0.repository.name) }
            + known(typed).map { .word($0, "") }
            + cached(typed)).filter { candidate in
                guard case .word(let name, _) = candidate else { return true }
                return seen.insert(name).inserted
            }
    }

    /// The cache's contents: aliases, models, datasets and spaces.
    func cachedModels(_ typed: String) -> [Candidate] {
        let held = cachedRepositories
        let aliases = registry.filter {
            $0.alias.begins(like: typed) && held.contains(Repository(.model, $0.repository))
        }
        return cached(typed) + aliases.map { .word($0.alias, $0.repository.name) }
    }

    /// The aliases of the registry.
    func aliases() -> [Candidate] { registry.map { .word($0.alias, $0.repository.name) } }

    private func cached(_ typed: String) -> [Candidate] {
        cachedRepositories.map(\.description).filter { $0.begins(like: typed) }.sorted().map { .word($0, "cached") }
    }

    private var cachedRepositories: Set<Repository> {
        Set(((try? layout.heldFolders()) ?? []).compactMap(Repository.init(folderName:)))
    }

    private var registry: [RegistryEntry] { ((try? ModelRegistry(catalog: catalog)) ?? nil)?.entries ?? [] }

    /// The catalog's models whose names begin so, the most popular first.
    private func known(_ typed: String) -> [String] {
        var query = ModelQuery()
        let parts = typed.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        // The index takes a single letter for a whole word, and here it may be the beginning of one.
        let words = parts.last?.split { !$0.isLetter && !$0.isNumber } ?? []
        query.text = words.filter { $0.count > 1 }.joined(separator: " ")
        if parts.count == 2 { query.author = parts[0] }
        // More than are shown, for a word may begin elsewhere in the name.
        query.limit = Self.most * 5
        let found = (try? catalog?.search(query)) ?? []
        return Array(found.map(\.record.repository.id.name).filter { $0.begins(like: typed) }.prefix(Self.most))
    }

    // MARK: What is in a model

    /// The quantizations that a model has files of, the smallest first, each behind the prefix: then those alone that are
    /// understood after a colon.
    func quantizations(of text: String, prefix: String = "", cachedOnly: Bool = false) -> [Candidate] {
        guard let (reference, tree) = tree(of: text, cachedOnly: cachedOnly) else { return [] }
        let record = (try? catalog?.model(reference.repository))??.record
        let variants = ModelFiles(tree, library: record?.library, tags: record?.tags ?? []).variants
        let gguf = variants.filter { $0.format == .gguf }
        return (gguf.isEmpty ? variants : gguf).filter { prefix.isEmpty || $0.quantization != nil }.map {
            .word(prefix + $0.name, "\(ByteCount($0.sizeBytes))")
        }
    }

    /// The GGUF files of a model, the first of those that are one in parts.
    ///
    /// - Parameter folder: of this machine; nil for a repository.
    func ggufFiles(of text: String, in folder: String?) -> [Candidate] {
        let files = folder.map(snapshot) ?? tree(of: text, cachedOnly: false)?.1 ?? []
        return files.filter { GGUFModel.isModel($0.path) && GGUFModel.paths(of: $0.path)[0] == $0.path }
            .sorted { $0.path < $1.path }.map { .word($0.path, "\(ByteCount($0.size))") }
    }

    /// The branches and tags of a model, `main` first, each behind the prefix.
    func revisions(of text: String, prefix: String = "", cachedOnly: Bool = false) -> [Candidate] {
        guard let reference = reference(text) else { return [] }
        let folder = layout.repository(reference.repository)
        var names: [(name: String, doc: String)] =
            ((try? FileSystem.entries(folder.refs)) ?? [])?.sorted()
            .filter { (try? folder.commit(ofRef: $0)) ?? nil != nil }.map { ($0, "cached") } ?? []
        if !cachedOnly {
            let known = (try? catalog?.revisions(of: reference.repository)) ?? []
            names += known.filter { one in !names.contains { $0.name == one.name } }.map {
                ($0.name, $0.kind.rawValue)
            }
        }
        return (names.filter { $0.name == "main" } + names.filter { $0.name != "main" }).map {
            .word(prefix + $0.name, $0.doc)
        }
    }

    /// The files of a model that begin with `typed`, a folder at a time, each behind the prefix.
    func files(of text: String, typed: String, prefix: String = "", cachedOnly: Bool = false) -> [Candidate] {
        guard let (_, tree) = tree(of: text, cachedOnly: cachedOnly) else { return [] }
        var out: [Candidate] = []
        var folders: Set<String> = []
        for file in tree.sorted(by: { $0.path < $1.path }) where file.path.hasPrefix(typed) {
            guard let slash = file.path.dropFirst(typed.count).firstIndex(of: "/") else {
                out.append(.word(prefix + file.path, "\(ByteCount(file.size))"))
                continue
            }
            let folder = String(file.path[...slash])
            if folders.insert(folder).inserted { out.append(.word(prefix + folder, "folder")) }
        }
        return out
    }

    private func reference(_ text: String) -> ModelReference? {
        guard var reference = try? ModelReference(parsing: text) else { return nil }
        if reference.repository.kind == .model, reference.repository.id.owner == nil,
            let entry = registry.first(where: { $0.alias == reference.repository.id.name })
        {
            reference.repository.id = entry.repository
        }
        return reference
    }

    private func tree(of text: String, cachedOnly: Bool) -> (ModelReference, [RepositoryFile])? {
        guard let reference = reference(text) else { return nil }
        let folder = layout.repository(reference.repository)
        let name = reference.revision ?? "main"
        let cached = Commit(name) ?? (try? folder.commit(ofRef: name)) ?? nil
        if cachedOnly { return cached.map { (reference, snapshot(folder.snapshot($0))) } }
        let known = ((try? catalog?.revisions(of: reference.repository)) ?? nil)?.first { $0.name == name }?.commit
        for commit in [known, cached].compactMap({ $0 }) {
            let remembered = (try? catalog?.tree(of: reference.repository, at: commit)) ?? nil
            if let tree = remembered ?? (try? folder.readTree(commit)) ?? nil { return (reference, tree.files) }
        }
        return cached.map { (reference, snapshot(folder.snapshot($0))) }
    }

    /// The files of a snapshot, with the sizes of their blobs.
    private func snapshot(_ folder: String) -> [RepositoryFile] {
        var files: [RepositoryFile] = []
        func walk(_ place: String, _ prefix: String) {
            for name in ((try? FileSystem.entries(place)) ?? nil) ?? [] {
                let path = Path.join(place, name)
                if ((try? FileSystem.linkStatus(path)) ?? nil)?.kind == .directory {
                    walk(path, prefix + name + "/")
                } else if let status = (try? FileSystem.status(path)) ?? nil {
                    files.append(
                        RepositoryFile(path: prefix + name, size: status.size, oid: "", sha256: nil, xetHash: nil))
                }
            }
        }
        walk(folder, "")
        return files
    }
}
