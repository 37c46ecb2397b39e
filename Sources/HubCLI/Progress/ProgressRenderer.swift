import HubCore

/// Shows progress on stderr in the mode in use. Safe to call from any thread and as often as needed: what comes faster than
/// the mode's pace is kept, not drawn.
final class ProgressRenderer: Sendable {
    /// A mode that is decided: `auto` has become one of these.
    enum Mode: Sendable { case bar, plain, json, none }

    private struct State {
        var lastShown: Double?
        var latest: ProgressSnapshot?
        var isFinished = false
        var isSuspended = false
    }

    private let mode: Mode
    private let output: Output
    private let layout: ProgressLayout
    private let clock: @Sendable () -> Double
    private let terminalSize: @Sendable () -> (columns: Int, rows: Int)
    private let state = Lock(State())

    /// - Parameters:
    ///   - clock: seconds since any moment, never going back.
    ///   - terminalSize: asked before each frame, for windows change their size.
    init(
        _ mode: Mode, output: Output, isUnicode: Bool = true,
        clock: @escaping @Sendable () -> Double = { Clock.seconds },
        terminalSize: @escaping @Sendable () -> (columns: Int, rows: Int) = { Terminal.size(2) ?? (80, 24) }
    ) {
        self.mode = mode
        self.output = output
        self.clock = clock
        self.terminalSize = terminalSize
        layout = ProgressLayout(isUnicode: isUnicode)
        // A log begins with the state after a second: what takes no longer needs no line.
        if mode == .plain { state.withLock { $0.lastShown = clock() } }
    }

    /// Seconds between two showings.
    private var pace: Double {
        switch mode {
        case .bar: 0.1
        case .json: 0.25
        case .plain: 1
        case .none: .infinity
        }
    }

    /// Shows the progress, if it is time to.
    func update(_ snapshot: ProgressSnapshot) {
        guard mode != .none else { return }
        let now = clock()
        // Drawn under the lock, or an older frame could come after a newer one, or after the end.
        state.withLock { state in
            guard !state.isFinished else { return }
            state.latest = snapshot
            guard !state.isSuspended else { return }
            // A little less than the pace, so that a caller that ticks at that very pace loses no tick to jitter.
            if let last = state.lastShown, now - last < pace * 0.95 { return }
            state.lastShown = now
            show(snapshot)
        }
    }

    /// An event, whatever the pace. Only programs see it: people see the bar.
    func event(_ event: ProgressEvent) {
        if mode == .json { output.event(event.name, event.object) }
    }

    /// Takes the bar away while others use the terminal.
    func suspend() {
        state.withLock { state in
            state.isSuspended = true
            if mode == .bar, !state.isFinished { output.live([], width: 0) }
        }
    }

    /// Shows the bar again from the next update on.
    func resume() { state.withLock { $0.isSuspended = false } }

    /// Takes the bar away. The last state is shown once more where lines are kept, if it was not yet.
    func finish() {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.isFinished = true
            switch mode {
            case .bar: output.live([], width: 0)
            case .json: if let latest = state.latest { show(latest) }
            case .plain, .none: break
            }
        }
    }

    private func show(_ snapshot: ProgressSnapshot) {
        switch mode {
        case .bar:
            let size = terminalSize()
            output.live(layout.rows(snapshot, width: size.columns, height: size.rows), width: size.columns)
        case .plain: output.progressLine(layout.plain(snapshot))
        case .json: output.event("progress", snapshot.json)
        case .none: break
        }
    }
}
