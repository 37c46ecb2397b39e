/// The bytes freed by a changing selection. Selecting or deselecting an item costs time proportional to its files. The
/// result equals that of ``DeletionPlanner``.
package struct FreedLedger: Sendable {
    /// A physical file of the cache.
    private struct File: Sendable {
        var size: Int64
        /// Remaining names, including those outside the cache.
        var left: Int
    }

    /// A payload of the shared store, deleted when a link to it is deleted and its manifest has no valid line.
    private struct Payload: Sendable {
        var file: Int
        var linksGone = 0
        var linesLeft: Int
        var isGone: Bool { linksGone > 0 && linesLeft == 0 }
    }

    /// An entry of `blobs/`. It is deleted if selected, if no longer needed, or with its whole repository.
    private struct Name: Sendable {
        var file: Int?
        var payload: Int?
        /// Whether the payload's manifest has a valid line for it.
        var isListed = false
        /// Number of remaining snapshots that need it.
        var users = 0
        var reasons = 0
    }

    private struct Repository: Sendable {
        var names: Range<Int>
        /// Number of remaining revisions. With the last one everything is deleted; -1 if that cannot happen.
        var revisionsLeft: Int
    }

    private struct Item: Sendable {
        /// Entries of `blobs/` deleted with it.
        var chosen: [Int] = []
        /// Entries of `blobs/` that it needs.
        var used: [Int] = []
        /// Files that are not blobs, one per name.
        var files: [Int] = []
        var revisionOf: Int?
        var bytes: Int64 = 0
    }

    private var files: [File] = []
    private var payloads: [Payload] = []
    private var names: [Name] = []
    private var repositories: [Repository] = []
    private var items: [Item] = []
    private var chosen: [Bool] = []
    /// Bytes freed by the selection: st_size of each file whose last name is deleted.
    package private(set) var freedBytes: Int64 = 0

    /// Whether an item is selected.
    package func isChosen(_ item: Int) -> Bool { chosen[item] }

    /// Selects or deselects an item.
    package mutating func choose(_ item: Int, _ isChosen: Bool) {
        guard chosen[item] != isChosen else { return }
        chosen[item] = isChosen
        let step = isChosen ? 1 : -1
        freedBytes += Int64(step) * items[item].bytes
        for file in items[item].files { take(file, step) }
        for name in items[item].chosen { give(name, step) }
        for name in items[item].used {
            let before = names[name].users
            names[name].users -= step
            if min(before, names[name].users) == 0 { give(name, step) }
        }
        guard let place = items[item].revisionOf, repositories[place].revisionsLeft >= 0 else { return }
        let before = repositories[place].revisionsLeft
        repositories[place].revisionsLeft -= step
        guard min(before, repositories[place].revisionsLeft) == 0 else { return }
        for name in repositories[place].names { give(name, step) }
    }

    /// Additional bytes freed by an item.
    package mutating func freedBytes(adding item: Int) -> Int64 {
        guard !chosen[item] else { return 0 }
        let before = freedBytes
        choose(item, true)
        defer { choose(item, false) }
        return freedBytes - before
    }

    /// Adds or removes a reason to delete a name.
    private mutating func give(_ name: Int, _ step: Int) {
        let wasGone = names[name].reasons > 0
        names[name].reasons += step
        guard (names[name].reasons > 0) != wasGone else { return }
        if let file = names[name].file { take(file, step) }
        guard let payload = names[name].payload else { return }
        let payloadWasGone = payloads[payload].isGone
        payloads[payload].linksGone += step
        if names[name].isListed { payloads[payload].linesLeft -= step }
        if payloads[payload].isGone != payloadWasGone { take(payloads[payload].file, step) }
    }

    /// Removes a name of a file, or restores it.
    private mutating func take(_ file: Int, _ step: Int) {
        let before = files[file].left
        files[file].left -= step
        // The count may go below zero if links changed since the scan.
        if min(before, files[file].left) == 0 { freedBytes += Int64(step) * files[file].size }
    }
}

extension FreedLedger {
    /// Builds a ledger from a scan: repository by repository, with revisions and leftovers as items.
    struct Builder {
        private(set) var ledger = FreedLedger()
        private let store: SharedStore
        private var files: [PhysicalFile.Identity: Int] = [:]
        private var payloads: [String: Int] = [:]
        private var lines: [String: Set<String>] = [:]
        /// The names of the current repository.
        private var names: [String: Int] = [:]

        init(_ state: CacheState) { store = SharedStore(layout: state.layout) }

        /// Begins a repository; the following items belong to it.
        ///
        /// - Parameter foreign: blobs needed by something other than snapshots; nil if there is nothing like that.
        mutating func begin(_ repository: CachedRepository, foreign: Set<String>?) {
            names = [:]
            let first = ledger.names.count
            for blob in repository.blobs.values.sorted(by: { $0.name < $1.name }) + repository.partials {
                names[blob.name] = ledger.names.count
                ledger.names.append(name(blob, in: repository.folder))
            }
            ledger.repositories.append(
                Repository(
                    names: first..<ledger.names.count,
                    revisionsLeft: foreign == nil ? repository.revisions.count : -1))
            for revision in repository.revisions {
                for blob in revision.usedBlobs { names[blob].map { ledger.names[$0].users += 1 } }
            }
            for blob in foreign ?? [] { names[blob].map { ledger.names[$0].users += 1 } }
        }

        /// Adds a revision of the current repository as an item.
        mutating func add(_ revision: CachedRevision) {
            append(
                Item(
                    used: revision.usedBlobs.compactMap { names[$0] },
                    files: revision.files.compactMap(\.file).map { file($0) },
                    revisionOf: ledger.repositories.count - 1))
        }

        /// Adds entries of the repository's `blobs/` as an item.
        mutating func add(names chosen: [String]) { append(Item(chosen: chosen.compactMap { names[$0] })) }

        /// Adds files outside repositories as an item.
        mutating func add(files: [PhysicalFile]) { append(Item(files: files.map { file($0) })) }

        /// Adds an item that shares nothing with others.
        mutating func add(bytes: Int64) { append(Item(bytes: bytes)) }

        private mutating func append(_ item: Item) {
            ledger.items.append(item)
            ledger.chosen.append(false)
        }

        private mutating func name(_ blob: CachedBlob, in folder: RepositoryFolder) -> Name {
            guard !blob.isForeign, let physical = blob.file else { return Name() }
            guard let hash = blob.sharedHash else { return Name(file: file(physical)) }
            if lines[hash] == nil, let known = store.references(hash) { lines[hash] = Set(known) }
            // If the manifest cannot be read, the payload must not be deleted.
            guard let lines = lines[hash] else { return Name() }
            if payloads[hash] == nil {
                payloads[hash] = ledger.payloads.count
                ledger.payloads.append(Payload(file: file(physical), linesLeft: lines.count))
            }
            return Name(
                payload: payloads[hash], isListed: lines.contains("\(folder.name)/blobs/\(blob.name)"))
        }

        private mutating func file(_ physical: PhysicalFile) -> Int {
            if let known = files[physical.identity] { return known }
            files[physical.identity] = ledger.files.count
            ledger.files.append(File(size: physical.size, left: Int(physical.links)))
            return ledger.files.count - 1
        }
    }
}

extension CachedRevision {
    /// The entries of `blobs/` that its links point to.
    var usedBlobs: Set<String> { Set(files.compactMap(\.blob)) }
}
