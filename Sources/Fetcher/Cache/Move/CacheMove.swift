package import Catalog
package import HubCore
import Libc

/// Moves a cache and its trash to another folder, usually on another disk. Interrupted at any moment, either the old or
/// the new place has all of it, and the same call continues.
///
/// On one file system the folder changes its name. Else all files are copied and read back; then one exchange of names
/// puts a link to the new place where the cache was, and what was moved aside by that is deleted.
package struct CacheMove: Sendable {
    /// The cache where it is.
    package let layout: CacheLayout
    /// The folder that it becomes.
    package let target: CacheLayout
    /// Bytes of files, each file once.
    package let bytes: Int64
    /// Whether an earlier move to the same place was interrupted.
    package let isContinued: Bool
    /// Whether a link to the cache is in the place of the target, as an earlier move leaves one: the cache replaces it.
    private let replacesLink: Bool
    /// The path that programs have for the cache: links on the way are pointed to the new place.
    private let named: String

    /// What an interrupted move leaves in `.locks`, the one place where Python minds no further file.
    private struct Marker {
        enum Step: String {
            /// The folder gets another name, and nothing is put aside.
            case renaming
            case copying
            /// The names are being exchanged.
            case switching
            /// Everything is in the new place, and what is left of the old one goes.
            case deleting
        }

        /// The place that the cache leaves.
        var source: String
        var step: Step

        static func path(_ layout: CacheLayout) -> String { Path.join(layout.root, ".locks/hub.move") }

        static func read(_ layout: CacheLayout) throws(AIError) -> Marker? {
            guard let bytes = try FileSystem.contents(path(layout)), let json = try? JSON.parse(bytes),
                let source = json["source"]?.string, let step = json["step"]?.string.flatMap(Step.init)
            else { return nil }
            return Marker(source: source, step: step)
        }

        func write(_ layout: CacheLayout) throws(AIError) {
            let path = Self.path(layout)
            try FileSystem.createDirectories(Path.parent(path))
            let json: JSON = .object(["source": .string(source), "step": .string(step.rawValue)])
            let temporary = Self.temporary(layout)
            try FileSystem.remove(temporary)
            try FileSystem.replace(path, with: Array(json.text().utf8), durable: true, temporary: temporary)
        }

        /// Always the same name, so that a leftover is overwritten. Files are put together there, too.
        static func temporary(_ layout: CacheLayout) -> String { path(layout) + ".part" }

        /// Whether a folder holds nothing but what a move leaves that was killed when it began.
        static func isAlone(in folder: String) throws(AIError) -> Bool {
            let locks = Path.join(folder, ".locks")
            let rest = try (FileSystem.entries(folder) ?? []).filter { $0 != ".locks" }
            let held = try FileSystem.entries(locks) ?? []
            return rest.isEmpty && held.allSatisfy { $0.hasPrefix("hub.move") }
        }
    }

    /// Looks whether a cache can be moved.
    ///
    /// - Parameter named: the path that programs have for the cache.
    /// - Throws: ``ErrorCode/invalidInput`` for a folder that is in use, is not empty, or lies in the cache;
    ///   ``ErrorCode/notCached`` without a cache.
    package init(_ layout: CacheLayout, named: String, to folder: String, bytes: Int64) throws(AIError) {
        (self.layout, self.named, self.bytes) = (layout, named, bytes)
        let (place, link) = (CacheLayout(folder), CacheLayout(unfollowed: folder))
        replacesLink = place == layout && FileSystem.linkText(link.root) != nil
        target = replacesLink ? link : place
        // A move on one file system was interrupted before the exchange.
        if FileSystem.linkText(target.root) == target.root { try FileSystem.remove(target.root) }
        // Through the link it would be the cache's own.
        let marker = try replacesLink ? nil : Marker.read(target)
        isContinued = marker != nil
        if target == layout, marker == nil {
            throw Self.refusal("the cache is there already: \(layout.root)")
        }
        if let marker {
            guard marker.source == layout.root || target == layout else {
                throw Self.refusal("\(target.root) is being filled from \(marker.source)")
            }
            return
        }
        guard try FileSystem.status(layout.root)?.kind == .directory else {
            throw AIError(.notCached, "there is no cache at \(layout.root)", context: .init(path: layout.root))
        }
        if (target.root + "/").hasPrefix(layout.root + "/") || (layout.root + "/").hasPrefix(target.root + "/") {
            throw Self.refusal("\(target.root) and the cache \(layout.root) lie in each other")
        }
        for path in [target.root, Trash(target).path, layout.root + ".hub-moved"] {
            guard let status = try FileSystem.linkStatus(path), path != target.root || !replacesLink else {
                continue
            }
            guard status.kind == .directory, try Marker.isAlone(in: path) else {
                throw Self.refusal("\(path) is there already and is not an empty folder")
            }
        }
    }

    private static func refusal(_ text: String) -> AIError {
        AIError(.invalidInput, text, advice: "name a folder that is not there yet, such as /mnt/disk/hub")
    }

    /// The place that a cache left by a move which was interrupted before it was finished; nil if there is none.
    package static func unfinished(_ layout: CacheLayout) throws(AIError) -> String? {
        guard let source = try Marker.read(layout)?.source, source != layout.root else { return nil }
        return source
    }

    /// Where the old folder is after the exchange.
    private var aside: String { source + ".hub-moved" }
    private var source: String {
        guard target == layout else { return layout.root }
        return ((try? Marker.read(target)) ?? nil)?.source ?? layout.root
    }

    /// Moves it.
    ///
    /// - Parameter progress: called with bytes read and read back, twice ``bytes`` in all; may throw to stop.
    /// - Throws: ``ErrorCode/ioError`` while a program uses the cache, ``ErrorCode/diskFull``.
    package func run(_ catalog: Catalog?, progress: @escaping (Int) throws -> Void) throws {
        guard replacesLink, let left = try Self.unfinished(layout) else { return try move(catalog, progress) }
        try CacheMove(layout, named: named, to: layout.root, bytes: bytes).move(catalog, progress)
        try move(catalog, progress)
        // An earlier call was interrupted between the two moves of ``moveBeside(_:_:)``.
        if layout.root == beside { try leaveBeside(left) }
    }

    private func move(_ catalog: Catalog?, _ progress: @escaping (Int) throws -> Void) throws {
        let source = source
        if try !isSwitched(source) {
            guard try FileSystem.status(layout.root)?.kind == .directory else {
                throw AIError(.notCached, "there is no cache at \(layout.root)", context: .init(path: layout.root))
            }
            if !isContinued { try FileSystem.remove(Marker.path(layout)) }
            try CacheClaim.check(layout)
            // Pins and the like are kept by the cache's id.
            if let catalog { _ = try CacheRecord(layout, in: catalog).idForWriting() }
            if try !rename() {
                guard !replacesLink else { return try moveBeside(catalog, progress) }
                try copy(progress)
            }
        }
        if let catalog { try catalog.moveAdoptions(below: source, to: target.root) }
        try finish(source, progress)
    }

    /// Whether the new place has taken over.
    private func isSwitched(_ source: String) throws(AIError) -> Bool {
        guard isContinued else { return false }
        if target == layout { return true }
        guard let step = try Marker.read(target)?.step, step != .copying else { return false }
        // Killed between the two renames of a file system that cannot exchange names.
        guard let status = try FileSystem.linkStatus(source) else {
            try FileSystem.createSymlink(target.root, at: source)
            return true
        }
        return status.kind == .symlink
    }

    // MARK: On one file system

    /// Renames the folder and leaves a link; false on another file system.
    private func rename() throws -> Bool {
        let (old, new) = (layout.root, target.root)
        guard !isContinued, try Self.device(replacesLink ? Path.parent(new) : new) == Self.device(old) else {
            return false
        }
        try FileSystem.createDirectories(Path.parent(new))
        if !replacesLink {
            try FileSystem.remove(Marker.temporary(target))
            for path in [Path.join(new, ".locks"), new] { try FileSystem.removeEmptyDirectory(path) }
        }
        try Marker(source: old, step: .renaming).write(layout)
        do throws(AIError) {
            // The new name is a link to itself until the exchange; an earlier move's link is good until then, and what
            // it says is put right at the end.
            if !replacesLink { try FileSystem.createSymlink(new, at: new) }
            let claim = try CacheClaim.take(layout)
            defer { withExtendedLifetime(claim) {} }
            if try FileSystem.swap(old, new) { return true }
            try FileSystem.remove(new)
            try FileSystem.rename(old, to: new)
            try FileSystem.createSymlink(new, at: old)
            return true
        } catch {
            if FileSystem.linkText(new) == new { try FileSystem.remove(new) }
            if replacesLink, try FileSystem.linkStatus(new) == nil { try FileSystem.createSymlink(old, at: new) }
            try FileSystem.remove(Marker.path(layout))
            // A mount of the same file system, a subvolume, or the root of a mount.
            guard let number = error.errno, CacheMove.isOtherMount(number) else { throw error }
            return false
        }
    }

    /// The file system that a path is on, or will be.
    private static func device(_ path: String) throws(AIError) -> UInt64? {
        var place = path
        while try FileSystem.status(place) == nil, place != "/" { place = Path.parent(place) }
        return try FileSystem.status(place)?.device
    }

    // MARK: To another file system

    /// Replaces a link on another file system: what is behind it is in use until the end, so that the cache is moved
    /// beside it first.
    private func moveBeside(_ catalog: Catalog?, _ progress: @escaping (Int) throws -> Void) throws {
        guard layout.root != beside else {
            throw AIError(.ioError, "\(beside) cannot take the place of the link \(target.root)")
        }
        try CacheMove(layout, named: named, to: beside, bytes: bytes).move(catalog, progress)
        try CacheMove(CacheLayout(beside), named: named, to: target.root, bytes: bytes).move(catalog) { _ in }
        try leaveBeside(layout.root)
    }

    private var beside: String { target.root + ".hub-cache" }

    /// Removes the link that the second of both moves left.
    ///
    /// - Parameter source: where the first one left a link.
    private func leaveBeside(_ source: String) throws(AIError) {
        try Self.point(source, to: target.root)
        try FileSystem.remove(beside)
    }

    private func copy(_ progress: @escaping (Int) throws -> Void) throws {
        try FileSystem.createDirectories(target.root)
        if !isContinued {
            let free = try FileSystem.diskSpace(target.root).available
            guard free > bytes else {
                throw AIError(
                    .diskFull,
                    "\(target.root) has \(ByteCount(free)) free, and the cache needs \(ByteCount(bytes))",
                    advice: "hub gc makes the cache smaller")
            }
            try Marker(source: layout.root, step: .copying).write(target)
        }
        let temporary = Marker.temporary(target)
        var first = TreeCopy(layout.root, to: target.root, temporary: temporary, progress: progress)
        try first.run()
        // What was written meanwhile; from here on pulls wait.
        let claim = try CacheClaim.take(layout)
        defer { withExtendedLifetime(claim) {} }
        var second = TreeCopy(layout.root, to: target.root, temporary: temporary, progress: { _ in })
        second.isStrict = true
        try second.run()
        try copyTrash(temporary, progress)
        try FileSystem.synchronizeDirectory(Path.parent(target.root))
        try exchange()
    }

    private func copyTrash(_ temporary: String, _ progress: @escaping (Int) throws -> Void) throws {
        let (old, new) = (Trash(layout), Trash(target))
        guard FileSystem.exists(old.path) else { return }
        let lock = try old.exclusive()
        defer { withExtendedLifetime(lock) {} }
        var copy = TreeCopy(old.path, to: new.path, temporary: temporary, progress: progress)
        (copy.isStrict, copy.keepsLinks) = (true, true)
        try copy.run()
    }

    /// Puts a link in the place of the folder, which is aside then.
    private func exchange() throws(AIError) {
        let (old, new) = (layout.root, target.root)
        if try FileSystem.linkStatus(aside)?.kind == .symlink { try FileSystem.remove(aside) }
        do throws(AIError) {
            try FileSystem.createSymlink(new, at: aside)
            if try !FileSystem.swap(aside, old) {
                try FileSystem.remove(aside)
                try Marker(source: old, step: .switching).write(target)
                try FileSystem.rename(old, to: aside)
                try FileSystem.createSymlink(new, at: old)
            }
            try FileSystem.synchronizeDirectory(Path.parent(old))
        } catch {
            let left = try FileSystem.linkStatus(aside)?.kind
            if left == .symlink { try FileSystem.remove(aside) }
            if left == .directory, try FileSystem.linkStatus(old) == nil { try FileSystem.rename(aside, to: old) }
            throw AIError(
                error.code, "no link can be put in the place of \(old): \(error.message)",
                advice: "the copy in \(new) is whole: set HF_HUB_CACHE to it, and then delete the old folder",
                context: .init(path: old), cause: error)
        }
    }

    private static func isOtherMount(_ number: Int32) -> Bool { [EXDEV, EBUSY, EINVAL].contains(number) }

    // MARK: The end

    /// Takes over what the old folder got in the last moment, and deletes what is left of it.
    private func finish(_ source: String, _ progress: @escaping (Int) throws -> Void) throws {
        let marker = try Marker.read(target)
        let temporary = Marker.temporary(target)
        if let step = marker?.step, step != .renaming, try FileSystem.linkStatus(aside)?.kind == .directory {
            if step != .deleting {
                var last = TreeCopy(aside, to: target.root, temporary: temporary) { _ in }
                last.keepsNewer = true
                try last.run()
                try Marker(source: source, step: .deleting).write(target)
            }
            try OpenFolder.open(Path.parent(aside))?.removeTree(Path.name(aside))
        }
        try finishTrash(Trash.path(ofCache: source), temporary)
        try Self.point(source, to: target.root)
        straighten()
        try FileSystem.remove(temporary)
        try FileSystem.remove(Marker.path(target))
    }

    /// Points the links of earlier moves, on the way from the name that programs have, to the new place.
    private func straighten() {
        var (path, links) = (named, 0)
        // As many as the kernel follows.
        while let text = FileSystem.linkText(path), links < 40 {
            // Where that cannot be written, a chain of links leads there as well.
            if path != target.root, FileSystem.resolved(path) == target.root {
                try? Self.point(path, to: target.root)
            }
            path = text.hasPrefix("/") ? text : Path.join(Path.parent(path), text)
            links += 1
        }
    }

    /// Gives a link another text, in one step; nothing if it is none.
    private static func point(_ link: String, to target: String) throws(AIError) {
        guard let text = FileSystem.linkText(link), text != target else { return }
        let temporary = link + ".hub-link"
        try FileSystem.remove(temporary)
        try FileSystem.createSymlink(target, at: temporary)
        try FileSystem.rename(temporary, to: link)
    }

    /// The trash of a folder that was copied has been copied; that of one that was renamed gets its new name.
    private func finishTrash(_ old: String, _ temporary: String) throws {
        let new = Trash(target).path
        guard old != new, try FileSystem.linkStatus(old)?.kind == .directory else { return }
        if try FileSystem.linkStatus(new) == nil {
            do throws(AIError) { return try FileSystem.rename(old, to: new) } catch {
                guard error.errno == EXDEV else { throw error }
            }
        }
        var copy = TreeCopy(old, to: new, temporary: temporary) { _ in }
        (copy.keepsLinks, copy.keepsNewer) = (true, true)
        try copy.run()
        try OpenFolder.open(Path.parent(old))?.removeTree(Path.name(old))
    }
}
