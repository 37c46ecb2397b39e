public import HubCore

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

    private struct Loaded {
        let model: LanguageModel
        let memoryBytes: Int64
        var lastUsed: ContinuousClock.Instant
    }

    /// Bytes that all models may need together.
    public let memoryLimit: Int64
    private let options: ModelOptions
    /// Whether a model may not be closed to make room.
    private let isInUse: @Sendable (String) -> Bool
    private var models: [String: Loaded] = [:]
    private typealias Opening = Task<Result<LanguageModel, AIError>, Never>
    private var opening: [String: Opening] = [:]
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
    /// - Throws: ``ErrorCode/insufficientMemory`` for a model that does not fit alone, and what
    ///   ``LanguageModel/open(folder:options:)`` throws.
    public func model(_ folder: String) async throws(AIError) -> LanguageModel {
        if let known = models[folder] {
            models[folder]?.lastUsed = .now
            return known.model
        }
        let task: Opening
        if let begun = opening[folder] {
            task = begun
        } else {
            task = Task { [latest] in
                _ = await latest?.value
                return await self.open(folder)
            }
            (opening[folder], latest) = (task, task)
        }
        let result = await task.value
        // A finished task would keep its model open.
        if opening[folder] == task { opening[folder] = nil }
        if latest == task { latest = nil }
        return try result.get()
    }

    private func open(_ folder: String) async -> Result<LanguageModel, AIError> {
        do throws(AIError) {
            let reading = try await ModelFolder.read(folder)
            let needed = reading.inspection.memoryBytes(
                context: options.context, cacheFormat: options.usedCacheFormat)
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
            let model = try await reading.open(options)
            models[folder] = Loaded(model: model, memoryBytes: needed, lastUsed: .now)
            return .success(model)
        } catch {
            return .failure(error)
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
