package import Catalog
package import HubCore

/// What may not be deleted whatever a plan asks for: what is pinned, and what other processes have open.
package struct Protection: Sendable {
    /// By repository folder.
    package var pins: [String: [Commit: Pin]] = [:]
    package var openFiles = OpenFiles()
    /// Why nobody knows what is pinned; nil where it is known.
    package var pinsFault: AIError?
    /// What could not be found out, for a person to read.
    package var remarks: [String] = []

    package init() {}

    package init(pins: [Pin], openFiles: OpenFiles = OpenFiles()) {
        for pin in pins { self.pins[pin.folder, default: [:]][pin.commit] = pin }
        self.openFiles = openFiles
        if let remark = openFiles.remark { remarks.append(remark) }
    }

    /// The error of who would have to go on without knowing what is pinned.
    package static func refusal(_ fault: AIError) -> AIError {
        AIError(
            .catalogUnusable, "what is pinned cannot be told, so nothing was deleted: \(fault.message)",
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
        dispensable.use { catalog throws(AIError) in try catalog.pins(ofCache: layout.root) } ?? []
    }

    /// What of a cache may not be deleted now.
    package func protection(for state: CacheState) async throws -> Protection {
        try await protection(for: state.files)
    }

    /// What may not be deleted now, as far as these files go.
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
            protection.remarks.append("what is pinned cannot be told without the catalog")
            return protection
        }
    }

    /// What is pinned, for who may not go on without knowing.
    private func pinsForDeletion() throws(AIError) -> [Pin] {
        do throws(AIError) {
            return try dispensable.insist { catalog throws(AIError) in try catalog.pins(ofCache: layout.root) }
                ?? []
        } catch {
            // Where there is no catalog nothing was ever pinned.
            if try FileSystem.linkStatus(catalogPath) == nil { return [] }
            throw error
        }
    }
}
