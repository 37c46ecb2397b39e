import HubCore

/// Which range is requested next, and from where.
extension PullSession {
    /// Requests at once: for ranges of large files, and in all.
    var budget: (ranges: Int, all: Int) {
        if let said = settings.connections { return (said, said) }
        return (limits.connections, max(limits.connections, limits.connectionsForSmall))
    }

    /// Starts requests while there are free connections and ranges to request.
    func pump() {
        engine.assertOnThread()
        guard isRunning, !isCancelled, !settings.isPaused else { return }
        let now = Clock.seconds
        guard now >= pauseUntil else { return wake(in: pauseUntil - now) }
        while shared.count < limits.unflushedBytes, let (file, range) = urgent(now) ?? next(now) ?? split(now) {
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

    /// How many more requests there may be: for ranges of large files, and for small files.
    private var room: (large: Int, small: Int) {
        let small = active.reduce(0) { $0 + (isSmall($1) ? $1.parts.count : 0) }
        let large = active.reduce(0) { $0 + $1.parts.count } - small
        let free = max(0, budget.all - small - large)
        return (min(free, budget.ranges - large), free)
    }

    /// What a reader of the file waits for. As many requests again as there are connections may be for that, because all
    /// connections may be busy with long ranges.
    private func urgent(_ now: Double) -> (FileTransfer, Range<Int64>)? {
        for file in active where file.job.watch != nil && canAsk(file, now) && !file.isSingleStream {
            guard file.parts.count < 2 * budget.ranges else { continue }
            if let gap = file.job.watch?.urgentGap(file.taken) {
                return (file, gap.lowerBound..<min(gap.upperBound, gap.lowerBound + limits.range))
            }
        }
        return nil
    }

    /// Large files first, largest of all first. With a fixed number of connections half of them are for small files
    /// while there are any, so that those do not wait for the end; with a limited rate all are, so that files complete.
    private func next(_ now: Double) -> (FileTransfer, Range<Int64>)? {
        let room = room
        guard room.small > 0 else { return nil }
        let ready = active.filter { canAsk($0, now) }
        let smallActive = active.reduce(0) { $0 + (isSmall($1) ? $1.parts.count : 0) }
        let preferSmall =
            settings.connections.map { smallActive < max(1, $0 / 2) } ?? (settings.bytesPerSecond != nil)
        for wantSmall in [preferSmall, !preferSmall] where wantSmall || room.large > 0 {
            for file in ready where isSmall(file) == wantSmall {
                if let range = file.nextRange(length: rangeSize(file)) { return (file, range) }
            }
        }
        return nil
    }

    private func canAsk(_ file: FileTransfer, _ now: Double) -> Bool {
        guard file.phase == .fetching, file.notBefore <= now else { return false }
        // While the Hub is asked for an LFS file's location, its other ranges wait for the answer.
        return
            !(file.file.isLFS && file.location == nil && !file.isServedDirectly
            && file.parts.contains(where: \.isResolving))
    }

    /// Bytes per request: few at first, so that the front moves and a bad server shows early, then a few seconds'
    /// worth; towards the end half of a connection's share of the rest, so that several end at about the same time. Otherwise
    /// long ranges would be split, and what is under way of their rear is sent for nothing.
    private func rangeSize(_ file: FileTransfer) -> Int64 {
        let left = file.file.size - file.received.count
        let share = budget.ranges == 1 ? left : left / Int64(2 * budget.ranges) + 1
        var wanted = limits.firstRange
        if let rate = connectionRate, file.receivedBytes >= limits.firstRange {
            wanted = Int64(min(rate * limits.rangeSeconds, Double(limits.range)))
        }
        return max(limits.smallestRange, min(wanted, share, limits.range))
    }

    /// Updates the rate of a connection from a range that has ended.
    func learn(from part: FileTransfer.Part) {
        let rate = part.rate(at: Clock.seconds)
        connectionRate = connectionRate.map { $0 * 0.7 + rate * 0.3 } ?? rate
    }

    // MARK: Slow and silent connections

    /// If connections are idle and nothing is left to request, takes the rear of the slowest range, so that the pull
    /// does not wait for one slow connection.
    private func split(_ now: Double) -> (FileTransfer, Range<Int64>)? {
        // With a limited rate, no connection is slow.
        guard room.large > 0, limiter.bytesPerSecond == nil else { return nil }
        let patience = limits.splitShare * Double(engine.settings.stallTimeout)
        var slowest: (file: FileTransfer, part: FileTransfer.Part, seconds: Double)?
        for file in active where canAsk(file, now) && !file.isSingleStream {
            for part in file.parts where !part.isResolving && !part.isPaused {
                guard now - part.startedAt >= patience, part.left >= 2 * limits.smallestSplit else {
                    continue
                }
                let seconds = Double(part.left) / max(1, part.rate(at: now))
                if seconds > max(patience, slowest?.seconds ?? 0) { slowest = (file, part, seconds) }
            }
        }
        guard let (file, part, seconds) = slowest else { return nil }
        // Each gets what it can fetch in the same time, at the rates so far.
        let own = part.rate(at: now)
        let other = max(own, connectionRate ?? own)
        let kept = max(limits.smallestSplit, Int64(Double(part.left) * own / max(1, own + other)))
        let rear = part.next + kept..<part.end
        guard Int64(rear.count) >= limits.smallestSplit else { return nil }
        client.log(
            "\(file.file.path): bytes \(rear.lowerBound)-\(rear.upperBound - 1) of a range that would take \(Int(seconds.rounded(.up))) s more go to another connection"
        )
        part.end = rear.lowerBound
        return (file, rear)
    }

    /// Requests ranges again that receive nothing while others do, and a single last one. If several receive nothing,
    /// the line is down and their timeouts decide.
    func reissueStalled() {
        engine.assertOnThread()
        let now = Clock.seconds
        let isAlone = active.reduce(0) { $0 + $1.parts.count } == 1
        for file in active where file.phase == .fetching {
            // Do not retry ever more often if a server is slow to start every file.
            let patience =
                limits.stallShare * Double(engine.settings.stallTimeout) * Double(1 << min(file.stalls, 4))
            for part in file.parts where !part.isPaused && now - part.heardAt > patience {
                guard isAlone || heardAt > part.heardAt else { continue }
                file.stalls += 1
                let reason = "no data for \(Int((now - part.heardAt).rounded(.up))) s"
                client.log("\(file.file.path): \(reason) from byte \(part.next) on; trying again in 0 ms")
                report(.retrying(path: file.file.path, reason: reason, seconds: 0), file.job.index)
                file.parts.removeAll { $0 === part }
                if let transfer = part.transfer { engine.cancel(transfer) }
            }
        }
    }
}
