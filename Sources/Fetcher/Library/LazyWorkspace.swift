import HubCore

/// A workspace opened on first use, where blocking is allowed.
final class LazyWorkspace: Sendable {
    private let made = Lock<Workspace?>(nil)
    private let open: @Sendable () -> Workspace

    init(_ open: @escaping @Sendable () -> Workspace) { self.open = open }

    func value() async -> Workspace {
        await Blocking.run { [self] in
            made.withLock { workspace in
                if let workspace { return workspace }
                let new = open()
                workspace = new
                return new
            }
        }
    }
}
