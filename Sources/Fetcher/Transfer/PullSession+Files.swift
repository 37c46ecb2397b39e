import HubCore
import Synchronization

/// The steps of one file: open, fill, verify, link.
extension PullSession {
    func open(_ file: FileTransfer, restart: Bool) {
        engine.assertOnThread()
        let besideHolder = file.goesBesideHolder
        if let source = file.source, !besideHolder { return adopt(file, from: source, restart: restart) }
        file.ioQueue.async { [self] in
            let result = Result { () throws(AIError) in
                try file.disk.open(restart: restart, besideHolder: besideHolder)
            }
            engine.perform { [self] in opened(file, result, restart: restart) }
        }
    }

    /// Reuses content that the cache has under another name if possible; otherwise fetches it.
    private func adopt(_ file: FileTransfer, from source: String, restart: Bool) {
        file.phase = .adopting
        file.source = nil
        file.ioQueue.async { [self] in
            func adopt(_ source: String) throws -> BlobReuse.Outcome {
                try BlobReuse.adopt(
                    file.file, from: source, to: file.places,
                    links: file.job.destination.isCache && !file.job.foreign.contains(source),
                    isCancelled: { file.isCancelled.load(ordering: .relaxed) },
                    progress: { file.adopted.add(Int64($0), ordering: .relaxed) })
            }
            let result = Result {
                let outcome = try adopt(source)
                guard case .different = outcome, file.job.replacesChanged,
                    let cached = try file.job.cached(file.file), cached != source
                else { return outcome }
                return try adopt(cached)
            }
            if case .success(.taken(let ranges)) = result { keep(file.file, file.job, ranges) }
            engine.perform { [self] in adopted(file, from: source, result, restart: restart) }
        }
    }

    private func adopted(
        _ file: FileTransfer, from source: String, _ result: Result<BlobReuse.Outcome, any Error>, restart: Bool
    ) {
        engine.assertOnThread()
        guard file.phase == .adopting else { return }
        // A file of a local folder without valid metadata.
        let isInPlace = source == file.places.content
        switch result {
        case .success(.taken):
            client.log("\(file.file.path): taken from \(source)")
            return link(file, as: .linked)
        case .success(.different):
            client.log("\(file.file.path): \(source) is not what its name says")
            if isInPlace, !file.job.replacesChanged {
                return end(file, failed: PullJob.isForeign(file.file, at: source))
            }
        case .success(.locked):
            file.phase = .waiting
            file.source = source
            return waitForLock(file, restart: restart)
        case .failure(let error):
            let error = AIError.wrapping(error)
            client.log("\(file.file.path): not taken from \(source): \(error.message)")
            // An unreadable file is not replaced.
            if isInPlace { return end(file, failed: error) }
        }
        file.phase = .waiting
        open(file, restart: restart)
    }

    /// Another process is fetching this content: retries until it has finished.
    private func waitForLock(_ file: FileTransfer, restart: Bool) {
        if !file.isLockedOut {
            file.isLockedOut = true
            client.log("\(file.file.path): another process holds \(file.places.lock); waiting")
            watchHolder(of: file, isFirst: true)
            beginMore()
        }
        engine.after(0.05) { [self] in if file.phase == .waiting { open(file, restart: restart) } }
    }

    /// Checks the progress of the lock's holder twice a second.
    ///
    /// One that makes none may wait for these bytes itself: a client of a mirror that shares the mirror's cache.
    private func watchHolder(of file: FileTransfer, isFirst: Bool) {
        guard file.phase == .waiting, file.isLockedOut else { return }
        file.ioQueue.async { [self] in
            let bytes = min(file.file.size, file.places.bytesElsewhere())
            let holder = LockHolder.process(of: file.places.lock)
            engine.perform { [self] in
                guard file.phase == .waiting, file.isLockedOut else { return }
                file.looksWithoutProgress =
                    !isFirst && bytes == file.bytesElsewhere ? file.looksWithoutProgress + 1 : 0
                (file.bytesElsewhere, file.holder) = (bytes, holder)
                if isFirst { report(.waiting(path: file.file.path, process: holder), file.job.index) }
                engine.after(0.5) { [self] in watchHolder(of: file, isFirst: false) }
            }
        }
    }

    private func opened(_ file: FileTransfer, _ result: Result<PartialFile.Opening, AIError>, restart: Bool) {
        engine.assertOnThread()
        guard file.phase != .ended else { return }
        switch result {
        case .failure(let error): end(file, failed: error)
        case .success(.locked): waitForLock(file, restart: restart)
        case .success(.blobExists): link(file, as: .linked)
        case .success(.ready(let safe, let note)):
            if let note { client.log(note) }
            if !safe.isEmpty {
                client.log(
                    "\(file.file.path): resuming with \(ByteCount(safe.count)) of \(ByteCount(file.file.size))")
            }
            file.received = safe
            do throws(AIError) { try file.job.watch?.began(file.disk.path, received: safe) } catch {
                return end(file, failed: error)
            }
            file.isLockedOut = false
            file.phase = .fetching
            advance(file)
            pump()
        }
    }

    /// Decides what a file needs next: more bytes, the digest of those at the front, a flush, or its end.
    func advance(_ file: FileTransfer) {
        engine.assertOnThread()
        guard file.phase == .fetching else { return }
        let front = file.received.front
        // Each step costs a thread switch, so many small ones would cost as much as the digest.
        if !file.isHashing, front >= min(file.file.size, file.hashed + limits.hashStep), front > file.hashed {
            file.isHashing = true
            let range = file.hashed..<min(front, file.hashed + 32 << 20)
            file.hashQueue.async { [self] in
                let result = Result { () throws(AIError) in try file.disk.hash(range) }
                engine.perform { [self] in
                    file.isHashing = false
                    if case .failure(let error) = result { return end(file, failed: error) }
                    file.hashed = range.upperBound
                    advance(file)
                }
            }
        }
        if !file.isFlushing, file.unflushed >= limits.flushBytes, !file.isWholeHere { flush(file) }
        if file.isWholeHere, file.hashed == file.file.size, !file.isHashing, !file.isFlushing, file.parts.isEmpty {
            prove(file)
        }
    }

    func flush(_ file: FileTransfer) {
        engine.assertOnThread()
        file.isFlushing = true
        let (written, bytes) = (file.received, file.unflushed)
        file.ioQueue.async { [self] in
            let result = Result { () throws(AIError) in try file.disk.flush(written) }
            engine.perform { [self] in
                file.isFlushing = false
                guard file.phase != .ended else { return }
                if case .failure(let error) = result { return end(file, failed: error) }
                file.unflushed -= bytes
                resumeHeld()
                advance(file)
                shared.pump()
            }
        }
    }

    private func prove(_ file: FileTransfer) {
        engine.assertOnThread()
        file.phase = .finishing
        showProgress(now: true)
        let fetched = file.copied.isEmpty ? nil : IntervalSet(file.copied.gaps(in: 0..<file.file.size))
        file.hashQueue.async { [self] in
            let digest = file.disk.digest()
            let result = Result { () throws(AIError) -> Bool in
                guard digest == file.file.digest else {
                    if let fetched { try file.disk.keep(only: fetched) } else { try file.disk.discard() }
                    return false
                }
                try file.disk.promote()
                keep(file.file, file.job, file.disk.ranges)
                return true
            }
            let isUnflushed = file.disk.isUnflushed
            engine.perform { [self] in
                switch result {
                case .failure(let error): end(file, failed: error)
                case .success(true):
                    file.unflushed = 0
                    if isUnflushed { tellUnflushed() }
                    resumeHeld()
                    report(.verified(path: file.file.path, digest: file.file.digest), file.job.index)
                    link(file, as: .downloaded)
                case .success(false):
                    if let fetched { refetchCopied(file, keeping: fetched) } else { mismatch(file, digest) }
                }
            }
        }
    }

    private func tellUnflushed() {
        guard !hasToldUnflushed else { return }
        hasToldUnflushed = true
        client.notice(
            "the file system cannot flush files; if the power fails soon, hub verify shows what was damaged"
        )
    }

    /// Fetches again what is unproven: the older revision differs in more than the samples showed, or a response did not have
    /// the range that it named.
    private func refetchCopied(_ file: FileTransfer, keeping fetched: IntervalSet) {
        let bytes = ByteCount(file.copied.count)
        let message =
            file.isSingleStream
            ? "\(file.file.path): some ranges are not those of its content; fetching \(bytes) again"
            : "\(file.file.path) is not what its older revision suggested; fetching the other \(bytes) too"
        report(.retrying(path: file.file.path, reason: message, seconds: 0), file.job.index)
        client.log(message)
        (file.received, file.copied, file.hashed, file.unflushed) = (fetched, IntervalSet(), 0, 0)
        file.phase = .fetching
        resumeHeld()
        advance(file)
        pump()
    }

    private func mismatch(_ file: FileTransfer, _ found: ContentDigest?) {
        file.mismatches += 1
        let message = "\(file.file.path) has the digest \(found?.hex ?? "?") instead of \(file.file.digest.hex)"
        guard file.mismatches < limits.mismatches, !isCancelled else {
            let times = file.mismatches == 1 ? "once" : "\(file.mismatches) times"
            return end(
                file,
                failed: AIError(
                    .digestMismatch, "\(message); it was fetched \(times)",
                    advice: "the server or a proxy changes the file; the download was discarded",
                    context: .init(repository: file.job.repository.description, path: file.file.path)))
        }
        report(.retrying(path: file.file.path, reason: message, seconds: 0), file.job.index)
        client.log(message + "; fetching it again")
        file.job.watch?.restarted()
        (file.received, file.hashed, file.unflushed) = (IntervalSet(), 0, 0)
        file.location = nil
        file.phase = .waiting
        resumeHeld()
        open(file, restart: true)
    }

    private func link(_ file: FileTransfer, as status: PulledFile.Status) {
        engine.assertOnThread()
        file.phase = .finishing
        file.ioQueue.async { [self] in
            let result = Result { () throws(AIError) in
                try file.job.place(file.file, at: file.paths, isNew: status == .downloaded)
            }
            engine.perform { [self] in
                if case .failure(let error) = result { return end(file, failed: error) }
                end(file, as: status)
            }
        }
    }
}
