import Catalog
import HubCore

/// One run of a ``MirrorSync``.
struct MirrorRun {
    private let sync: MirrorSync
    private let options: MirrorSync.Options
    private let hear: @Sendable (MirrorSync.Event) -> Void
    let requests = RequestCounter()
    var report = MirrorSync.Report()
    /// Models listed, with repetitions: what a limit counts.
    private var listed = 0
    /// The rows of the models listed. A resumed run walks twice, and a list may repeat itself.
    private var seen = RowSet()
    private var gathered: GatheredPages
    private var beganAnew = false
    private var isOvertaken = false

    /// Maximum consecutive pages without new models before the list counts as endless.
    private static let patience = 10
    /// A list of more models counts as endless: the Hub has some three million.
    private static let mostModels = 30_000_000
    /// After this many models the search index is merged.
    private static let many = 5000

    init(
        _ sync: MirrorSync, _ options: MirrorSync.Options, _ hear: @escaping @Sendable (MirrorSync.Event) -> Void
    ) {
        self.sync = sync
        self.options = options
        self.hear = hear
        gathered = GatheredPages(since: .now, patience: sync.gathering ?? .zero)
    }

    private var client: HubClient { sync.client }
    private var scope: MirrorScope { MirrorScope(endpoint: client.endpoint.address, author: options.author) }
    private var kind: MirrorWalk.Kind { options.isWhole ? .whole : .recent }
    /// The models that the limit still allows.
    private var room: Int { options.limit.map { max(0, $0 - listed - gathered.records.count) } ?? .max }

    mutating func go() async throws {
        let lock = try await self.lock()
        defer { withExtendedLifetime(lock) {} }
        while try await isOvertakenGoingOn() {}
        // Each page has become a segment of the search index, and a search reads every segment.
        if report.added + report.changed >= Self.many { try await stored { try $0.tidySearch() } }
    }

    /// Whether the catalog's progress has changed meanwhile, because another process has taken a page or the file was
    /// replaced. Each time there is progress, so this terminates.
    private mutating func isOvertakenGoingOn() async throws -> Bool {
        do {
            try await goOn()
            return false
        } catch let error as AIError where error.cause is MirrorWalk.Lost {
            if !isOvertaken { hear(.overtaken) }
            (isOvertaken, beganAnew) = (true, false)
            return true
        }
    }

    private mutating func goOn() async throws {
        if let interrupted = try await stored({ [kind, scope] in try $0.interruptedWalk(kind, scope) }) {
            if !isOvertaken { hear(.resumed(models: interrupted.models, beganAt: interrupted.beganAt)) }
            let isAtEnd = try await walk(interrupted, isStored: true)
            // Changes since that walk began come before it in the list, unless it was restarted.
            guard isAtEnd, kind == .recent, !beganAnew else {
                report.isComplete = isAtEnd
                return
            }
        }
        guard room > 0 else { return }
        report.isComplete = try await walk(try await begin(), isStored: false)
    }

    // MARK: Walking

    /// A walk and the page that it requests next.
    private struct Place {
        var walk: MirrorWalk
        var address: String
        /// Whether the address comes from the catalog, and the Hub may no longer know it.
        var isStored: Bool
        /// Larger page sizes to try there.
        var sizes: [Int]
        var visited: Set<String> = []
    }

    /// Walks page by page. Each is stored before the next is requested, unless they arrive faster than they can be
    /// stored (see ``GatheredPages``). Returns whether it reached the end.
    private mutating func walk(_ start: MirrorWalk, isStored: Bool) async throws -> Bool {
        var place = Place(
            walk: start, address: start.cursor, isStored: isStored,
            sizes: isStored ? largerSizes(than: start.cursor) : [])
        let known = kind == .recent ? try await stored { [scope] in try $0.knownUntil(scope) } : nil
        var met = RowSet()
        var idlePages = 0
        while room > 0 {
            guard let page = try await request(&place) else { continue }
            gathered.add(page.records)
            guard listed + gathered.records.count <= Self.mostModels else {
                throw try await endless("has more than \(Self.mostModels) models")
            }
            // A page counts even if its link is invalid: the walk then stays at this page.
            let next = Result { try page.next.map { try client.listingCursor($0, .model) } }
            let mark = page.next != nil && reaches(known, page.records) ? known : nil
            let isAtEnd = page.next == nil || mark != nil
            let pause = page.rate?.secondsToSpare
            if !isAtEnd, let address = (try? next.get()) ?? nil, pause == nil, room > 0, gathered.mayGrow {
                place.address = address
                continue
            }
            let pages = gathered.pages
            let step = try await take(
                place.walk, next: isAtEnd ? nil : (try? next.get()) ?? place.address, downTo: mark)
            place.walk = step.walk
            guard !isAtEnd, let address = try next.get() else { return true }
            place.address = address
            var rows = step.changes.rows[...]
            for count in pages {
                idlePages = rows.prefix(count).count { met.insert($0) } == 0 ? idlePages + 1 : 0
                rows = rows.dropFirst(count)
            }
            if idlePages >= Self.patience { throw try await endless("continues without a new entry") }
            if room > 0 { try await heed(page.rate) }
        }
        return false
    }

    /// The page at a place; nil if the Hub refuses the address and the place has another one now. Gathered pages are
    /// stored before an error is thrown.
    private mutating func request(_ place: inout Place) async throws -> ListingPage? {
        guard place.visited.insert(place.address).inserted else {
            if !gathered.pages.isEmpty { _ = try await take(place.walk, next: place.address, downTo: nil) }
            throw try await endless("runs in a circle")
        }
        do {
            try Task.checkCancellation()
            // The catalog's cursor was checked, but may have been changed since.
            let address = try client.listingCursor(place.address, .model)
            let page = try await client.listing(.model, at: sized(address, place.sizes.first), asked: requests.add)
            (place.isStored, place.sizes) = (false, [])
            return page
        } catch let error as AIError
            where Self.isRefusal(error) && (place.isStored || place.walk.pages == 0 && gathered.pages.isEmpty)
        {
            place.visited.remove(place.address)
            if place.sizes.isEmpty {
                place.walk = place.isStored ? try await restart() : try smaller(place.walk, error)
                (place.isStored, place.address) = (false, place.walk.cursor)
            } else {
                place.sizes.removeFirst()
            }
            return nil
        } catch {
            if !gathered.pages.isEmpty { _ = try await take(place.walk, next: place.address, downTo: nil) }
            throw error
        }
    }

    /// The walk from its beginning.
    private func begin() async throws -> MirrorWalk {
        let address = client.listingAddress(
            .model, sort: options.isWhole ? .created : .updated, author: options.author,
            size: min(room, HubClient.listingSizes[0]))
        let newest = options.isWhole ? try await lastChange() : nil
        return MirrorWalk(kind, cursor: address, newest: newest, at: Timestamp.now)
    }

    /// When the Hub's models last changed, requested before a full walk, whose results are no older than that.
    private func lastChange() async throws -> Double? {
        let address = client.listingAddress(.model, sort: .updated, author: options.author, size: 20)
        return newest(try await client.listing(.model, at: address, asked: requests.add).records)
    }

    /// The last change among models. A date in the future is ignored: otherwise all real changes would be older and
    /// count as known.
    private func newest(_ records: [ModelRecord]) -> Double? {
        let now = Timestamp.now
        return records.lazy.compactMap(\.updatedAt).filter { $0 <= now }.max()
    }

    /// Whether everything after this page is known, which requires that the page is sorted.
    private func reaches(_ known: Double?, _ records: [ModelRecord]) -> Bool {
        let dates = records.compactMap(\.updatedAt)
        guard kind == .recent, let known, let last = dates.last, last < known else { return false }
        return zip(dates, dates.dropFirst()).allSatisfy { $0 >= $1 }
    }

    /// Stores the gathered pages.
    private mutating func take(_ walk: MirrorWalk, next: String?, downTo mark: Double?) async throws -> MirrorStep {
        let (records, pages) = (gathered.records, gathered.pages.count)
        let began = ContinuousClock.now
        defer { gathered = GatheredPages(since: .now, patience: sync.gathering ?? min(.now - began, .seconds(1))) }
        var walk = walk
        if kind == .recent { walk.newest = [walk.newest, newest(records)].compactMap { $0 }.max() }
        let exhaustive = records.map { record in
            var record = record
            // A server without `expand` sends no date, and its missing fields mean nothing.
            record.isExhaustive = record.updatedAt != nil
            return record
        }
        let step = try await stored { [walk, scope] in
            try $0.take(
                exhaustive, of: walk, pages: pages, next: next, downTo: mark, in: scope, at: Timestamp.now)
        }
        listed += records.count
        report.models += step.changes.rows.count { seen.insert($0) }
        report.added += step.changes.added
        report.changed += step.changes.changed
        report.unchanged = max(0, report.models - report.added - report.changed)
        report.vanished += step.vanished
        report.elsewhere = step.elsewhere
        let isFirst = report.pages == 0
        report.pages += pages
        report.requests = requests.count
        if isFirst {
            try await stored { [client] in try $0.noteEndpoint(client.endpoint, at: Timestamp.now) }
        }
        hear(.page(report))
        return step
    }

    // MARK: Requests

    /// The address with this page size, or what the limit allows, otherwise unchanged.
    private func sized(_ address: String, _ wanted: Int?) -> String {
        guard let size = Self.size(address) else { return address }
        let allowed = min(wanted ?? size, room)
        return allowed == size ? address : Self.resized(address, to: allowed)
    }

    /// Larger page sizes to try when resuming: the earlier run may have had a limit.
    private func largerSizes(than address: String) -> [Int] {
        guard let size = Self.size(address) else { return [] }
        var sizes: [Int] = []
        for usual in HubClient.listingSizes.map({ min($0, room) }) where usual > size && usual != sizes.last {
            sizes.append(usual)
        }
        return sizes
    }

    private static func size(_ address: String) -> Int? {
        address.split(whereSeparator: { $0 == "?" || $0 == "&" }).lazy
            .compactMap { $0.hasPrefix("limit=") ? Int($0.dropFirst("limit=".count)) : nil }.first
    }

    private static func resized(_ address: String, to size: Int) -> String {
        let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let items = parts[1].split(separator: "&", omittingEmptySubsequences: false).map {
            $0.hasPrefix("limit=") ? "limit=\(size)" : $0
        }
        return "\(parts[0])?\(items.joined(separator: "&"))"
    }

    /// Whether the server rejected this address.
    private static func isRefusal(_ error: AIError) -> Bool {
        [400, 404, 410, 422].contains(error.context.status ?? 0)
    }

    /// The first page again, with a smaller page size.
    private func smaller(_ walk: MirrorWalk, _ refusal: AIError) throws -> MirrorWalk {
        let size = Self.size(walk.cursor) ?? 0
        guard let next = HubClient.listingSizes.first(where: { $0 < size }) else { throw refusal }
        client.log("the Hub refuses \(size) models to a page; asking for \(next)")
        var walk = walk
        walk.cursor = Self.resized(walk.cursor, to: next)
        return walk
    }

    private mutating func restart() async throws -> MirrorWalk {
        beganAnew = true
        hear(.restarted)
        try await stored { [kind, scope] in try $0.forgetWalk(kind, scope) }
        return try await begin()
    }

    /// Waits if the Hub allows few more requests.
    private func heed(_ rate: RateLimit?) async throws {
        guard let seconds = rate?.secondsToSpare else { return }
        client.log("\(rate?.remaining ?? 0) requests are left; waiting \(seconds) s for more")
        hear(.waiting(seconds: Double(seconds)))
        try await sync.pause(Double(seconds))
    }

    /// The error for an endless list. Its progress is of no use to a later run.
    private func endless(_ what: String) async throws -> AIError {
        try await stored { [kind, scope] in try $0.forgetWalk(kind, scope) }
        return AIError(.protocolViolation, "the list of models of \(client.endpoint.origin) \(what)")
    }

    // MARK: Storing

    private func stored<Value: Sendable>(_ body: @escaping @Sendable (Catalog) throws -> Value) async throws
        -> Value
    {
        let catalog = sync.catalog
        return try await Blocking.run { try body(catalog) }
    }

    private func lock() async throws -> MirrorLock {
        let catalog = sync.catalog
        var isTold = false
        while true {
            if let lock = try await Blocking.run({ try MirrorLock(catalog) }) { return lock }
            if !isTold { hear(.queued) }
            isTold = true
            try await sync.client.http.engine.sleep(0.2)
        }
    }
}

/// Pages that are stored in one transaction. The real Hub takes a second per page, which is stored in milliseconds. A
/// local mirror is faster than the catalog, which stores twice as many models per second in large transactions: so
/// pages are gathered for as long as the last transaction took, at most a second, because other writers wait.
private struct GatheredPages {
    private(set) var records: [ModelRecord] = []
    /// The models of each page.
    private(set) var pages: [Int] = []
    private let since: ContinuousClock.Instant
    private let patience: Duration

    /// The most that a killed sync requests again.
    private static let mostPages = 32
    /// Small pages are not gathered.
    private static let fewestModels = 500

    /// - Parameters:
    ///   - since: when the last transaction ended.
    ///   - patience: how long to gather from then on.
    init(since: ContinuousClock.Instant, patience: Duration) { (self.since, self.patience) = (since, patience) }

    mutating func add(_ page: [ModelRecord]) {
        records += page
        pages.append(page.count)
    }

    /// Whether to wait for another page.
    var mayGrow: Bool {
        pages.count < Self.mostPages && pages.last ?? 0 >= Self.fewestModels && .now - since < patience
    }
}
