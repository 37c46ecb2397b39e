public import HubCore
import ModelFormats

/// Models that are open at the same time, under one limit of memory: the least recently used one is closed to make room.
///
/// A model that is closed while it generates is released when the generation has ended.
public actor ModelContainer {
    /// One model of the container.
    public struct Entry: Sendable, Hashable {
        /// Its folder.
        public let folder: String
        /// Bytes that it needs with its context, weights included.
        public let memoryBytes: Int64
        /// When it was last asked for.
        public let lastUsed: ContinuousClock.Instant
    }

    /// What is open of a folder: the side that reads texts, the one that reads pictures, or both.
    package struct Opened: Sendable {
        package fileprivate(set) var texts: LanguageModel?
        package fileprivate(set) var pictures: PictureModel?

        /// Whether all is there that may be had.
        fileprivate func suffices(seeing: Bool) -> Bool { pictures != nil || (texts != nil && !seeing) }
    }

    private struct Loaded {
        var opened: Opened
        /// Of a whole folder, whatever of it is open.
        let memoryBytes: Int64
        var lastUsed: ContinuousClock.Instant
    }

    /// An opening: of a folder, with the side that reads pictures or without.
    private struct Wish: Hashable {
        let folder: String
        let seeing: Bool
    }

    /// Bytes that all models may need together.
    public let memoryLimit: Int64
    private let options: ModelOptions
    /// Whether a model may not be closed to make room.
    private let isInUse: @Sendable (String) -> Bool
    private var models: [String: Loaded] = [:]
    private typealias Opening = Task<Result<Opened, AIError>, Never>
    private var opening: [Wish: Opening] = [:]
    /// The next model is opened after this one: two at once would both see the room that only one of them gets.
    private var latest: Opening?

    /// An empty container.
    ///
    /// - Parameters:
    ///   - memoryLimit: in bytes; nil for three quarters of the machine's memory.
    ///   - options: for every model.
    public init(memoryLimit: Int64? = nil, options: ModelOptions = ModelOptions()) throws(AIError) {
        try self.init(memoryLimit: memoryLimit, options: options) { _ in false }
    }

    /// - Parameter isInUse: says of a folder that its model may not be closed to make room.
    package init(
        memoryLimit: Int64? = nil, options: ModelOptions = ModelOptions(),
        isInUse: @escaping @Sendable (String) -> Bool
    ) throws(AIError) {
        if let memoryLimit {
            self.memoryLimit = memoryLimit
        } else {
            self.memoryLimit = try Machine.memory().total / 4 * 3
        }
        self.options = options
        self.isInUse = isInUse
    }

    /// The model of a folder, opened if it is not. Concurrent callers wait for the same opening.
    ///
    /// - Throws: ``ErrorCode/insufficientMemory`` for a model that does not fit alone, ``ErrorCode/unsupportedModel`` for
    ///   one that reads pictures alone, and what ``LanguageModel/open(folder:options:)`` throws.
    public func model(_ folder: String) async throws(AIError) -> LanguageModel {
        guard let texts = try await opened(folder, seeing: false).texts else {
            throw .unsupported(folder, "the model reads pictures and no text")
        }
        return texts
    }

    /// The model of a folder for pictures, opened if it is not; its side for texts is the one of ``model(_:)``.
    ///
    /// - Throws: ``ErrorCode/insufficientMemory`` for a model that does not fit alone, and what
    ///   ``PictureModel/open(folder:options:)`` throws.
    public func pictureModel(_ folder: String) async throws(AIError) -> PictureModel {
        guard let pictures = try await opened(folder, seeing: true).pictures else {
            throw .unsupported(folder, "the model reads no pictures")
        }
        return pictures
    }

    /// What is open of a folder, opened if it is not: of one that reads pictures alone the side for pictures, of another
    /// the side for texts.
    ///
    /// - Parameter seeing: whether the side for pictures is needed besides, where there is one.
    /// - Throws: as ``model(_:)`` and ``pictureModel(_:)`` do, but for a folder that has not what is needed.
    package func opened(_ folder: String, seeing: Bool) async throws(AIError) -> Opened {
        if let known = models[folder], known.opened.suffices(seeing: seeing) {
            models[folder]?.lastUsed = .now
            return known.opened
        }
        let wish = Wish(folder: folder, seeing: seeing)
        let task: Opening
        if let begun = opening[wish] {
            task = begun
        } else {
            task = Task { [latest] in
                _ = await latest?.value
                return await self.open(wish)
            }
            (opening[wish], latest) = (task, task)
        }
        let result = await task.value
        // A finished task would keep its model open.
        if opening[wish] == task { opening[wish] = nil }
        if latest == task { latest = nil }
        return try result.get()
    }

    private func open(_ wish: Wish) async -> Result<Opened, AIError> {
        do throws(AIError) {
            // Another opening of this folder may have come before.
            if let known = models[wish.folder], known.opened.suffices(seeing: wish.seeing) {
                models[wish.folder]?.lastUsed = .now
                return .success(known.opened)
            }
            let reading = try await ModelFolder.read(wish.folder)
            let needed = reading.inspection.memoryBytes(
                context: options.context, cacheFormat: options.usedCacheFormat)
            let opened: Opened
            if let known = models[wish.folder] {
                // Its memory is counted already.
                opened = try await complete(known.opened, reading, wish)
            } else {
                try makeRoom(for: needed, wish.folder)
                opened = try await complete(Opened(), reading, wish)
            }
            models[wish.folder] = Loaded(opened: opened, memoryBytes: needed, lastUsed: .now)
            return .success(opened)
        } catch {
            return .failure(error)
        }
    }

    /// Opens what is missing.
    private func complete(_ opened: Opened, _ reading: ModelFolder, _ wish: Wish) async throws(AIError) -> Opened {
        var opened = opened
        if reading.sees, wish.seeing || !reading.readsTexts {
            let pictures = try await reading.openPictureModel(options, texts: opened.texts)
            (opened.pictures, opened.texts) = (pictures, pictures.texts)
        } else if opened.texts == nil {
            opened.texts = try await reading.open(options)
        }
        return opened
    }

    /// Closes what nobody uses until a model fits.
    ///
    /// - Throws: ``ErrorCode/insufficientMemory``.
    private func makeRoom(for needed: Int64, _ folder: String) throws(AIError) {
        guard needed <= memoryLimit else {
            throw AIError(
                .insufficientMemory,
                "\(folder) needs \(ByteCount(needed)) of memory; the limit is \(ByteCount(memoryLimit))",
                context: .init(path: folder))
        }
        while memoryBytes + needed > memoryLimit, let oldest = entries.last(where: { !isInUse($0.folder) }) {
            unload(oldest.folder)
        }
        guard memoryBytes + needed <= memoryLimit else {
            throw AIError(
                .insufficientMemory,
                "\(folder) needs \(ByteCount(needed)) of memory; models in use take \(ByteCount(memoryBytes)) of \(ByteCount(memoryLimit))",
                context: .init(path: folder))
        }
    }

    /// Closes a model; nothing happens if it is not open.
    public func unload(_ folder: String) { models[folder] = nil }

    /// Closes all.
    public func unloadAll() { models = [:] }

    /// The open models, the last used one first.
    public var entries: [Entry] {
        models.map { Entry(folder: $0.key, memoryBytes: $0.value.memoryBytes, lastUsed: $0.value.lastUsed) }
            .sorted { $0.lastUsed > $1.lastUsed }
    }

    /// Bytes that the open models need together.
    public var memoryBytes: Int64 { models.values.reduce(ByteCount(0)) { $0 + ByteCount($1.memoryBytes) }.bytes }
}
