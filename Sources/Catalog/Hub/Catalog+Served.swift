package import HubCore

extension Catalog {
    /// Remembers who serves models, as JSON of the caller's own, in place of what was known of them.
    ///
    /// - Parameter source: the address that said it.
    package func remember(served: [(model: String, offers: JSON)], source: String, at now: Double) throws(AIError) {
        try write { connection in
            for (model, offers) in served {
                try connection.run(
                    "INSERT OR REPLACE INTO served (source, model, heard_at, offers) VALUES (?, ?, ?, ?)",
                    source, model, now, offers.text())
            }
        }
    }

    /// What is remembered of a model; nil if nothing.
    package func served(_ model: String, source: String) throws(AIError) -> (heardAt: Double, offers: String)? {
        try read { connection in
            try connection.first(
                "SELECT heard_at, offers FROM served WHERE source = ? AND model = ?", source, model
            ) { ($0.double(0), $0.text(1)) }
        }
    }

    /// What is remembered of all models, by their names.
    package func served(source: String) throws(AIError) -> [(model: String, heardAt: Double, offers: String)] {
        try read { connection in
            try connection.query(
                "SELECT model, heard_at, offers FROM served WHERE source = ? ORDER BY model", source
            ) { ($0.text(0), $0.double(1), $0.text(2)) }
        }
    }
}
