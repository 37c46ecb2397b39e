package import HubCore

extension Catalog {
    /// Remembers who serves models, as JSON of the caller's own, in place of what was known of them.
    ///
    /// - Parameter endpoint: of the router or the Hub that said it.
    package func remember(served: [(model: String, offers: JSON)], endpoint: String, at now: Double) throws(AIError)
    {
        try write { connection in
            for (model, offers) in served {
                try connection.run(
                    "INSERT OR REPLACE INTO served (endpoint, model, heard_at, offers) VALUES (?, ?, ?, ?)",
                    endpoint, model, now, offers.text())
            }
        }
    }

    /// What is remembered of a model; nil if nothing.
    package func served(_ model: String, endpoint: String) throws(AIError) -> (heardAt: Double, offers: String)? {
        try read { connection in
            try connection.first(
                "SELECT heard_at, offers FROM served WHERE endpoint = ? AND model = ?", endpoint, model
            ) { ($0.double(0), $0.text(1)) }
        }
    }

    /// What is remembered of all models, by their names.
    package func served(endpoint: String) throws(AIError) -> [(model: String, heardAt: Double, offers: String)] {
        try read { connection in
            try connection.query(
                "SELECT model, heard_at, offers FROM served WHERE endpoint = ? ORDER BY model", endpoint
            ) { ($0.text(0), $0.double(1), $0.text(2)) }
        }
    }
}
