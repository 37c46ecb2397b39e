import HubCore
import InferenceKit

/// The models that are open: opened when they are first asked for, closed when nobody has used them for a while or their
/// memory is needed.
actor ModelPool {
    /// One of them.
    struct Entry: Sendable {
        var model: OpenModel
        var memoryBytes: Int64
        /// Seconds since 1970; nil for ever.
        var expires: Double?
    }

    private struct Loaded {
        var model: OpenModel
        var keepAlive: KeepAlive
        var expires: Double?
        var timer: Task<Void, Never>?
    }

    private let container: ModelContainer
    /// The number of users of each path: those that are waiting for it included.
    private let uses: Uses
    private let idle: KeepAlive
    private var loaded: [String: Loaded] = [:]

    /// Shared with the container, which asks whether a model may be closed.
    private final class Uses: Sendable {
        let counts = Lock<[String: Int]>([:])
        func change(_ path: String, by step: Int) -> Int {
            counts.withLock { counts in
                counts[path, default: 0] += step
                defer { if counts[path] == 0 { counts[path] = nil } }
                return counts[path] ?? 0
            }
        }
        func isUsed(_ path: String) -> Bool { counts.withLock { $0[path] != nil } }
    }

    /// - Parameter idle: how long a model stays open without `keep_alive`.
    init(options: ModelOptions, idle: KeepAlive) throws(AIError) {
        let uses = Uses()
        container = try ModelContainer(options: options) { uses.isUsed($0) }
        (self.uses, self.idle) = (uses, idle)
    }

    /// Opens a model if it is not open, and keeps it open while it is in use.
    ///
    /// - Parameters:
    ///   - keepAlive: how long it stays open afterwards; nil for the usual time.
    ///   - seeing: whether pictures are to be read.
    /// - Throws: 503 if other models that are in use leave no room for it.
    func with<Value: Sendable>(
        _ cached: CachedModel, keepAlive: KeepAlive?, seeing: Bool = false,
        _ body: @Sendable (OpenModel) async throws -> Value
    ) async throws -> Value {
        _ = uses.change(cached.path, by: 1)
        defer { release(cached.path) }
        var used: OpenModel?
        do {
            let model = try await open(cached, keepAlive, seeing)
            used = model
            try Task.checkCancellation()
            return try await body(model)
        } catch {
            if let used, (error as? AIError)?.code == .fileChanged { await drop(used) }
            if error is CancellationError || (error as? AIError)?.code == .cancelled { throw CancellationError() }
            throw APIFault(error, at: cached.place)
        }
    }

    private func open(
        _ cached: CachedModel, _ keepAlive: KeepAlive?, _ seeing: Bool
    ) async throws -> OpenModel {
        let opened = try await container.opened(cached.path, seeing: seeing)
        let model =
            if let known = loaded[cached.path]?.model, known.isMade(of: opened) { known } else {
                OpenModel(cached, opened)
            }
        loaded[cached.path]?.timer?.cancel()
        loaded[cached.path] = Loaded(model: model, keepAlive: keepAlive ?? idle, expires: nil, timer: nil)
        return model
    }

    private func release(_ path: String) {
        guard uses.change(path, by: -1) == 0, let keepAlive = loaded[path]?.keepAlive else { return }
        guard let seconds = keepAlive.seconds else {
            loaded[path]?.expires = nil
            return
        }
        loaded[path]?.expires = Timestamp.now + seconds
        loaded[path]?.timer?.cancel()
        loaded[path]?.timer = Task { [weak self] in
            do { try await Task.sleep(for: .seconds(seconds)) } catch { return }
            await self?.expire(path)
        }
    }

    private func expire(_ path: String) async {
        guard !uses.isUsed(path), let expires = loaded[path]?.expires, expires <= Timestamp.now + 0.001 else {
            return
        }
        loaded[path] = nil
        await container.unload(path)
    }

    /// Closes a model as soon as nobody uses it.
    func unload(_ cached: CachedModel) async {
        guard loaded[cached.path] != nil else { return }
        loaded[cached.path]?.keepAlive = KeepAlive(seconds: 0)
        guard !uses.isUsed(cached.path) else { return }
        loaded[cached.path]?.timer?.cancel()
        loaded[cached.path] = nil
        await container.unload(cached.path)
    }

    /// Closes a model whose files can no longer be read, for the next request to open what is there by then.
    private func drop(_ model: OpenModel) async {
        let path = model.cached.path
        guard loaded[path]?.model === model else { return }
        loaded[path]?.timer?.cancel()
        loaded[path] = nil
        await container.unload(path)
    }

    func isOpen(_ path: String) async -> Bool { await container.entries.contains { $0.folder == path } }

    /// The open models, the last used one first.
    func entries() async -> [Entry] {
        await container.entries.compactMap { open in
            loaded[open.folder].map { Entry(model: $0.model, memoryBytes: open.memoryBytes, expires: $0.expires) }
        }
    }
}
