import HubCore
import HubMedia
import InferenceKit

/// Vectors of pictures that `--index` keeps.
extension TryCommand {
    /// A picture as it was named, and where it is.
    private struct Named: Sendable {
        var name: String
        var path: String
    }

    /// The vectors of pictures, in their order. With an index only those are computed that are new or changed, and a
    /// folder stands for the pictures in it, of which those that cannot be read are left out with a warning.
    ///
    /// - Parameter first: the first picture, where it was read already.
    static func vectors(
        of files: [String], _ first: Picture?, _ model: PictureModel, index file: String?, _ place: ModelPlace,
        _ context: Context
    ) async throws -> (seen: [(file: String, vector: EmbeddingResult)], changes: PictureIndex.Changes?) {
        guard let file else {
            var seen: [(file: String, vector: EmbeddingResult)] = []
            for (number, file) in files.enumerated() {
                let picture: Picture
                if number == 0, let first {
                    picture = first
                } else {
                    picture = try await self.picture(file, context)
                }
                seen.append((file, try await model.embed([picture])[0]))
            }
            return (seen, nil)
        }
        let (named, hasFolders) = try await pictures(files, context)
        var index = try await index(file, model, place, context)
        let changes = try await index.add(named.map(\.path), skipsUnreadable: hasFolders)
        tell(changes, file, context)
        return (named.compactMap { one in index.vector(of: one.path).map { (one.name, $0) } }, changes)
    }

    /// All pictures of an index by the cosine of their vectors with another, the nearest first.
    static func rank(
        index file: String, by wanted: EmbeddingResult, _ model: PictureModel, _ place: ModelPlace,
        _ context: Context
    ) async throws -> (ranking: [RankedText], changes: PictureIndex.Changes) {
        var index = try await index(file, model, place, context)
        let changes = try await index.refresh()
        tell(changes, file, context)
        let gone = Set(changes.gone)
        let ranked = try index.nearest(to: wanted, count: index.count).filter { !gone.contains($0.path) }
        guard !ranked.isEmpty else {
            throw AIError(
                .invalidInput, "\(file.printable) has no pictures", advice: "add some with --attach FILE")
        }
        let places = Dictionary(uniqueKeysWithValues: index.files.enumerated().map { ($0.element, $0.offset) })
        return (
            ranked.map { RankedText(index: places[$0.path] ?? 0, text: $0.path, score: $0.cosine) }, changes
        )
    }

    /// Opens the index of a file, and says what was wrong with it.
    private static func index(
        _ file: String, _ model: PictureModel, _ place: ModelPlace, _ context: Context
    ) async throws -> PictureIndex {
        let path = context.environment.expand(file)
        let index = try await PictureIndex.open(path, for: model, named: place.id)
        if let fault = index.fault {
            context.output.warning(
                "\(file.printable) is rebuilt: \(fault)", advice: "its pictures are computed again")
        }
        return index
    }

    private static func tell(_ changes: PictureIndex.Changes, _ file: String, _ context: Context) {
        for error in changes.unreadable.prefix(5) { context.output.warning("left out: \(error.message)") }
        let more = changes.unreadable.count - 5
        if more > 0 { context.output.warning("left out: \(Humanize.plural(more, "other picture"))") }
        var text =
            "\(file.printable): \(Humanize.plural(changes.computed, "picture")) computed, \(changes.kept) kept"
        if !changes.gone.isEmpty { text += ", \(changes.gone.count) gone" }
        context.output.note(text)
    }

    // MARK: Folders

    /// Files that are not there are reported before a weight is read.
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

    /// The pictures that are named, and whether some are by their folder.
    private static func pictures(
        _ files: [String], _ context: Context
    ) async throws -> (named: [Named], hasFolders: Bool) {
        try await Blocking.run {
            var (named, hasFolders) = ([Named](), false)
            for file in files {
                let one = Named(name: file, path: context.environment.expand(file))
                guard try FileSystem.status(one.path)?.kind == .directory else {
                    named.append(one)
                    continue
                }
                hasFolders = true
                let count = named.count
                try collect(one, &named)
                guard named.count > count else {
                    throw AIError(
                        .invalidInput, "\(file.printable) has no pictures", context: .init(path: one.path))
                }
            }
            return (named, hasFolders)
        }
    }

    /// The pictures of a folder and of those in it, by what the files begin with. Hidden files and linked folders are left
    /// out.
    private static func collect(_ folder: Named, _ named: inout [Named]) throws(AIError) {
        for name in try FileSystem.entries(folder.path) ?? [] where !name.hasPrefix(".") {
            let one = Named(name: Path.join(folder.name, name), path: Path.join(folder.path, name))
            switch try FileSystem.linkStatus(one.path)?.kind {
            case .directory?: try collect(one, &named)
            case .file?, .symlink?:
                if try FileSystem.status(one.path)?.kind == .file, try isPicture(one.path) { named.append(one) }
            default: break
            }
        }
    }

    private static func isPicture(_ path: String) throws(AIError) -> Bool {
        let file = try FileDescriptor(path)
        var fault: AIError?
        let head = [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            do throws(AIError) { count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0) } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return PictureKind(head) != nil
    }
}

extension PictureIndex.Changes {
    /// For `--json`.
    func json(_ file: String) -> JSON {
        .object([
            "path": .string(file), "computed": .int(Int64(computed)), "kept": .int(Int64(kept)),
            "gone": gone.isEmpty ? nil : .array(gone.map { .string($0) }),
            "unreadable": unreadable.isEmpty ? nil : .array(unreadable.map { .string($0.message) }),
        ])
    }
}
