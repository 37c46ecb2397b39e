public import HubCore
public import InferenceKit
import Libc

/// What folders of documents say about a question: texts, Markdown, code and PDF files, read into a file beside the catalog,
/// found by their meaning and by their words.
public actor MemoryContext {
    /// How far reading has come.
    public enum Progress: Sendable, Hashable {
        /// Files that were looked at, of all.
        case reading(done: Int, of: Int)
        /// Stretches that have a vector, of all.
        case embedding(done: Int, of: Int)
    }

    /// What reading the folders found.
    public struct Summary: Sendable, Hashable {
        /// Documents there are.
        public internal(set) var documents = 0
        /// Of them, those that are new or have changed.
        public internal(set) var changed = 0
        /// Documents that are gone and were forgotten.
        public internal(set) var forgotten = 0
        /// Stretches there are.
        public internal(set) var excerpts = 0
        /// What was left out.
        public internal(set) var skipped = SkippedFiles()
    }

    /// Who makes the vectors.
    public struct Embedder: Sendable {
        /// The model.
        public var model: any EmbeddingModel
        /// Names the model's exact weights: vectors of another name are not compared with its own.
        public var name: String
        /// The model's prompt for questions; nil for its default.
        public var queryPrompt: String?
        /// The model's prompt for documents; nil for its default.
        public var documentPrompt: String?

        /// An embedder; without a name it is the model's identifier.
        public init(
            _ model: any EmbeddingModel, name: String? = nil, queryPrompt: String? = nil,
            documentPrompt: String? = nil
        ) {
            self.model = model
            self.name = name ?? model.identifier
            self.queryPrompt = queryPrompt
            self.documentPrompt = documentPrompt
        }
    }

    private struct Folder: Sendable {
        /// As it was named.
        var name: String
        /// Without links.
        var root: String
    }

    private let folders: [Folder]
    private let embedder: Embedder?
    private let environment: HubEnvironment
    private let path: String
    private var opened: MemoryFile?
    /// The vectors of all stretches, and whose they are.
    private var index: (vectors: EmbeddingIndex, excerpts: [Int64])?

    private static let batch = 32
    /// Candidates of each way to search.
    private static let candidates = 50

    /// A memory of some folders or files; nothing is read yet.
    ///
    /// - Parameters:
    ///   - embedder: nil to find by words alone.
    ///   - file: where it is kept; nil for `memory.sqlite3` beside the catalog.
    /// - Throws: ``ErrorCode/fileNotFound``.
    public init(
        folders: [String], embedder: Embedder? = nil, file: String? = nil,
        environment: HubEnvironment = .process
    ) throws(AIError) {
        self.folders = try folders.map { name throws(AIError) in
            guard let root = FileSystem.resolved(environment.expand(name)) else {
                throw AIError(.fileNotFound, "\(name.printable) does not exist", context: .init(path: name))
            }
            return Folder(name: Path.withoutEnd(name), root: root)
        }
        self.embedder = embedder
        self.environment = environment
        path = file ?? MemoryFile.path(in: environment.stateDirectory)
    }

    /// Reads what is new or has changed, forgets what is gone, and makes the vectors that are missing. What was done until
    /// it is cancelled is kept.
    @discardableResult
    public func refresh(
        _ progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws(AIError) -> Summary {
        index = nil
        do {
            let file = try await store()
            let (roots, environment) = (roots, environment)
            let isCancelled = CancellationFlag()
            var summary = try await withTaskCancellationHandler {
                try await Blocking.run {
                    try FolderReading(file, environment, progress, isCancelled).read(roots)
                }
            } onCancel: {
                isCancelled.set()
            }
            try await embed(file, progress)
            summary.excerpts = try await Blocking.run { try file.counts(nil, below: roots).excerpts }
            return summary
        } catch { throw AIError.wrapping(error) }
    }

    /// The folders as they were named.
    public nonisolated var names: String { folders.map(\.name).joined(separator: ", ") }

    private var roots: [String] { folders.map(\.root) }

    private func store() async throws -> MemoryFile {
        if let opened { return opened }
        let path = path
        let made = try await Blocking.run { try MemoryFile(path) }
        opened = made
        return made
    }

    private func embed(_ file: MemoryFile, _ progress: @escaping @Sendable (Progress) -> Void) async throws {
        guard let embedder else { return }
        let roots = roots
        let id = try await Blocking.run { try file.embedder(embedder.name) }
        var (all, done) = try await Blocking.run { try file.counts(id, below: roots) }
        while done < all {
            try Task.checkCancellation()
            progress(.embedding(done: done, of: all))
            let texts = try await Blocking.run { try file.unembedded(id, below: roots, limit: Self.batch) }
            guard !texts.isEmpty else { break }
            let options = EmbeddingOptions(promptName: embedder.documentPrompt)
            let results = try await embedder.model.embed(texts.map(\.1), options: options)
            let vectors = zip(texts, results).map { (excerpt: $0.0, bytes: EmbeddingIndex.unitBytes($1)) }
            try await Blocking.run { try file.keep(vectors, of: id) }
            done += texts.count
            // Another process may have read more meanwhile.
            all = max(all, done)
        }
        progress(.embedding(done: done, of: all))
    }

    /// The stretches that fit a question best, the best first.
    public func excerpts(for question: String, count: Int = 6) async throws(AIError) -> [MemoryExcerpt] {
        do {
            let file = try await store()
            let roots = roots
            var lists = [
                try await Blocking.run {
                    try file.search(words: question, below: roots, limit: Self.candidates)
                }
            ]
            if let embedder {
                let vector = try await embedder.model.embed(
                    [question], options: EmbeddingOptions(promptName: embedder.queryPrompt))
                lists.append(try await nearest(to: vector[0], file, embedder))
            }
            let ranked = RankFusion.merge(lists).prefix(count)
            let found = try await Blocking.run {
                try ranked.compactMap { id, score in try file.excerpt(id, below: roots).map { ($0, score) } }
            }
            return found.map { excerpt($0, score: $1) }
        } catch { throw AIError.wrapping(error) }
    }

    private func nearest(to vector: EmbeddingResult, _ file: MemoryFile, _ embedder: Embedder) async throws
        -> [Int64]
    {
        if index == nil {
            let roots = roots
            let dimensions = vector.dimensions
            let made = try await Blocking.run {
                let id = try file.embedder(embedder.name)
                var (vectors, excerpts) = (EmbeddingIndex(), [Int64]())
                try file.vectors(of: id, below: roots) { excerpt, bytes in
                    guard bytes.count == dimensions * 4 else { return }
                    vectors.add(unit: bytes)
                    excerpts.append(excerpt)
                }
                return (vectors, excerpts)
            }
            index = made
        }
        guard let index, index.vectors.count > 0 else { return [] }
        return try await Blocking.run {
            try index.vectors.nearest(to: vector, count: Self.candidates).map { index.excerpts[$0.index] }
        }
    }

    private func excerpt(_ found: MemoryFile.Found, score: Double) -> MemoryExcerpt {
        let folder = folders.first { found.path == $0.root || found.path.hasPrefix(Path.join($0.root, "")) }
        let below = folder.map { String(found.path.dropFirst($0.root.count)) } ?? found.path
        let relative = below.hasPrefix("/") ? String(below.dropFirst()) : below
        let name = folder.map {
            relative.isEmpty ? $0.name : $0.name == "." ? relative : Path.join($0.name, relative)
        }
        let cut = found.cut
        return MemoryExcerpt(
            path: name ?? found.path,
            place: found.unit == "page" ? .page(cut.first) : .lines(cut.first...max(cut.first, cut.last)),
            text: cut.text, score: score)
    }
}

/// Merges ranked lists by the ranks alone: scores of different searches cannot be compared.
/// https://dl.acm.org/doi/10.1145/1571941.1572114
enum RankFusion {
    /// The paper's constant.
    private static let constant = 60.0

    /// All members, the best first, with a score of 1 for what leads every list.
    static func merge(_ lists: [[Int64]]) -> [(id: Int64, score: Double)] {
        var scores: [Int64: Double] = [:]
        for list in lists {
            for (rank, id) in list.enumerated() { scores[id, default: 0] += 1 / (constant + Double(rank) + 1) }
        }
        let best = Double(lists.count) / (constant + 1)
        return scores.map { (id: $0.key, score: $0.value / best) }.sorted { ($1.score, $0.id) < ($0.score, $1.id) }
    }
}
