package import HubCore

extension GGUFModel {
    /// The first file of the largest model; projectors and importance matrices do not count.
    package static func largest(_ paths: [String]) throws(AIError) -> String? {
        var sizes: [String: Int64] = [:]
        for path in paths where isModel(path) {
            sizes[Self.paths(of: path)[0], default: 0] += try FileSystem.status(path)?.size ?? 0
        }
        return sizes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    /// The first file of the model at a path, or of the largest one in a folder; it holds vocabulary and templates. nil
    /// if there is none.
    package static func first(in path: String) throws(AIError) -> String? {
        guard try FileSystem.status(path)?.kind == .directory else {
            return WeightFormat(fileName: Path.name(path)) == .gguf ? paths(of: path)[0] : nil
        }
        let names = try FileSystem.entries(path) ?? []
        return try largest(names.filter { WeightFormat(fileName: $0) == .gguf }.map { Path.join(path, $0) })
    }
}
