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

    /// Bytes that deleting everything would free but what is pinned.
    package func reclaimable(besides pins: Protection) throws(AIError) -> Int64 {
        var ledger = DeletionLedger(self)
        for repository in repositories where repository.obstacle == nil {
            for revision in repository.revisions where pins.pin(repository.folder, revision.commit) == nil {
                ledger.take(try ledger.choice(revision.files, of: repository, isRevision: true))
            }
            let rest = (repository.partials + (try repository.freeOrphans())).map(\.name)
            ledger.take(try ledger.choice(rest, of: repository))
        }
        ledger.take(ledger.choice(unusedPayloads.compactMap(\.file)))
        return ledger.freedBytes
    }
}
