package import Catalog
package import HubCore

/// Items that must not be deleted: pinned revisions, and files that other processes have open.
package struct Protection: Sendable {
    /// By repository folder.
    package var pins: [String: [Commit: Pin]] = [:]
    package var openFiles = OpenFiles()
    /// Why the pins cannot be read; nil if they are known.
    package var pinsFault: AIError?

    package init() {}

    package init(pins: [Pin], openFiles: OpenFiles = OpenFiles()) {
        for pin in pins { self.pins[pin.folder, default: [:]][pin.commit] = pin }
        self.openFiles = openFiles
    }

    /// The error of a rule-based deletion without known pins.
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
    /// The cache's pins; empty if the catalog cannot be used.
    package func pins() async -> [Pin] { await Offload.run { [self] in readPins() } }

    /// As ``pins()``. Blocks.
    private func readPins() -> [Pin] {
        dispensable.use { catalog throws(AIError) in try CacheRecord(layout, in: catalog).pins() } ?? []
    }

    /// The current protection of a cache.
    package func protection(for state: CacheState) async throws -> Protection {
        try await protection(for: state.files)
    }

    /// The same for only these files.
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
}
