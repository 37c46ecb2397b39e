public import HubCore

extension Catalog {
    /// What is known of a repository; nil where nothing is.
    public func model(_ repository: Repository) throws(AIError) -> KnownModel? {
        try read { connection in try ModelRow.find(repository, connection)?.known }
    }
}
