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
                // What the file has nothing of stays in `known`, and is forgotten with what is gone.
                guard let isDocument = try read(found, known[found.path], &summary) else { continue }
                known[found.path] = nil
                if isDocument { summary.documents += 1 }
            }
            progress(.reading(done: walk.files.count, of: walk.files.count))
            try file.forget(known.keys.sorted())
            summary.forgotten += known.values.filter(\.isDocument).count
        }
        return summary
    }

    /// Whether a file is a document; nil if nothing is kept of it.
    private func read(
        _ found: FolderWalk.File, _ known: MemoryFile.Document?, _ summary: inout MemoryContext.Summary
    ) throws -> Bool? {
        let fingerprint = found.status.fingerprint
        if let known, known.fingerprint == fingerprint { return still(known, &summary) }
        guard !DocumentReader.isLarge(found) else {
            summary.skipped.large += 1
            return nil
        }
        let (digest, reading): (String, DocumentReader.Reading?)
        do throws(AIError) { (digest, reading) = try reader.read(found.path, known: known?.digest) } catch {
            summary.skipped.unreadable += 1
            return nil
        }
        switch reading {
        case nil:
            guard let known else { return nil }
            try file.confirm(known, fingerprint)
            return still(known, &summary)
        case .text(let text)?:
            try file.replace(found.path, fingerprint, digest: digest, unit: "line", cuts: cutter.cuts(text))
        case .pages(let pages)?:
            try file.replace(found.path, fingerprint, digest: digest, unit: "page", cuts: cutter.cuts(pages: pages))
        case .binary?:
            // Remembered, so that it is not read again at each start.
            try file.replace(found.path, fingerprint, digest: digest, unit: MemoryFile.none, cuts: [])
            summary.skipped.binary += 1
            if known?.isDocument == true { summary.forgotten += 1 }
            return false
        case .large?: summary.skipped.large += 1
        case .withoutReader?: summary.skipped.withoutReader += 1
        }
        switch reading {
        case .text?, .pages?:
            summary.changed += 1
            return true
        default: return nil
        }
    }

    /// What is as it was.
    private func still(_ known: MemoryFile.Document, _ summary: inout MemoryContext.Summary) -> Bool {
        if !known.isDocument { summary.skipped.binary += 1 }
        return known.isDocument
    }
}

/// That work on another thread is no longer wanted.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}
