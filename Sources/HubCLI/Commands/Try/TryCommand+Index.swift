import HubCore
import HubMedia
import InferenceKit

/// Vectors of pictures that `--index` keeps.
extension TryCommand {
    /// Opens the index of a file, and says what was wrong with it.
    private static func index(
        _ file: String, _ model: PictureModel, _ place: ModelPlace, _ context: Context
    ) async throws -> PictureIndex {
        let path = context.environment.expand(file)
        let index = try await PictureIndex.open(path, for: model, named: place.id)
        if let fault = index.fault {
            context.output.warning(
                "\(file.printable) is damaged: \(fault)", advice: "its pictures are computed again")
        }
        return index
    }

    /// The vectors of pictures, in their order. With an index only those are computed that are new or changed.
    ///
    /// - Parameter first: the first picture, where it was read already.
    static func vectors(
        of files: [String], _ first: Picture?, _ model: PictureModel, index file: String?, _ place: ModelPlace,
        _ context: Context
    ) async throws -> (vectors: [EmbeddingResult], changes: PictureIndex.Changes?) {
        guard let file else {
            var vectors: [EmbeddingResult] = []
            for (number, file) in files.enumerated() {
                let picture: Picture
                if number == 0, let first { picture = first } else { picture = try await self.picture(file, context) }
                vectors.append(try await model.embed([picture])[0])
            }
            return (vectors, nil)
        }
        var index = try await index(file, model, place, context)
        let paths = files.map(context.environment.expand)
        let changes = try await index.add(paths)
        tell(changes, index, file, context)
        return (
            try paths.map { path in
                guard let vector = index.vector(of: path) else {
                    throw AIError(.fileNotFound, "\(path.printable) does not exist", context: .init(path: path))
                }
                return vector
            }, changes
        )
    }

    /// All pictures of an index by the cosine of their vectors with another, the nearest first.
    static func rank(
        index file: String, by wanted: EmbeddingResult, _ model: PictureModel, _ place: ModelPlace,
        _ context: Context
    ) async throws -> (ranking: [RankedText], changes: PictureIndex.Changes) {
        var index = try await index(file, model, place, context)
        let changes = try await index.refresh()
        tell(changes, index, file, context)
        let gone = Set(changes.gone)
        let ranked = try index.nearest(to: wanted, count: index.count).filter { !gone.contains($0.path) }
        guard !ranked.isEmpty else {
            throw AIError(
                .invalidInput, "\(file.printable) has no pictures", advice: "add some with --attach FILE")
        }
        return (
            ranked.enumerated().map { RankedText(index: $0.offset, text: $0.element.path, score: $0.element.cosine) },
            changes
        )
    }

    private static func tell(
        _ changes: PictureIndex.Changes, _ index: PictureIndex, _ file: String, _ context: Context
    ) {
        var text = "\(file.printable): \(Humanize.plural(changes.computed, "picture")) computed, \(changes.kept) kept"
        if !changes.gone.isEmpty { text += ", \(changes.gone.count) gone" }
        context.output.note(text)
    }

    /// A file that is not there is reported before a weight is read.
    static func checkFiles(_ files: [String], _ context: Context) async throws {
        if files.contains("-") {
            throw AIError(.invalidInput, "--index knows pictures by their files, and standard input is none")
        }
        for file in files {
            let path = context.environment.expand(file)
            guard try await Blocking.run({ try FileSystem.status(path) }) != nil else {
                throw AIError(.fileNotFound, "\(file.printable) does not exist", context: .init(path: path))
            }
        }
    }
}

extension PictureIndex.Changes {
    /// For `--json`.
    func json(_ file: String) -> JSON {
        .object([
            "path": .string(file), "computed": .int(Int64(computed)), "kept": .int(Int64(kept)),
            "gone": gone.isEmpty ? nil : .array(gone.map { .string($0) }),
        ])
    }
}
