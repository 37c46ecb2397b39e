package import Catalog
import HubCore

/// What all stores of this machine hold, and what is held more than once.
package struct StoreSurvey: Sendable {
    package private(set) var stores: [StoreContents]
    /// The SHA-256 of files, as their programs claim it or as they were read.
    package private(set) var digests: [PhysicalFile.Identity: String] = [:]
    /// Those that were read, now or earlier, and have not changed since.
    package private(set) var proven: Set<PhysicalFile.Identity> = []
    /// What ``prove(_:progress:)`` could not read, or found to be other content than its program claims: a sentence each.
    package private(set) var remarks: [String] = []
    private let catalog: DispensableCatalog

    /// A file of a store.
    package struct Place: Sendable, Hashable {
        package var store: Int
        package var file: Int
    }

    /// Looks at the stores, at all of them at once.
    package init(_ stores: [Store], catalog: DispensableCatalog) {
        self.catalog = catalog
        let roots = stores.map { store in
            ((try? FileSystem.status(store.path)) ?? nil).map { PhysicalFile($0).identity }
        }
        let found = Lock<[Int: StoreContents]>([:])
        Parallel.perform(stores.count) { index in
            let store = stores[index]
            let known = catalog.use { catalog throws(AIError) in try catalog.store(store.path) } ?? nil
            var walk = FolderWalk(root: store.path)
            walk.excluded = Set(roots.enumerated().compactMap { $0.offset == index ? nil : $0.element })
            walk.keepsNames = StoreReader.namesAreNeeded(store)
            let result = walk.run(known: known.map(FolderWalk.read) ?? [:])
            if result.hasChanged {
                let bytes = FolderWalk.write(result.folders)
                catalog.use { catalog throws(AIError) in try catalog.remember(store: store.path, folders: bytes) }
            }
            var reader = StoreReader(store, result)
            let contents = reader.read()
            found.withLock { $0[index] = contents }
        }
        let all = found.withLock { $0 }
        self.stores = stores.indices.map { all[$0]! }
        for contents in self.stores {
            for (file, claim) in contents.claims where !contents.partials.contains(file) {
                digests[contents.files[file].identity] = claim
            }
        }
    }

    package subscript(_ place: Place) -> StoreFile { stores[place.store].files[place.file] }
    package func path(_ place: Place) -> String { stores[place.store].path(place.file) }

    /// All large files that are whole, as far as names say.
    package var places: [Place] {
        stores.indices.flatMap { store in
            stores[store].files.indices.lazy.filter { !stores[store].partials.contains($0) }
                .filter { stores[store].files[$0].file.size >= FolderWalk.large }
                .map { Place(store: store, file: $0) }
        }
    }

    // MARK: Digests

    /// Files without a digest that have the size of another one: only these may be copies.
    package var unknownCandidates: [Place] {
        var bySize: [Int64: Set<PhysicalFile.Identity>] = [:]
        for place in places { bySize[self[place].file.size, default: []].insert(self[place].identity) }
        var seen: Set<PhysicalFile.Identity> = []
        return places.filter { place in
            let file = self[place]
            return digests[file.identity] == nil && bySize[file.file.size]!.count > 1
                && seen.insert(file.identity).inserted
        }
    }

    /// The weights of other programs whose digest nobody claims.
    ///
    /// - Parameter stores: looks only at these; nil for all.
    package func unread(in stores: Set<Store>?) -> [Place] {
        var seen: Set<PhysicalFile.Identity> = []
        return places.filter { place in
            let store = self.stores[place.store].store
            return store.tool != .huggingface && (stores?.contains(store) ?? true)
                && digests[self[place].identity] == nil && seen.insert(self[place].identity).inserted
        }
    }

    /// Files that other programs name by a digest which another file has too: before one takes the place of the other,
    /// the claim is held against the bytes.
    ///
    /// - Parameter stores: looks only at these; nil for all.
    package func claimedCopies(in stores: Set<Store>?) -> [Place] {
        var byDigest: [String: Set<PhysicalFile.Identity>] = [:]
        for place in places {
            let identity = self[place].identity
            if let digest = digests[identity] { byDigest[digest, default: []].insert(identity) }
        }
        var seen: Set<PhysicalFile.Identity> = []
        return places.filter { place in
            let (store, identity) = (self.stores[place.store].store, self[place].identity)
            guard store.tool != .huggingface, stores?.contains(store) ?? true, let digest = digests[identity],
                !proven.contains(identity), byDigest[digest]!.count > 1
            else { return false }
            return seen.insert(identity).inserted
        }
    }

    /// Reads files, unless they were read in their present state already. One that cannot be read is no copy of another:
    /// it is remarked, and the others are read.
    ///
    /// - Parameter progress: called from several threads with further bytes read; may throw to stop.
    package mutating func prove(_ wanted: [Place], progress: @Sendable (Int) throws -> Void) throws {
        let files = wanted.map { (path: path($0), file: self[$0]) }
        let found = Lock<[Int: Result<String?, any Error>]>([:])
        let catalog = catalog
        Parallel.perform(files.count, on: .blocking) { index in
            let (path, file) = files[index]
            let result = Result { try FileDigest.of(path, expecting: file, catalog, progress: progress) }
            found.withLock { $0[index] = result }
        }
        let all = found.withLock { $0 }
        for index in files.indices {
            let (path, identity) = (files[index].path, files[index].file.identity)
            do {
                guard let digest = try all[index]!.get() else {
                    remarks.append("\(path.printable) is left out: it was changed meanwhile")
                    continue
                }
                if let claim = digests[identity], claim != digest {
                    digests[identity] = nil
                    remarks.append("\(path.printable) is left out: its content is not what its name says")
                    continue
                }
                digests[identity] = digest
                proven.insert(identity)
            } catch let error as AIError where error.code != .cancelled {
                remarks.append("\(path.printable) is left out: \(error.message)")
            }
        }
    }

    // MARK: Copies

    /// Files of the same content, one place for each that takes room of its own; the first is that of the cache, if it
    /// has one.
    package func copies() -> [[Place]] {
        var byDigest: [String: [Place]] = [:]
        var seen: Set<PhysicalFile.Identity> = []
        for place in places {
            let file = self[place]
            guard let digest = digests[file.identity], seen.insert(file.identity).inserted else { continue }
            byDigest[digest, default: []].append(place)
        }
        return byDigest.sorted { $0.key < $1.key }.compactMap { _, found in
            var own: [Place] = []
            // A digest that is only claimed of files of several sizes is wrong for all but one.
            for place in found where self[place].file.size == self[found[0]].file.size {
                if !own.contains(where: { FileDigest.areClones(path($0), path(place)) }) { own.append(place) }
            }
            return own.count > 1 ? own : nil
        }
    }
}

/// Digests of files that others may write.
package enum FileDigest {
    /// The SHA-256 of an opened file; nil if it was changed while it was read, or is not what a scan saw.
    package static func of(
        _ path: String, expecting file: StoreFile, _ catalog: DispensableCatalog, progress: (Int) throws -> Void
    ) throws -> String? {
        let descriptor = try FileDescriptor(unnoticed: path)
        let status = try descriptor.status()
        guard PhysicalFile(status).identity == file.identity, status.size == file.file.size else { return nil }
        let known = catalog.use { catalog throws(AIError) in
            try catalog.digest(of: status.fingerprint)
        }
        if let known = known ?? nil { return known }
        let hasher = ContentHasher()
        try hasher.update(descriptor, progress: progress)
        let digest = hasher.finish().hex
        guard try descriptor.status().fingerprint == status.fingerprint else { return nil }
        // A file written within the clock's tick could change again without a trace.
        if Timestamp.nowNanoseconds - status.changedNanoseconds > 100_000_000 {
            catalog.use { catalog throws(AIError) in
                try catalog.remember(digest: digest, of: status.fingerprint)
            }
        }
        return digest
    }

    /// Whether two files share their content on the disk, so that one alone frees nothing.
    package static func areClones(_ one: String, _ other: String) -> Bool {
        guard let first = try? FileDescriptor(unnoticed: one), let second = try? FileDescriptor(unnoticed: other)
        else { return false }
        return first.sharesExtents(with: second)
    }
}
