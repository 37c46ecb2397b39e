import HubCore

/// Which range is asked for next, and what happens to bytes as they come.
extension PullSession {
    /// Starts requests while there are connections to spare and something to ask for.
    func pump() {
        guard !isCancelled else { return }
        let now = Clock.seconds
        guard now >= pauseUntil else { return wake(in: pauseUntil - now) }
        while active.reduce(0, { $0 + $1.parts.count }) < limits.connections, unflushed < limits.unflushedBytes {
            guard let (file, range) = next(now) else { break }
            fetch(file, range)
        }
        let soonest = active.filter { $0.phase == .fetching && $0.notBefore > now }.map(\.notBefore).min()
        if let soonest { wake(in: soonest - now) }
    }

    private func wake(in seconds: Double) {
        let due = Clock.seconds + seconds
        guard due < nextWake else { return }
        nextWake = due
        engine.after(seconds + 0.001) { [self] in
            if nextWake == due { nextWake = .infinity }
            pump()
        }
    }

    /// Large files first, largest of all first; but half of the connections for small ones while there are any, so that
    /// they fill the gaps and do not wait for the end.
    private func next(_ now: Double) -> (FileTransfer, Range<Int64>)? {
        let ready = active.filter { file in
            guard file.phase == .fetching, file.notBefore <= now else { return false }
            // While the Hub is asked where an LFS file lies, its other ranges wait for the answer.
            return
                !(file.file.isLFS && file.location == nil && !file.isServedDirectly
                && file.parts.contains(where: \.isResolving))
        }
        let smallActive = active.filter(isSmall).reduce(0) { $0 + $1.parts.count }
        let preferSmall = smallActive < max(1, limits.connections / 2)
        for wantSmall in [preferSmall, !preferSmall] {
            for file in ready where isSmall(file) == wantSmall {
                if let range = file.nextRange(length: rangeSize(file)) { return (file, range) }
            }
        }
        return nil
    }

    /// Bytes to ask for at once: little at first, so that the front moves and a bad server shows early, then 16 MiB;
    /// towards the end what is left is split among the connections.
    private func rangeSize(_ file: FileTransfer) -> Int64 {
        let left = file.file.size - file.received.count
        let share = left / Int64(limits.connections) + 1
        return min(
            file.receivedBytes < limits.range ? limits.firstRange : limits.range, max(share, limits.smallestRange))
    }

    // MARK: Bytes

    private var unflushed: Int64 { active.reduce(0) { $0 + $1.unflushed } }
    /// Whether something is under way after which less is unflushed.
    private var isDraining: Bool {
        active.contains { $0.isFlushing || ($0.phase == .finishing && $0.unflushed > 0) }
    }

    /// Takes received bytes; whether the transfer should pause until more is on stable storage.
    func receive(_ bytes: UnsafeRawBufferPointer, _ part: FileTransfer.Part, of file: FileTransfer)
        -> HTTPTransfer.Verdict
    {
        if unflushed >= limits.unflushedBytes, isDraining || startFlush() {
            part.isPaused = true
            return .pause
        }
        // What is there already may be in the digest: it must stay as it is, whatever comes a second time.
        let new = file.received.gaps(in: part.next..<part.next + Int64(bytes.count))
        do throws(AIError) {
            for range in new {
                let piece = bytes[Int(range.lowerBound - part.next)..<Int(range.upperBound - part.next)]
                try file.disk.write(UnsafeRawBufferPointer(rebasing: piece), at: range.lowerBound)
                file.received.insert(range)
                file.unflushed += Int64(range.count)
            }
        } catch { return .abort(error) }
        part.next += Int64(bytes.count)
        file.receivedBytes += Int64(bytes.count)
        if !new.isEmpty {
            file.failures = 0
            if part.startedAt > file.failedAt { file.setbacks = 0 }
        }
        showProgress(now: file.isWholeHere)
        advance(file)
        return .go
    }

    /// Begins flushing the file with the most to flush; false where there is nothing that could be.
    private func startFlush() -> Bool {
        let dirty = active.filter { $0.phase == .fetching && $0.unflushed > 0 && !$0.isFlushing }
        guard let file = dirty.max(by: { $0.unflushed < $1.unflushed }) else { return false }
        flush(file)
        return true
    }

    func resumePaused() {
        guard active.contains(where: { $0.parts.contains(where: \.isPaused) }) else { return }
        if unflushed >= limits.unflushedBytes, isDraining || startFlush() { return }
        for file in active {
            for part in file.parts where part.isPaused {
                part.isPaused = false
                // Not within a callback of libcurl: resuming delivers the held bytes at once.
                engine.after(0) { [engine] in if let transfer = part.transfer { engine.resume(transfer) } }
            }
        }
    }

    /// Tells how it stands even while nothing comes, so that a stall shows.
    func tick() {
        guard continuation != nil else { return }
        showProgress()
        engine.after(0.25) { [self] in tick() }
    }

    func showProgress(now: Bool = false) {
        let time = Clock.seconds
        guard now || time - lastProgress >= 0.1 else { return }
        lastProgress = time
        let shown = active.filter { $0.phase == .finishing || !$0.parts.isEmpty }.map {
            PullProgress.Active(
                path: $0.file.path, received: $0.received.count, size: $0.file.size,
                isVerifying: $0.phase == .finishing)
        }
        report(
            .progress(
                PullProgress(
                    totalBytes: total.bytes,
                    completedBytes: done.bytes
                        + active.reduce(0) { $0 + $1.received.count * Int64($1.paths.count) },
                    filesDone: done.files, filesTotal: total.files, active: shown)))
    }
}
