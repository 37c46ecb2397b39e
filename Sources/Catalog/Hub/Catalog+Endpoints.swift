package import HubCore

extension Catalog {
    private static let endpointPrefix = "endpoint "

    /// Records, once a day, that a Hub's data is stored here.
    package func noteEndpoint(_ endpoint: Endpoint, at now: Double) throws(AIError) {
        let name = Self.endpointPrefix + endpoint.address
        let today = String(Timestamp.iso8601(now).prefix(10))
        let isNoted = try read { connection in
            try connection.first(
                "SELECT 1 FROM facts WHERE name = ? AND value = ?", name, today, map: { $0.bool(0) })
        }
        guard isNoted != true else { return }
        try write { try $0.run("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", name, today) }
    }

    /// The addresses of the Hubs that filled the catalog, each with the last day, as `2026-01-02`, the newest first.
    package func endpoints() throws(AIError) -> [(address: String, day: String)] {
        try read { connection in
            try connection.query(
                "SELECT substr(name, length(?1) + 1), value FROM facts WHERE substr(name, 1, length(?1)) = ?1 ORDER BY value DESC, name",
                Self.endpointPrefix, map: { ($0.text(0), $0.text(1)) })
        }
    }

    /// Whether a Hub at another address has filled the catalog too.
    static func hasOtherHubs(than endpoint: String, _ connection: Connection) throws -> Bool {
        try connection.first(
            """
            SELECT EXISTS (SELECT 1 FROM mirrors WHERE endpoint <> ?1)
                OR EXISTS (SELECT 1 FROM facts WHERE substr(name, 1, length(?2)) = ?2 AND name <> ?2 || ?1)
            """, endpoint, endpointPrefix, map: { $0.bool(0) }) ?? false
    }
}
