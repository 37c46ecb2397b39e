package import Catalog
import HubCore

/// One page of a list of repositories.
package struct ListingPage: Sendable {
    package var records: [ModelRecord] = []
    /// How many entries it has, those without a sound name among them.
    package var entries = 0
    /// The next page's address as the server gives it, unchecked; nil on the last page.
    package var next: String?
    /// What the server says of its limit on requests.
    var rate: RateLimit?
}

extension HubClient {
    /// How many entries of a list are asked for at once: as many as the Hub gives, and fewer where that is refused.
    static let listingSizes = [1000, 500, 100]

    /// The address of a list's first page, with every key that the catalog keeps.
    func listingAddress(_ kind: RepositoryKind, sort: ModelQuery.Sort, author: String?, size: Int) -> String {
        var items = author.map { [("author", $0)] } ?? []
        items += [("sort", Self.sortKey(sort)), ("limit", String(size))]
        items += Self.expanded(kind).map { ("expand", $0) }
        return "\(endpoint)/api/\(kind.plural)" + Self.query(items)
    }

    /// One page of a list. An entry whose name cannot be is skipped: one odd row must not hide the others.
    ///
    /// - Parameters:
    ///   - needsNames: whether a page of odd rows alone is refused.
    ///   - asked: called before each try.
    func listing(
        _ kind: RepositoryKind, at address: String, needsNames: Bool = true, asked: () -> Void = {}
    ) async throws -> ListingPage {
        let token = http.token
        let intake = ListIntake<ModelRecord>(
            "the list of \(kind.plural) of \(endpoint.origin)",
            limits: (bytes: Self.mostPageBytes, entries: Self.mostPageEntries)
        ) { bytes, records in
            let entries = try JSON.parse(bytes).array ?? []
            for entry in entries {
                // The Hub's own lists have no name that the rules do not allow.
                guard let record = ModelRecord(json: token?.masked(in: entry) ?? entry, kind: kind) else {
                    continue
                }
                records.append(record)
            }
            return entries.count
        }
        let fields = try await page(address, into: intake, fault: fault(nil), asked: asked)
        let page = ListingPage(
            records: intake.entries, entries: intake.count, next: fields.link("next"), rate: RateLimit(fields))
        let odd = page.entries - page.records.count
        if odd > 0 { log("skipped \(odd) entries without a name that a repository can have") }
        guard !needsNames || page.entries == 0 || !page.records.isEmpty else {
            throw AIError(
                .protocolViolation, "\(endpoint.origin) lists \(kind.plural) of which none has a name that can be")
        }
        return page
    }

    /// A thousand models have one to three megabytes.
    private static let mostPageBytes = 64 << 20
    /// A thousand are asked for, and a server that knows no pages sends all it has.
    private static let mostPageEntries = 100_000

    /// The address of a further page, if it may be asked and kept: of the same list, at the endpoint itself.
    ///
    /// A mirror may pass the Hub's own links on; these pages are asked of the mirror.
    ///
    /// - Throws: ``ErrorCode/protocolViolation`` for any other address, and for one that holds the token.
    func listingCursor(_ link: String, _ kind: RepositoryKind) throws(AIError) -> String {
        func refuse(_ why: String) -> AIError {
            AIError(.protocolViolation, "\(endpoint.origin) links to a next page \(why)")
        }
        // A stored cursor may be older than the token; what comes from a server has its mark in place of it.
        guard masked(link) == link, !link.contains(Secrets.tokenMark) else {
            throw refuse("whose address holds the token")
        }
        guard let address = SafeAddress.resolve(link, against: "\(endpoint)/api/\(kind.plural)") else {
            throw refuse("that is not an address")
        }
        let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].contains("#") else { throw refuse("without a cursor") }
        guard let origin = Origin(address), origin == endpoint.origin || origin == Endpoint.huggingFace.origin
        else {
            throw refuse("at \(SafeAddress.shown(address).printable), which is another host")
        }
        let base = origin == endpoint.origin ? endpoint : .huggingFace
        // A default port may be written or not; what counts besides the origin is the path.
        let path = parts[0].split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).last ?? ""
        let own = base.address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).dropFirst(3)
        let expected = (own + ["api/\(kind.plural)"]).joined(separator: "/")
        guard path == expected, !parts[0].contains("@") else {
            throw refuse("at \(SafeAddress.shown(address).printable), which is another list")
        }
        return "\(endpoint)/api/\(kind.plural)?\(parts[1])"
    }
}

extension RateLimit {
    /// Seconds to let pass before one request more of many: a fiftieth of the window, two requests at least, is left to
    /// others. nil where there are more, or the server says what cannot be: its windows are five minutes.
    var secondsToSpare: Int? {
        let reserve = max(2, min((limit ?? 0) / 50, 100))
        guard let remaining, remaining <= reserve, let reset, (0...310).contains(reset) else { return nil }
        return reset + 1
    }
}
