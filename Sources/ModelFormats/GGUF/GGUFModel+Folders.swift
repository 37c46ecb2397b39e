package import HubCore

extension GGUFModel {
    /// The first file of the model that is opened of several in a folder: as ``WeightChoice`` takes one for this
    /// machine. Projectors and importance matrices do not count.
    package static func usual(_ paths: [String]) throws(AIError) -> String? {
        var files: [RepositoryFile] = []
        for path in paths where isModel(path) {
            let size = try FileSystem.status(path)?.size ?? 0
            files.append(RepositoryFile(path: Path.name(path), size: size, oid: ""))
        }
        guard !files.isEmpty else { return nil }
        let target = WeightChoice.Target(memoryBytes: try Machine.memory().total, runsMLX: false)
        guard let chosen = WeightChoice.usual(of: ModelFiles(files), for: target) else { return nil }
        return Self.paths(of: Path.join(Path.parent(paths[0]), chosen.files[0]))[0]
    }

    /// The first file of the model at a path, or of the usual one in a folder; it holds vocabulary and templates. nil
    /// if there is none.
    package static func first(in path: String) throws(AIError) -> String? {
        guard try FileSystem.status(path)?.kind == .directory else {
            return WeightFormat(fileName: Path.name(path)) == .gguf ? paths(of: path)[0] : nil
        }
        let names = try FileSystem.entries(path) ?? []
        return try usual(names.filter { WeightFormat(fileName: $0) == .gguf }.map { Path.join(path, $0) })
    }
}
