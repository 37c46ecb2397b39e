import Catalog
import HubCore

extension Workspace {
    /// What the stores of all programs on this machine hold.
    ///
    /// - Parameter given: further folders with weights.
    package func survey(given: [String] = []) async throws -> StoreSurvey {
        await Blocking.run { [self] in
            let known = dispensable.use { catalog throws(AIError) in try catalog.localFolders() } ?? []
            let folders = known.filter { $0 != layout.root && LocalFolder($0).isKnown }
            let stores = StoreLocations(environment).all(layout, xet: xet, localFolders: folders, given: given)
            return StoreSurvey(stores, catalog: dispensable)
        }
    }
}
