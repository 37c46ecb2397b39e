package import Catalog
package import HubCore

/// The catalog for work that can do without it: its first fault is told, and from then on there is none.
package final class DispensableCatalog: Sendable {
    private enum State: Sendable {
        case usable(Catalog)
        case absent(AIError?)
        /// It was open, and has failed.
        case givenUp(Catalog, AIError)
    }
    private let state: Lock<State>
    private let tell: @Sendable (AIError) -> Void

    /// - Parameter tell: hears the first fault.
    package init(_ catalog: Catalog?, tell: @escaping @Sendable (AIError) -> Void) {
        state = Lock(catalog.map(State.usable) ?? .absent(nil))
        self.tell = tell
    }

    /// The catalog at a path. That it cannot be opened is told by ``fault`` alone.
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

    /// The catalog as long as it has not failed.
    package var current: Catalog? {
        state.withLock { if case .usable(let catalog) = $0 { catalog } else { nil } }
    }

    /// Why there is none; nil where nothing failed.
    package var fault: AIError? {
        state.withLock { state in
            switch state {
            case .usable: nil
            case .absent(let fault): fault
            case .givenUp(_, let fault): fault
            }
        }
    }

    /// What the catalog says; nil where there is none any more. Blocks.
    @discardableResult
    package func use<Value>(_ body: (Catalog) throws(AIError) -> Value) -> Value? {
        guard let catalog = current else { return nil }
        do throws(AIError) { return try body(catalog) } catch {
            giveUp(error)
            return nil
        }
    }

    /// What the catalog says to somebody who may not go on without it; nil where none was asked for. Blocks.
    ///
    /// - Throws: why there is none. One that was given up is asked all the same: a full disk can be read.
    package func insist<Value>(_ body: (Catalog) throws(AIError) -> Value) throws(AIError) -> Value? {
        switch state.withLock({ $0 }) {
        case .usable(let catalog), .givenUp(let catalog, _): return try body(catalog)
        case .absent(let fault?): throw fault
        case .absent(nil): return nil
        }
    }

    /// Goes on without the catalog because of a fault that was met elsewhere.
    package func giveUp(_ fault: AIError) {
        let isFirst = state.withLock { state in
            guard case .usable(let catalog) = state else { return false }
            state = .givenUp(catalog, fault)
            return true
        }
        if isFirst { tell(fault) }
    }
}
