import HubCore
import Synchronization

/// Brings the file up to date with folders.
struct FolderReading {
    private let file: MemoryFile
    private let reader: DocumentReader
    private let progress: @Sendable (MemoryContext.Progress) -> Void
    private let isCancelled: CancellationFlag
    private let cutter = ExcerptCutter()

    init(
        _ file: MemoryFile, _ environment: HubEnvironment,
        _ progress: @escaping @Sendable (MemoryContext.Progress) -> Void, _ isCancelled: CancellationFlag
    ) {
        self.file = file
        self.progress = progress
        self.isCancelled = isCancelled
        reader = DocumentReader(environment)
    }

    func read(_ roots: [String]) throws -> MemoryContext.Summary {
        var summary = MemoryContext.Summary()
        for root in roots {
            let walk = try FolderWalk(root)
            summary.skipped += walk.skipped
            var known = try file.documents(below: root)
            for (index, found) in walk.files.enumerated() {
                guard !isCancelled.isSet else { throw CancellationError() }
                if index % 64 == 0 { progress(.reading(done: index, of: walk.files.count)) }
                // What is no document any more stays in `known`, and is forgotten with what is gone.
                if try read(found, known[found.path], &summary) {
                    known[found.path] = nil
                    summary.documents += 1
                }
            }
            progress(.reading(done: walk.files.count, of: walk.files.count))
            try file.forget(known.keys.sorted())
            summary.forgotten += known.count
        }
        return summary
    }

    /// Whether a file is a document; then the store has it.
    private func read(
        _ found: FolderWalk.File, _ known: MemoryFile.Document?, _ summary: inout MemoryContext.Summary
    ) throws -> Bool {
        let fingerprint = found.status.fingerprint
        if let known, known.fingerprint == fingerprint { return true }
        guard !DocumentReader.isLarge(found) else {
            summary.skipped.large += 1
            return false
        }
        let (digest, reading): (String, DocumentReader.Reading?)
        do throws(AIError) { (digest, reading) = try reader.read(found.path, known: known?.digest) } catch {
            summary.skipped.unreadable += 1
            return false
        }
        switch reading {
        case nil:
            if let known { try file.confirm(known, fingerprint) }
            return true
        case .text(let text)?:
            try file.replace(found.path, fingerprint, digest: digest, unit: "line", cuts: cutter.cuts(text))
        case .pages(let pages)?:
            try file.replace(found.path, fingerprint, digest: digest, unit: "page", cuts: cutter.cuts(pages: pages))
        case .binary?: summary.skipped.binary += 1
        case .large?: summary.skipped.large += 1
        case .withoutReader?: summary.skipped.withoutReader += 1
        }
        switch reading {
        case .text?, .pages?:
            summary.changed += 1
            return true
        default: return false
        }
    }
}

/// That work on another thread is no longer wanted.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}
