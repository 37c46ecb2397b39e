package import Catalog
package import HubCore

extension Workspace {
    /// The cache's pins; empty if the catalog cannot be used.
    package func pins() async -> [Pin] {
        await Blocking.run { [dispensable, layout] in
            dispensable.use { catalog throws(AIError) in try CacheRecord(layout, in: catalog).pins() } ?? []
        }
    }

    /// The current protection of a cache.
    package func protection(for state: CacheState) async throws -> Protection {
        try await protection(for: state.files)
    }

    /// The same for only these files.
    package func protection(for files: Set<PhysicalFile.Identity>) async throws -> Protection {
        try await Blocking.run { [self] in try readProtection(for: files) }
    }

    /// As ``protection(for:)-(Set<PhysicalFile.Identity>)``. Blocks.
    package func readProtection(for files: Set<PhysicalFile.Identity>) throws(AIError) -> Protection {
        let openFiles = try OpenFiles.look(for: files)
        if let warning = openFiles.warning { noticeOnce(warning) }
        do throws(AIError) {
            return Protection(pins: try pinsForDeletion(), openFiles: openFiles)
        } catch {
            var protection = Protection(pins: [], openFiles: openFiles)
            protection.pinsFault = error
            return protection
        }
    }

    /// The pins, or the error why they are unknown.
    private func pinsForDeletion() throws(AIError) -> [Pin] {
        do throws(AIError) {
            return try dispensable.insist { catalog throws(AIError) in
                try CacheRecord(layout, in: catalog).pins()
            } ?? []
        } catch {
            // If there never was a catalog, nothing is pinned, and a full disk has no room for one. If it was deleted,
            // its backups contain the pins of all caches.
            if try Catalog.isAbsent(catalogPath) { return Catalog.backedUpPins(catalogPath) }
            throw error
        }
    }

    /// Removes verification results of deleted files.
    package func forgetVerified(after plan: DeletionPlan) async {
        let folders = Set(plan.rows.compactMap(\.folder))
        await Blocking.run { [dispensable, layout] in
            dispensable.use { catalog throws(AIError) in
                for folder in folders {
                    try catalog.forgetVerified(below: folder.name, ofCache: layout.root) { place, etag in
                        FileSystem.exists(
                            place == folder.name ? folder.blob(etag) : Path.join(layout.root, place))
                    }
                }
            }
        }
    }
}
