/// A choice of a repository's files: those that at least one filter accepts. Each pull adds a filter.
package struct FileChoice: Sendable, Hashable {
    /// Not empty; only one if it accepts every file.
    package private(set) var filters: [FileFilter]

    package init(_ filter: FileFilter) { filters = [filter] }

    /// Every file.
    package static let everything = FileChoice(.all)

    package var isEverything: Bool { filters == [.all] }

    /// Whether a path is wanted.
    package func matches(_ path: String) -> Bool { filters.contains { $0.matches(path) } }

    /// The same with what its patterns mean among these paths.
    package func meant(among paths: some Sequence<String>) -> FileChoice {
        var out = self
        out.filters = filters.map { $0.meant(among: paths) }
        return out
    }

    /// Adds the filters of another choice.
    package mutating func add(_ other: FileChoice) {
        filters += other.filters.filter { !filters.contains($0) }
        if filters.contains(.all) { filters = [.all] }
    }

    /// The same without some files: those that were deleted on purpose are not missing. A pull that asks for one adds a
    /// filter of its own.
    package func without(_ paths: some Collection<String>) -> FileChoice {
        let patterns = paths.map(GlobPattern.exactly)
        var out = self
        for index in out.filters.indices {
            out.filters[index].exclude += patterns.filter { !out.filters[index].exclude.contains($0) }
        }
        return out
    }

    /// The same with files that ``without(_:)`` left out.
    package func with(_ paths: some Collection<String>) -> FileChoice {
        let patterns = paths.map(GlobPattern.exactly)
        var out = self
        for index in out.filters.indices { out.filters[index].exclude.removeAll(where: patterns.contains) }
        return out
    }

    /// The same choice with other filters, as those of another commit.
    package func mapping(
        isolation: isolated (any Actor)? = #isolation, _ body: (FileFilter) async throws -> FileFilter
    ) async rethrows -> FileChoice {
        var out = self
        for index in filters.indices { out.filters[index] = try await body(filters[index]) }
        return out
    }
}

extension FileChoice {
    /// For the catalog.
    package var json: JSON { .array(filters.map(\.json)) }

    /// Reads what ``json`` wrote; nil for anything else.
    package init?(json: JSON) {
        guard let list = json.array, !list.isEmpty else { return nil }
        filters = []
        for entry in list {
            guard let filter = FileFilter(json: entry) else { return nil }
            filters.append(filter)
        }
    }
}

extension FileFilter {
    fileprivate var json: JSON {
        func list(_ patterns: [GlobPattern]) -> JSON { .array(patterns.map { .string($0.pattern) }) }
        return .object([
            "include": include.map(list), "exclude": exclude.isEmpty ? nil : list(exclude),
            "weights": selection.map { selection in
                .object([
                    "name": .string(selection.name), "format": .string(selection.format),
                    "files": .array(selection.files.map { .string($0) }),
                ])
            },
        ])
    }

    fileprivate init?(json: JSON) {
        guard json.object != nil else { return nil }
        self.init(include: json["include"].map(\.texts), exclude: json["exclude"]?.texts ?? [])
        guard let weights = json["weights"] else { return }
        guard let name = weights["name"]?.string, let format = weights["format"]?.string else { return nil }
        selection = FileSelection(name: name, format: format, paths: weights["files"]?.texts ?? [])
    }
}

extension JSON {
    fileprivate var texts: [String] { array?.compactMap(\.string) ?? [] }
}
