package import Catalog
package import HubCore
import Synchronization

/// The catalog for work that can do without it: its first fault is told, and from then on there is none.
package final class DispensableCatalog: Sendable {
    private enum State: Sendable {
        case usable(Catalog)
        case absent(AIError?)
    }
    private let state: Mutex<State>
    private let tell: @Sendable (AIError) -> Void

    /// - Parameter tell: hears the first fault.
    package init(_ catalog: Catalog?, tell: @escaping @Sendable (AIError) -> Void) {
        state = Mutex(catalog.map(State.usable) ?? .absent(nil))
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
        state = Mutex(opened)
        self.tell = tell
    }

    /// The catalog as long as it has not failed.
    package var current: Catalog? {
        state.withLock { if case .usable(let catalog) = $0 { catalog } else { nil } }
    }

    /// Why there is none; nil where nothing failed.
    package var fault: AIError? { state.withLock { if case .absent(let fault) = $0 { fault } else { nil } } }

    /// What the catalog says; nil where there is none any more. Blocks.
    @discardableResult
    package func use<Value>(_ body: (Catalog) throws(AIError) -> Value) -> Value? {
        guard let catalog = current else { return nil }
        do throws(AIError) { return try body(catalog) } catch {
            giveUp(error)
            return nil
        }
    }

    /// Goes on without the catalog because of a fault that was met elsewhere.
    package func giveUp(_ fault: AIError) {
        let isFirst = state.withLock { state in
            guard case .usable = state else { return false }
            state = .absent(fault)
            return true
        }
        if isFirst { tell(fault) }
    }
}
