/// What deleting a changing choice of things frees. Choosing one, or not choosing it any more, costs as many steps as
/// it has files, however many things there are. Says what ``DeletionPlanner`` says of the same choice.
package struct FreedLedger: Sendable {
    /// A physical file of the cache.
    private struct File: Sendable {
        var size: Int64
        /// Names of it that stay, those outside the cache included.
        var left: Int
    }

    /// A payload of the shared store, which goes when a link to it goes and no line of its manifest is true any more.
    private struct Payload: Sendable {
        var file: Int
        var linksGone = 0
        var linesLeft: Int
        var isGone: Bool { linksGone > 0 && linesLeft == 0 }
    }

    /// An entry of `blobs/`. It goes for any reason: it was chosen, nobody needs it any more, its repository goes whole.
    private struct Name: Sendable {
        var file: Int?
        var payload: Int?
        /// Whether the payload's manifest has a true line for it.
        var isListed = false
        /// Snapshots that need it and stay.
        var users = 0
        var reasons = 0
    }

    private struct Repository: Sendable {
        var names: Range<Int>
        /// Revisions that stay. With the last one everything goes; -1 where that cannot be.
        var revisionsLeft: Int
    }

    private struct Item: Sendable {
        /// Entries of `blobs/` that go with it.
        var chosen: [Int] = []
        /// Entries of `blobs/` that it needs.
        var used: [Int] = []
        /// Files that are no blobs, one for each name.
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
    /// Bytes that go with everything chosen: st_size of each file whose last name goes.
    package private(set) var freedBytes: Int64 = 0

    /// Whether an item is chosen.
    package func isChosen(_ item: Int) -> Bool { chosen[item] }

    /// Chooses an item, or takes that back.
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

    /// Bytes that go with an item on top of what is chosen.
    package mutating func freedBytes(adding item: Int) -> Int64 {
        guard !chosen[item] else { return 0 }
        let before = freedBytes
        choose(item, true)
        defer { choose(item, false) }
        return freedBytes - before
    }

    /// Gives a name one more reason to go, or one fewer.
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

    /// Takes one name of a file away, or puts it back.
    private mutating func take(_ file: Int, _ step: Int) {
        let before = files[file].left
        files[file].left -= step
        // A file that has changed its names since it was read may come below nothing.
        if min(before, files[file].left) == 0 { freedBytes += Int64(step) * files[file].size }
    }
}

extension FreedLedger {
    /// Makes a ledger from what a scan found: repository by repository, their revisions and leftovers as items.
    struct Builder {
        private(set) var ledger = FreedLedger()
        private let store: SharedStore
        private var files: [PhysicalFile.Identity: Int] = [:]
        private var payloads: [String: Int] = [:]
        private var lines: [String: Set<String>] = [:]
        /// The names of the repository at hand.
        private var names: [String: Int] = [:]

        init(_ state: CacheState) { store = SharedStore(layout: state.layout) }

        /// Begins a repository; what is added next is in it.
        ///
        /// - Parameter foreign: blobs that something needs which is no snapshot; nil where there is no such thing.
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

        /// An item: a revision of the repository at hand.
        mutating func add(_ revision: CachedRevision) {
            append(
                Item(
                    used: revision.usedBlobs.compactMap { names[$0] },
                    files: revision.files.compactMap(\.file).map { file($0) },
                    revisionOf: ledger.repositories.count - 1))
        }

        /// An item: entries of the repository's `blobs/`.
        mutating func add(names chosen: [String]) { append(Item(chosen: chosen.compactMap { names[$0] })) }

        /// An item: files that are in no repository.
        mutating func add(files: [PhysicalFile]) { append(Item(files: files.map { file($0) })) }

        /// An item that shares nothing with others.
        mutating func add(bytes: Int64) { append(Item(bytes: bytes)) }

        private mutating func append(_ item: Item) {
            ledger.items.append(item)
            ledger.chosen.append(false)
        }

        private mutating func name(_ blob: CachedBlob, in folder: RepositoryFolder) -> Name {
            guard !blob.isForeign, let physical = blob.file else { return Name() }
            guard let hash = blob.sharedHash else { return Name(file: file(physical)) }
            if lines[hash] == nil, let known = store.references(hash) { lines[hash] = Set(known) }
            // Where the manifest cannot be read nobody may delete the payload.
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
    /// The entries of `blobs/` that its links lead to.
    var usedBlobs: Set<String> { Set(files.compactMap(\.blob)) }
}
