package import HubCore

/// The routers to inference providers that people agreed to send texts to, once for all: a file of `HUB_HOME`.
package struct SendingAgreements: Sendable {
    private let file: OriginFile<Double>

    package init(_ environment: HubEnvironment) {
        file = OriginFile(
            path: Path.join(environment.stateDirectory, "agreements.json"), member: "sending", what: "time",
            advice: "delete it; hub then asks again", decode: \.double, encode: JSON.double)
    }

    /// The times of agreements, in seconds since 1970, by origin.
    ///
    /// - Throws: ``ErrorCode/ioError`` for a damaged file: then nobody is known to have agreed.
    package func all() throws(AIError) -> [String: Double] { try file.all() }

    /// When it was agreed that texts go there; nil if it was not.
    package func date(of origin: Origin) throws(AIError) -> Double? { try all()[origin.description] }

    /// Keeps an agreement; nil takes it back.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package func set(_ date: Double?, of origin: Origin) async throws -> Bool {
        try await file.set(date, of: origin) != nil
    }
}
