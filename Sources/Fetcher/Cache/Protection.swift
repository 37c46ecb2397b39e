package import Catalog
package import HubCore

/// What must not be deleted, whatever a plan asks for: what is pinned, and what other processes have open.
package struct Protection: Sendable {
    /// By repository folder.
    package var pins: [String: [Commit: Pin]] = [:]
    package var openFiles = OpenFiles()
    /// Why the pins cannot be read; nil where they are known.
    package var pinsFault: AIError?

    package init() {}

    package init(pins: [Pin], openFiles: OpenFiles = OpenFiles()) {
        for pin in pins { self.pins[pin.folder, default: [:]][pin.commit] = pin }
        self.openFiles = openFiles
    }

    /// The error of a deletion by rule that cannot tell what is pinned.
    package static func refusal(_ fault: AIError) -> AIError {
        AIError(
            .catalogUnusable, "cannot read the pins (\(fault.message)); nothing was deleted",
            advice: fault.recoverySuggestion)
    }

    package func pin(_ folder: RepositoryFolder, _ commit: Commit) -> Pin? { pins[folder.name]?[commit] }
}

extension CacheState {
    /// Every file that a deletion could take.
    package var files: Set<PhysicalFile.Identity> {
        var out = Set(unusedPayloads.compactMap { $0.file?.identity })
        for repository in repositories {
            let entries = repository.blobs.values.compactMap(\.file) + repository.partials.compactMap(\.file)
            out.formUnion((entries + repository.revisions.flatMap { $0.files.compactMap(\.file) }).map(\.identity))
        }
        return out
    }
}

extension Workspace {
    /// What is pinned in the cache; nothing where the catalog cannot be used.
    package func pins() async -> [Pin] { await Offload.run { [self] in readPins() } }

    /// As ``pins()``. Blocks.
    private func readPins() -> [Pin] {
        dispensable.use { catalog throws(AIError) in try CacheRecord(layout, in: catalog).pins() } ?? []
    }

    /// What must not be deleted from a cache now.
    package func protection(for state: CacheState) async throws -> Protection {
        try await protection(for: state.files)
    }

    /// The same for these files alone.
    package func protection(for files: Set<PhysicalFile.Identity>) async throws -> Protection {
        try await Offload.run { [self] in try readProtection(for: files) }
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

    /// What is pinned, or the error why that is unknown.
    private func pinsForDeletion() throws(AIError) -> [Pin] {
        do throws(AIError) {
            return try dispensable.insist { catalog throws(AIError) in
                try CacheRecord(layout, in: catalog).pins()
            } ?? []
        } catch {
            // Where no catalog was ever made nothing is pinned, and a full disk has no room to make one. Where it was
            // deleted its backups know the pins, of whichever cache.
            if try Catalog.isAbsent(catalogPath) { return Catalog.backedUpPins(catalogPath) }
            throw error
        }
    }
}
