import HubCore
import Dispatch

/// That someone stopped this process from the keyboard (^Z): what must be done before, and after it was continued.
final class Suspension: Sendable {
    private struct Watcher {
        var prepare: @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
        var force: @Sendable () -> Void
        var resume: @Sendable () -> Void
    }

    private let watchers = Lock<(all: [Int: Watcher], nextKey: Int)>(([:], 0))

    /// Calls `prepare` before the process stops, which waits until that calls its argument, but not for long: then
    /// `force` must do what the process cannot stop without; and `resume` when it continues. All on the signal thread.
    /// The key takes them back.
    func onSuspend(
        _ prepare: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void,
        force: @escaping @Sendable () -> Void = {},
        resume: @escaping @Sendable () -> Void
    ) -> Int {
        watchers.withLock { state in
            state.nextKey += 1
            state.all[state.nextKey] = Watcher(prepare: prepare, force: force, resume: resume)
            return state.nextKey
        }
    }

    func remove(_ key: Int) { watchers.withLock { _ = $0.all.removeValue(forKey: key) } }

    /// Prepares, stops the process with `stop`, and resumes once that returns.
    func suspend(_ stop: () -> Void) {
        let known = watchers.withLock { $0.all.sorted { $0.key < $1.key }.map(\.value) }
        let prepared = DispatchGroup()
        for watcher in known {
            prepared.enter()
            watcher.prepare { prepared.leave() }
        }
        // A disk that hangs must not keep the keyboard from stopping us.
        if prepared.wait(timeout: .now() + 1) == .timedOut {
            for watcher in known { watcher.force() }
        }
        stop()
        for watcher in known { watcher.resume() }
    }
}
