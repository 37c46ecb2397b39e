public import HubCore

extension Catalog {
    /// When the Hub was last heard on repositories of a kind, in seconds since 1970; nil where nothing is known of any.
    public func newestSeen(_ kind: RepositoryKind) throws(AIError) -> Double? {
        try read { connection in
            try connection.first("SELECT max(seen_at) FROM models WHERE kind = ?", kind.rawValue) {
                $0.optionalDouble(0)
            } ?? nil
        }
    }
}
