import HubCore

/// An engine created on first use: most commands never use the network, and starting libcurl takes longer than they do.
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
