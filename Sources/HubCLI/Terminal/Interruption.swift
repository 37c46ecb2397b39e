import HubCore

/// That someone asked this process to stop, for all to see.
final class Interruption: Sendable {
    private struct State {
        var isRequested = false
        var closures: [Int: @Sendable () -> Void] = [:]
        var nextKey = 0
        var kept: String?
        var diversion: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    /// Whether a stop was asked for.
    var isRequested: Bool { state.withLock(\.isRequested) }

    /// Calls the closure when a stop is asked for, at once if it already was; on the signal thread, so let it be short.
    /// The key takes it back.
    @discardableResult
    func onRequest(_ closure: @escaping @Sendable () -> Void) -> Int {
        let key = state.withLock { state -> Int? in
            guard !state.isRequested else { return nil }
            state.nextKey += 1
            state.closures[state.nextKey] = closure
            return state.nextKey
        }
        guard let key else {
            closure()
            return 0
        }
        return key
    }

    /// Takes a closure back.
    func remove(_ key: Int) { state.withLock { _ = $0.closures.removeValue(forKey: key) } }

    /// Asks for a stop; the second time nothing happens.
    func request() {
        let closures = state.withLock { state in
            guard !state.isRequested else { return [@Sendable () -> Void]() }
            state.isRequested = true
            defer { state.closures = [:] }
            return state.closures.sorted { $0.key < $1.key }.map(\.value)
        }
        for closure in closures { closure() }
    }

    /// Calls the closure at each ^C, on the signal thread, instead of asking for a stop; nil to end that.
    func divert(_ closure: (@Sendable () -> Void)?) { state.withLock { $0.diversion = closure } }

    /// Calls what ``divert(_:)`` was given; false if nothing was.
    func isDiverted() -> Bool {
        guard let closure = state.withLock(\.diversion) else { return false }
        closure()
        return true
    }

    /// What an interrupted run keeps, as one line for people; set by the running command.
    var kept: String? {
        get { state.withLock(\.kept) }
        set { state.withLock { $0.kept = newValue } }
    }
}
