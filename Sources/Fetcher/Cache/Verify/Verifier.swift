package import Catalog
import HubCore
import Synchronization

/// Reads cached files and compares them with their digests: on all processors, each physical file once.
///
/// A verified file is recorded with its size, modification time and inode, and is not read again while those are
/// unchanged.
package final class Verifier: Sendable {
    private struct Reading {
        /// The claims with the index of their target.
        var claims: [(target: Int, claim: VerificationTarget.Claim)]
        var size: Int64
    }

    private struct State {
        var targets: [VerificationTarget]
        /// Files not yet begun, the smallest first.
        var queue: [Reading] = []
        var progress = VerificationProgress()
        var active: [Int: VerificationProgress.Active] = [:]
        var nextKey = 0
        /// Verified files not yet in the catalog, by cache.
        var proven: [String: [VerifiedFile]] = [:]
        var provenBytes: Int64 = 0
    }

    private static let settlingNanoseconds: Int64 = 100_000_000

    private let catalog: DispensableCatalog
    private let isFull: Bool
    private let report: @Sendable (VerificationProgress) -> Void
    private let isCancelled = Atomic(false)
    private let state: Lock<State>

    /// - Parameters:
    ///   - isFull: also reads unchanged files.
    ///   - report: called with the progress, from several threads, for each step of reading.
    package init(
        _ targets: [VerificationTarget], catalog: DispensableCatalog, isFull: Bool,
        report: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) {
        self.catalog = catalog
        self.isFull = isFull
        self.report = report
        state = Lock(State(targets: targets))
    }

    /// Verifies everything; returns the result of each target, in order.
    ///
    /// - Throws: `CancellationError`; results so far are stored.
    package func run() async throws -> [Verification] {
        await Blocking.run { self.prepare() }
        let workers = min(Machine.processors, state.withLock { $0.queue.count })
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<workers {
                    group.addTask { await Blocking.run { while let next = self.next() { self.verify(next) } } }
                }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
        await Blocking.run { self.keep(all: true) }
        try Task.checkCancellation()
        return state.withLock { $0.targets.map { $0.result.sorted } }
    }

    // MARK: Files to read

    private func prepare() {
        var targets = state.withLock(\.targets)
        var known: [String: VerifiedContent] = [:]
        if !isFull {
            for cache in Set(targets.map(\.cache)) {
                known[cache] = catalog.use { catalog throws(AIError) in try catalog.verified(inCache: cache) }
            }
        }
        /// One inode may need both SHA-256 and git's hash.
        struct Key: Hashable {
            var identity: PhysicalFile.Identity
            var isSHA256: Bool
        }
        var readings: [Key: Reading] = [:]
        for target in targets.indices {
            for claim in targets[target].claims {
                let found: FileStatus?
                do throws(AIError) { found = try FileSystem.status(claim.path) } catch {
                    targets[target].result.noteUnknown(error)
                    continue
                }
                // It may vanish at any moment.
                guard let status = found else {
                    targets[target].result.problems.append(.missing(claim))
                    continue
                }
                targets[target].result.bytes += status.size
                if known[targets[target].cache]?.time(claim.digest.hex, status.stamp) != nil {
                    targets[target].result.skipped += 1
                    continue
                }
                let key = Key(
                    identity: .init(device: status.device, inode: status.inode), isSHA256: claim.digest.isSHA256)
                readings[key, default: Reading(claims: [], size: status.size)].claims.append((target, claim))
            }
        }
        let queue = readings.values.sorted {
            ($0.size, $0.claims[0].claim.path) < ($1.size, $1.claims[0].claim.path)
        }
        state.withLock { [targets] state in
            state.targets = targets
            state.queue = queue
            state.progress.totalBytes = queue.reduce(0) { $0 + $1.size }
            state.progress.filesTotal = queue.count
        }
    }

    /// The largest remaining file, so that no large one starts last.
    private func next() -> Reading? {
        isCancelled.load(ordering: .relaxed) ? nil : state.withLock { $0.queue.popLast() }
    }

    // MARK: One file

    private func verify(_ reading: Reading) {
        let first = reading.claims[0].claim
        let key = state.withLock { state in
            state.nextKey += 1
            state.active[state.nextKey] = .init(path: first.name, read: 0, size: reading.size)
            return state.nextKey
        }
        do {
            let found = try read(reading, key)
            for (target, claim) in reading.claims { judge(claim, found, target) }
        } catch is CancellationError {
            // No result is recorded.
        } catch {
            let fault = AIError.wrapping(error)
            state.withLock { state in
                for target in Set(reading.claims.map(\.target)) {
                    state.targets[target].result.faults.append(fault)
                }
            }
        }
        state.withLock { state in
            state.active[key] = nil
            state.progress.filesDone += 1
        }
        keep(all: false)
    }

    /// The digest of a file, and its state while it was read.
    private struct Found {
        /// nil if the size is already wrong.
        var digest: ContentDigest?
        var ranges = RangeDigests()
        var stamp: FileStamp
    }

    private func read(_ reading: Reading, _ key: Int) throws -> Found {
        let (path, claims) = (reading.claims[0].claim.path, reading.claims.map(\.claim))
        for _ in 0..<3 {
            let file = try FileDescriptor(unnoticed: path)
            let stamp = try file.status().stamp
            var found = Found(stamp: stamp)
            // A file of the wrong size is not hashed.
            if claims.contains(where: { $0.size == nil || $0.size == stamp.size }) {
                let hasher = ContentHasher(like: claims[0].digest, size: stamp.size)
                try hasher.update(file) { count in
                    if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
                    advance(key, Int64(count))
                }
                found.ranges = hasher.ranges
                found.digest = hasher.finish()
            }
            let isRight = claims.allSatisfy { $0.digest == found.digest }
            // Damage must be of the current file.
            if try file.status().stamp == stamp, try isRight || FileSystem.status(path)?.stamp == stamp {
                return found
            }
            state.withLock { state in
                state.progress.readBytes -= state.active[key]?.read ?? 0
                state.active[key]?.read = 0
            }
        }
        throw AIError(
            .ioError, "\(path) changed each time it was read",
            advice: "verify it again when no program writes to it",
            context: .init(path: path))
    }

    private func advance(_ key: Int, _ count: Int64) {
        let progress = state.withLock { state in
            state.active[key]?.read += count
            state.progress.readBytes += count
            var progress = state.progress
            progress.active = state.active.sorted { $0.key < $1.key }.map(\.value)
            return progress
        }
        report(progress)
    }

    private func judge(_ claim: VerificationTarget.Claim, _ found: Found, _ target: Int) {
        let cache = state.withLock { $0.targets[target].cache }
        guard found.digest != claim.digest else {
            note(claim, found, target)
            return
        }
        let file = VerifiedFile(folder: claim.folder, etag: claim.digest.hex, stamp: found.stamp)
        catalog.use { catalog throws(AIError) in
            try catalog.remember(damaged: file, ofCache: cache, at: Timestamp.now)
        }
        let problem = problem(claim, found)
        state.withLock { state in
            state.targets[target].result.checked += 1
            state.targets[target].result.problems.append(problem)
        }
    }

    private func note(_ claim: VerificationTarget.Claim, _ found: Found, _ target: Int) {
        // Changed so shortly ago, it could change again within the same tick of the file system's clock.
        let isSettled = Timestamp.nowNanoseconds - found.stamp.modified >= Self.settlingNanoseconds
        state.withLock { state in
            state.targets[target].result.checked += 1
            guard isSettled else { return }
            state.proven[state.targets[target].cache, default: []].append(
                VerifiedFile(folder: claim.folder, etag: claim.digest.hex, stamp: found.stamp))
            state.provenBytes += found.stamp.size
        }
        guard !found.ranges.isEmpty else { return }
        // Stored to locate later damage.
        catalog.use { catalog throws(AIError) in
            guard try catalog.rangeDigests(of: claim.digest) == nil else { return }
            try catalog.remember(found.ranges, of: claim.file ?? claim.content(found.stamp.size))
        }
    }

    private func problem(_ claim: VerificationTarget.Claim, _ found: Found) -> VerificationProblem {
        let isShort = claim.size.map { found.stamp.size < $0 } ?? false
        var problem =
            if let size = claim.size, size != found.stamp.size {
                VerificationProblem(
                    isShort ? .truncated : .mismatch, claim.name, expected: .bytes(size),
                    actual: .bytes(found.stamp.size), file: claim.file)
            } else {
                VerificationProblem(
                    .mismatch, claim.name, expected: .text(claim.digest.hex),
                    actual: found.digest.map { .text($0.hex) }, file: claim.file)
            }
        problem.damaged = (claim.path, found.stamp)
        problem.isForeign = claim.isForeign
        let size = claim.size ?? found.stamp.size
        let ranges = catalog.use { catalog throws(AIError) in try catalog.rangeDigests(of: claim.digest) } ?? nil
        // Unreadable files are still damaged.
        if claim.digest.isSHA256, let ranges,
            let damage = try? ranges.damage(in: claim.path, digest: claim.digest, size: size),
            !damage.isEmpty || found.stamp.size > size
        {
            (problem.ranges, problem.isPlaced) = (IntervalSet(damage).ranges, true)
        } else if isShort {
            problem.ranges = [found.stamp.size..<size]
        }
        return problem
    }

    // MARK: Storing results

    /// Stores verified files in the catalog: all, or only once there are many.
    private func keep(all: Bool) {
        let proven = state.withLock { state -> [String: [VerifiedFile]] in
            guard all || state.provenBytes >= 1 << 30 else { return [:] }
            defer { (state.proven, state.provenBytes) = ([:], 0) }
            return state.proven
        }
        guard !proven.isEmpty else { return }
        catalog.use { catalog throws(AIError) in
            for (cache, files) in proven { try catalog.remember(files, ofCache: cache, at: Timestamp.now) }
        }
    }
}

extension VerificationTarget.Claim {
    /// A file with this content, for lookups by digest.
    fileprivate func content(_ size: Int64) -> RepositoryFile {
        RepositoryFile(path: name, size: size, oid: digest.hex, sha256: digest.isSHA256 ? digest.hex : nil)
    }
}

extension VerificationProblem {
    fileprivate static func missing(_ claim: VerificationTarget.Claim) -> VerificationProblem {
        VerificationProblem(.missing, claim.name, expected: .text(claim.digest.hex), file: claim.file)
    }
}

extension Verification {
    /// With the problems sorted by path.
    fileprivate var sorted: Verification {
        var out = self
        out.problems.sort { ($0.path, $0.kind.rawValue) < ($1.path, $1.kind.rawValue) }
        return out
    }
}
