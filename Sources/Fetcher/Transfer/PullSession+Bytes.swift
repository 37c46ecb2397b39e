import HubCore

/// What happens to bytes as they come, and what is told of them.
extension PullSession {
    var unflushed: Int64 { active.reduce(0) { $0 + $1.unflushed } }

    /// Whether something is under way after which less is unflushed.
    private var isDraining: Bool {
        active.contains { $0.isFlushing || ($0.phase == .finishing && $0.unflushed > 0) }
    }

    /// Whether received bytes must wait: until more is on stable storage, or for the rate.
    private func mustHold() -> Bool {
        if unflushed >= limits.unflushedBytes, isDraining || startFlush() { return true }
        let now = Clock.seconds
        guard !limiter.allows(at: now) else { return false }
        if nextRelease <= now {
            nextRelease = now + limiter.wait(at: now)
            engine.after(nextRelease - now) { [self] in resumeHeld() }
        }
        return true
    }

    /// Takes received bytes; whether the transfer goes on, waits, or has all that is wanted of it.
    func receive(_ bytes: UnsafeRawBufferPointer, _ part: FileTransfer.Part, of file: FileTransfer)
        -> HTTPTransfer.Verdict
    {
        if mustHold() {
            part.isPaused = true
            return .pause
        }
        let now = Clock.seconds
        (part.heardAt, heardAt) = (now, now)
        // What lies behind the part's end comes over another connection.
        let wanted = bytes.prefix(Int(clamping: part.end - part.next))
        // What is there already may be in the digest: it must stay as it is, whatever comes a second time.
        let new = file.received.gaps(in: part.next..<part.next + Int64(wanted.count))
        do throws(AIError) {
            for range in new {
                let piece = wanted[Int(range.lowerBound - part.next)..<Int(range.upperBound - part.next)]
                try file.disk.write(UnsafeRawBufferPointer(rebasing: piece), at: range.lowerBound)
                file.received.insert(range)
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
        return part.left == 0 && part.end < part.asked.upperBound ? .enough : .go
    }

    /// Begins flushing the file with the most to flush; false where there is nothing that could be.
    private func startFlush() -> Bool {
        let dirty = active.filter { $0.phase == .fetching && $0.unflushed > 0 && !$0.isFlushing }
        guard let file = dirty.max(by: { $0.unflushed < $1.unflushed }) else { return false }
        flush(file)
        return true
    }

    /// Lets transfers go on that were held, one by one, for each may use up what there was to give.
    func resumeHeld() {
        for file in active {
            for part in file.parts where part.isPaused {
                guard !mustHold() else { return }
                part.isPaused = false
                part.heardAt = Clock.seconds
                // Not within a callback of libcurl: resuming delivers the held bytes at once.
                if let transfer = part.transfer { engine.resume(transfer) }
            }
        }
    }

    // MARK: Telling

    /// Tells how it stands even while nothing comes, so that a stall shows, and looks after those that are silent or slow.
    func tick() {
        guard isRunning else { return }
        showProgress()
        reissueStalled()
        pump()
        engine.after(0.25) { [self] in tick() }
    }

    func showProgress(now: Bool = false) {
        let time = Clock.seconds
        guard now || time - lastProgress >= 0.1 else { return }
        lastProgress = time
        let shown = active.filter { $0.phase == .finishing || $0.phase == .adopting || !$0.parts.isEmpty }.map {
            PullProgress.Active(
                path: $0.file.path, received: $0.progress, size: $0.file.size,
                isVerifying: $0.phase == .finishing || $0.phase == .adopting)
        }
        report(
            .progress(
                PullProgress(
                    totalBytes: total.bytes,
                    completedBytes: done.bytes + active.reduce(0) { $0 + $1.progress * Int64($1.paths.count) },
                    filesDone: done.files, filesTotal: total.files, isPaused: settings.isPaused, active: shown)), 0)
    }
}
