public import HubCore

extension Catalog {
    /// The stored data of a repository; nil if there is none.
    public func model(_ repository: Repository) throws(AIError) -> KnownModel? {
        try read { connection in try ModelRow.find(repository, connection)?.known }
    }
}
