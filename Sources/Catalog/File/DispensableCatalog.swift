package import HubCore

/// The catalog for work that can continue without it: after the first error, which is reported, it is no longer used.
package final class DispensableCatalog: Sendable {
    private enum State: Sendable {
        case usable(Catalog)
        case absent(AIError?)
        /// It was open, and has failed.
        case givenUp(Catalog, AIError)
    }
    private let state: Lock<State>
    private let tell: @Sendable (AIError) -> Void

    /// - Parameter tell: called with the first error.
    package init(_ catalog: Catalog?, tell: @escaping @Sendable (AIError) -> Void) {
        state = Lock(catalog.map(State.usable) ?? .absent(nil))
        self.tell = tell
    }

    /// The catalog at a path. A failure to open it only sets ``fault``.
    package init(
        opening path: String, notice: @escaping @Sendable (String) -> Void,
        tell: @escaping @Sendable (AIError) -> Void
    ) {
        let opened: State
        do throws(AIError) { opened = .usable(try Catalog(path: path, notice: notice)) } catch {
            opened = .absent(error)
        }
        state = Lock(opened)
        self.tell = tell
    }

    /// The catalog, until it fails.
    package var current: Catalog? {
        state.withLock { if case .usable(let catalog) = $0 { catalog } else { nil } }
    }

    /// Why there is none; nil if nothing failed.
    package var fault: AIError? {
        state.withLock { state in
            switch state {
            case .usable: nil
            case .absent(let fault): fault
            case .givenUp(_, let fault): fault
            }
        }
    }

    /// Runs `body` with the catalog; nil without one. Blocks.
    @discardableResult
    package func use<Value>(_ body: (Catalog) throws(AIError) -> Value) -> Value? {
        guard let catalog = current else { return nil }
        do throws(AIError) { return try body(catalog) } catch {
            giveUp(error)
            return nil
        }
    }

    /// The same for callers that require the catalog; nil if none was requested. Blocks.
    ///
    /// - Throws: why there is none. A failed catalog is tried again: a full disk can still be read.
    package func insist<Value>(_ body: (Catalog) throws(AIError) -> Value) throws(AIError) -> Value? {
        switch state.withLock({ $0 }) {
        case .usable(let catalog), .givenUp(let catalog, _): return try body(catalog)
        case .absent(let fault?): throw fault
        case .absent(nil): return nil
        }
    }

    /// Stops using the catalog because of an error elsewhere.
    package func giveUp(_ fault: AIError) {
        let isFirst = state.withLock { state in
            guard case .usable(let catalog) = state else { return false }
            state = .givenUp(catalog, fault)
            return true
        }
        if isFirst { tell(fault) }
    }
}
