import HubCore

/// Counts what deleting something frees, for lists, plans and targets alike. A file has names, a payload of the shared
/// store has lines in its manifest; it is freed when the last one is gone, but for blocks that other files share. An entry
/// of `blobs/` goes when no snapshot links to it any more, and everything of a repository with its last revision.
///
/// A repository is entered when it is first named. Taking a choice, or giving it back, costs time proportional to it.
package struct DeletionLedger: Sendable {
    private struct File: Sendable {
        var physical: PhysicalFile
        /// Remaining names, including those outside the cache.
        var names: Int
        /// Remaining entries of `blobs/` and plain files through which revisions need it.
        var needs = 0
    }

    /// Its file is deleted when a link to it is deleted and its manifest has no valid line.
    private struct Payload: Sendable {
        var file: Int
        var linksGone = 0
        var lines: Int
        var isGone: Bool { linksGone > 0 && lines == 0 }
    }

    /// An entry of `blobs/`.
    private struct Entry: Sendable {
        var name: String
        /// The file it is, or leads to.
        var file: Int?
        /// Whether the file is deleted with it: it is no link.
        var isOwn = false
        var payload: Int?
        /// Whether the payload's manifest has a valid line for it.
        var isListed = false
        /// Remaining links from snapshots.
        var links = 0
        /// Whether something else in `snapshots/` links to it.
        var isForeign = false
        /// It was chosen, lost its last link, or its repository its last revision.
        var reasons = 0
    }

    private struct Repository: Sendable {
        var entries: Range<Int>
        var places: [String: Int]
        /// With the last revision everything is deleted, unless something else is in `snapshots/`.
        var revisions: Int
        var hasForeign: Bool
    }

    /// Something to delete.
    package struct Choice: Sendable, Hashable {
        /// Links from snapshots, by the entry of `blobs/` they lead to.
        fileprivate var links: [Int] = []
        /// Entries of `blobs/`.
        fileprivate var entries: [Int] = []
        /// Files that are not blobs, one per name.
        fileprivate var files: [Int] = []
        /// Whether it counts as one of the repository's revisions.
        fileprivate var isRevision = false
        /// Whether it is all that is left of the repository.
        fileprivate var isRest = false
        fileprivate var repository: Int?
        /// Bytes that nothing else shares.
        fileprivate var bytes: Int64 = 0
    }

    /// What goes with a choice.
    package struct Change {
        var freed = FreedBytes()
        /// Entries of `blobs/`.
        var names: [String] = []
        /// Whether nothing of the repository is left.
        var isWhole = false
    }

    private let store: SharedStore?
    private(set) var blocks: SharedBlocks
    private var files: [File] = []
    private var payloads: [Payload] = []
    private var entries: [Entry] = []
    private var repositories: [Repository] = []
    private var filePlaces: [PhysicalFile.Identity: Int] = [:]
    private var payloadPlaces: [String: Int] = [:]
    private var repositoryPlaces: [String: Int] = [:]
    /// For each payload the valid lines of its manifest; absent if it cannot be read, and the payload must stay.
    private var lines: [String: Set<String>] = [:]
    /// Bytes freed by all that was taken.
    package private(set) var freed = FreedBytes()
    package var freedBytes: Int64 { freed.size }
    /// Bytes of the files that the remaining revisions of the repositories entered need, each file once.
    private(set) var neededBytes: Int64 = 0

    /// - Parameters:
    ///   - layout: nil if nothing is known of a shared store: its payloads stay then.
    ///   - blocks: what the files share with others.
    init(_ layout: CacheLayout?, _ blocks: SharedBlocks) {
        store = layout.map { SharedStore(layout: $0) }
        self.blocks = blocks
    }

    /// For a whole cache.
    package init(_ state: CacheState) { self.init(state.layout, SharedBlocks(state)) }

    /// Takes account of what further files share.
    mutating func add(_ blocks: SharedBlocks) { self.blocks.add(blocks) }

    // MARK: Choices

    /// A revision, or some of its files. If there is no revision, all that is left of the repository.
    ///
    /// - Parameter files: its files that were not taken before.
    mutating func choice(_ files: [CachedFile], of repository: CachedRepository, isRevision: Bool) throws(AIError)
        -> Choice
    {
        let place = try enter(repository)
        if repository.revisions.isEmpty, !repositories[place].hasForeign {
            return Choice(entries: Array(repositories[place].entries), isRest: true)
        }
        let places = repositories[place].places
        return Choice(
            links: files.compactMap { $0.blob.flatMap { places[$0] } },
            files: files.compactMap(\.file).map { enter($0) }, isRevision: isRevision, repository: place)
    }

    /// Entries of `blobs/`.
    mutating func choice(_ names: some Sequence<String>, of repository: CachedRepository) throws(AIError) -> Choice
    {
        let places = repositories[try enter(repository)].places
        return Choice(entries: names.compactMap { places[$0] })
    }

    /// Files outside repositories, one per name.
    mutating func choice(_ files: [PhysicalFile]) -> Choice { Choice(files: files.map { enter($0) }) }

    /// Bytes that nothing else shares.
    func choice(bytes: Int64) -> Choice { Choice(bytes: bytes) }

    /// What would go with a choice that was not taken.
    mutating func preview(_ choice: Choice) -> Change {
        let change = take(choice)
        take(choice, back: true)
        return change
    }

    /// Takes a choice, or gives it back.
    @discardableResult
    package mutating func take(_ choice: Choice, back: Bool = false) -> Change {
        let step = back ? -1 : 1
        let bytes = Int64(step) * choice.bytes
        var change = Change(freed: FreedBytes(size: bytes, allocated: bytes), isWhole: choice.isRest)
        for file in choice.files {
            lose(file, step, &change)
            if choice.repository != nil { need(file, -step) }
        }
        for entry in choice.entries { delete(entry, step, &change) }
        for entry in choice.links {
            let before = entries[entry].links
            entries[entry].links -= step
            guard min(before, entries[entry].links) == 0 else { continue }
            if let file = entries[entry].file { need(file, -step) }
            if !entries[entry].isForeign { delete(entry, step, &change) }
        }
        if choice.isRevision, let place = choice.repository {
            let before = repositories[place].revisions
            repositories[place].revisions -= step
            if min(before, repositories[place].revisions) == 0, !repositories[place].hasForeign {
                change.isWhole = true
                for entry in repositories[place].entries { delete(entry, step, &change) }
            }
        }
        freed += change.freed
        return change
    }

    /// Whether an entry of `blobs/` was taken.
    func isGone(_ name: String, of repository: CachedRepository) -> Bool {
        guard let place = repositoryPlaces[repository.folder.name] else { return false }
        return repositories[place].places[name].map { entries[$0].reasons > 0 } ?? false
    }

    /// Adds or removes a reason to delete an entry of `blobs/`.
    private mutating func delete(_ entry: Int, _ step: Int, _ change: inout Change) {
        let wasGone = entries[entry].reasons > 0
        entries[entry].reasons += step
        guard (entries[entry].reasons > 0) != wasGone else { return }
        change.names.append(entries[entry].name)
        if entries[entry].isOwn, let file = entries[entry].file { lose(file, step, &change) }
        guard let payload = entries[entry].payload else { return }
        let payloadWasGone = payloads[payload].isGone
        payloads[payload].linksGone += step
        if entries[entry].isListed { payloads[payload].lines -= step }
        if payloads[payload].isGone != payloadWasGone { lose(payloads[payload].file, step, &change) }
    }

    /// Removes a name of a file, or restores it.
    private mutating func lose(_ file: Int, _ step: Int, _ change: inout Change) {
        let before = files[file].names
        files[file].names -= step
        // The count may go below zero if links changed since the scan.
        guard min(before, files[file].names) == 0 else { return }
        let bytes = blocks.lose(files[file].physical, back: step < 0)
        if step > 0 { change.freed += bytes } else { change.freed -= bytes }
    }

    private mutating func need(_ file: Int, _ step: Int) {
        let before = files[file].needs
        files[file].needs += step
        if min(before, files[file].needs) == 0 { neededBytes += Int64(step) * files[file].physical.size }
    }

    // MARK: Entering

    @discardableResult
    mutating func enter(_ repository: CachedRepository) throws(AIError) -> Int {
        if let known = repositoryPlaces[repository.folder.name] { return known }
        let foreign = try repository.foreignBlobs()
        let first = entries.count
        var places: [String: Int] = [:]
        for blob in repository.blobs.values.sorted(by: { $0.name < $1.name }) + repository.partials {
            places[blob.name] = entries.count
            entries.append(entry(blob, in: repository.folder))
        }
        for name in foreign ?? [] { places[name].map { entries[$0].isForeign = true } }
        for file in repository.revisions.lazy.flatMap(\.files) {
            if let physical = file.file { need(enter(physical), 1) }
            guard let place = file.blob.flatMap({ places[$0] }) else { continue }
            entries[place].links += 1
            if entries[place].links == 1, let file = entries[place].file { need(file, 1) }
        }
        repositoryPlaces[repository.folder.name] = repositories.count
        repositories.append(
            Repository(
                entries: first..<entries.count, places: places, revisions: repository.revisions.count,
                hasForeign: foreign != nil))
        return repositories.count - 1
    }

    private mutating func entry(_ blob: CachedBlob, in folder: RepositoryFolder) -> Entry {
        var entry = Entry(name: blob.name, file: blob.file.map { enter($0) })
        guard let file = entry.file, !blob.isForeign else { return entry }
        entry.isOwn = blob.sharedHash == nil
        guard let hash = blob.sharedHash else { return entry }
        if lines[hash] == nil, let known = store?.references(hash) { lines[hash] = Set(known) }
        guard let lines = lines[hash] else { return entry }
        if payloadPlaces[hash] == nil {
            payloadPlaces[hash] = payloads.count
            payloads.append(Payload(file: file, lines: lines.count))
        }
        entry.payload = payloadPlaces[hash]
        entry.isListed = lines.contains("\(folder.name)/blobs/\(blob.name)")
        return entry
    }

    private mutating func enter(_ file: PhysicalFile) -> Int {
        if let known = filePlaces[file.identity] { return known }
        filePlaces[file.identity] = files.count
        files.append(File(physical: file, names: Int(clamping: file.links)))
        return files.count - 1
    }
}

extension DeletionLedger {
    /// Bytes freed with these revisions of a repository while the others stay. With all of them, or if it has none, the
    /// rest of the repository goes too. 0 if it cannot be read, because then a planner deletes nothing.
    package mutating func freedBytes(_ revisions: [CachedRevision], of repository: CachedRepository) -> Int64 {
        guard repository.obstacle == nil else { return 0 }
        var choices: [Choice] = []
        do throws(AIError) {
            for revision in revisions {
                choices.append(try choice(revision.files, of: repository, isRevision: true))
            }
            if repository.revisions.isEmpty { choices = [try choice([], of: repository, isRevision: false)] }
        } catch { return 0 }
        let before = freed.size
        for choice in choices { take(choice) }
        defer { for choice in choices { take(choice, back: true) } }
        return freed.size - before
    }
}
