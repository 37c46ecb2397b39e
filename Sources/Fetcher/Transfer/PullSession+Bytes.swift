import HubCore

/// Received bytes and progress.
extension PullSession {
    /// Received bytes that are not on stable storage, those of files that are being closed included.
    var unflushed: Int64 { active.reduce(closingBytes) { $0 + $1.unflushed } }

    /// Whether running work will reduce the unflushed bytes.
    var isDraining: Bool {
        closingBytes > 0 || active.contains { $0.isFlushing || ($0.phase == .finishing && $0.unflushed > 0) }
    }

    /// The file with the most bytes that a flush would save.
    var mostUnflushed: FileTransfer? {
        let dirty = active.filter { $0.phase == .fetching && $0.unflushed > 0 && !$0.isFlushing }
        return dirty.max { $0.unflushed < $1.unflushed }
    }

    /// Whether received bytes must wait for a flush or for the rate.
    ///
    /// - Parameter isNext: whether it is this part's turn to use the rate. Others queue.
    func mustHold(isNext: Bool) -> Bool {
        if shared.mustWait(limits.unflushedBytes) { return true }
        let now = Clock.seconds
        guard limiter.bytesPerSecond != nil else { return false }
        if limiter.allows(at: now), isNext || !active.contains(where: { $0.parts.contains(where: \.isPaused) }) {
            return false
        }
        if nextRelease <= now {
            nextRelease = now + limiter.wait(at: now)
            engine.after(nextRelease - now) { [self] in resumeHeld() }
        }
        return true
    }

    /// Handles received bytes; returns whether the transfer continues, waits, or is complete.
    func receive(_ bytes: UnsafeRawBufferPointer, _ part: FileTransfer.Part, of file: FileTransfer)
        -> HTTPTransfer.Verdict
    {
        engine.assertOnThread()
        if mustHold(isNext: part.isNext) {
            part.isPaused = true
            return .pause
        }
        part.isNext = false
        let now = Clock.seconds
        (part.heardAt, heardAt) = (now, now)
        // Bytes after the part's end come over another connection.
        let wanted = bytes.prefix(Int(clamping: max(0, part.end - part.next)))
        // Existing bytes may already be in the digest, so they are never overwritten.
        let new = file.received.gaps(in: part.next..<part.next + Int64(wanted.count))
        do throws(AIError) {
            for range in new {
                let piece = wanted[Int(range.lowerBound - part.next)..<Int(range.upperBound - part.next)]
                try file.disk.write(UnsafeRawBufferPointer(rebasing: piece), at: range.lowerBound)
                file.received.insert(range)
                if part.brought != part.asked { file.copied.insert(range) }
                file.job.watch?.received(range)
                file.unflushed += Int64(range.count)
            }
        } catch { return .abort(error) }
        part.next += Int64(wanted.count)
        file.receivedBytes += Int64(bytes.count)
        limiter.take(bytes.count)
        if !new.isEmpty {
            file.failures = 0
            if part.startedAt > file.failedAt { file.setbacks = 0 }
        }
        showProgress(now: file.isWholeHere)
        advance(file)
        return part.left == 0 && part.end < part.brought.upperBound ? .enough : .go
    }

    /// The parts whose received bytes are held back, the lowest rank first to go on.
    var held: [(part: FileTransfer.Part, rank: Double)] {
        active.flatMap { file in
            file.parts.filter(\.isPaused).map { (part: $0, rank: isSmall(file) ? 0 : $0.heardAt) }
        }
    }

    /// Resumes what is held, of every session that shares the limit.
    func resumeHeld() {
        engine.assertOnThread()
        shared.resumeHeld()
    }

    func resume(_ part: FileTransfer.Part) {
        (part.isPaused, part.isNext) = (false, true)
        part.heardAt = Clock.seconds
        // Not within a callback of libcurl: resuming delivers the held bytes at once.
        if let transfer = part.transfer { engine.resume(transfer) }
    }

    // MARK: Progress

    /// Reports progress even without new bytes, so that a stall shows, and handles stalled and slow ranges.
    func tick() {
        engine.assertOnThread()
        guard isRunning else { return }
        showProgress()
        reissueStalled()
        pump()
        engine.after(0.25) { [self] in tick() }
    }

    func showProgress(now: Bool = false) {
        engine.assertOnThread()
        let time = Clock.seconds
        guard now || time - lastProgress >= 0.1 else { return }
        lastProgress = time
        let shown = active.filter {
            $0.phase == .finishing || $0.phase == .adopting || $0.isLockedOut || !$0.parts.isEmpty
        }
        var progress = PullProgress(
            totalBytes: total.bytes,
            completedBytes: done.bytes + active.reduce(0) { $0 + $1.progress * Int64($1.paths.count) },
            filesDone: done.files, filesTotal: total.files, isPaused: settings.isPaused,
            active: shown.map {
                PullProgress.Active(
                    plan: $0.job.index, path: $0.file.path, received: $0.progress, size: $0.file.size,
                    isVerifying: $0.phase == .finishing || $0.phase == .adopting)
            })
        if !shown.isEmpty, shown.allSatisfy({ $0.isLockedOut && $0.phase == .waiting }) {
            progress.waiting = .init(process: shown.compactMap(\.holder).first)
        }
        if isSilent { progress.silence = time - heardAt }
        report(.progress(progress), 0)
    }

    /// Whether the pull waits only for requests, not for held bytes or the disk.
    private var isSilent: Bool {
        var parts = 0
        for file in active {
            if file.phase == .adopting || file.phase == .finishing || file.isFlushing || file.isHashing {
                return false
            }
            if file.parts.contains(where: \.isPaused) { return false }
            parts += file.parts.count
        }
        return parts > 0
    }
}
