import HubCore

/// An engine that is made when it is first needed: most commands never touch the network, and libcurl's start takes
/// longer than they do.
final class LazyEngine: Sendable {
    private let made = Lock<HTTPEngine?>(nil)

    func engine(_ environment: HubEnvironment) throws(AIError) -> HTTPEngine {
        let settings = try HTTPEngine.Settings(environment)
        return try made.withLock { engine throws(AIError) in
            if let engine { return engine }
            let new = try HTTPEngine(settings)
            engine = new
            return new
        }
    }
}
