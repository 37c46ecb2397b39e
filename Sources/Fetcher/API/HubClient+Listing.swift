package import Catalog
import HubCore

/// One page of a list of repositories.
package struct ListingPage: Sendable {
    package var records: [ModelRecord] = []
    /// The number of entries, including those with invalid names.
    package var entries = 0
    /// The next page's address from the server, unchecked; nil on the last page.
    package var next: String?
    /// The server's rate limit.
    var rate: RateLimit?
}

extension HubClient {
    /// Page sizes to request: the Hub's maximum, smaller ones if refused.
    static let listingSizes = [1000, 500, 100]

    /// The address of a list's first page, with every key that the catalog keeps.
    func listingAddress(_ kind: RepositoryKind, sort: ModelQuery.Sort, author: String?, size: Int) -> String {
        var items = author.map { [("author", $0)] } ?? []
        items += [("sort", Self.sortKey(sort)), ("limit", String(size))]
        items += Self.expanded(kind).map { ("expand", $0) }
        return "\(endpoint)/api/\(kind.plural)" + Self.query(items)
    }

    /// One page of a list. An entry with an invalid name is skipped: one bad row must not hide the others.
    ///
    /// - Parameters:
    ///   - needsNames: whether a page with only invalid entries is an error.
    ///   - asked: called before each attempt.
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
                // The Hub's own lists contain only valid names.
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
    /// A thousand are requested, but a server without paging sends everything.
    private static let mostPageEntries = 100_000

    /// The address of the next page, which must be of the same list at the endpoint.
    ///
    /// A mirror may pass on the Hub's own links; these pages are requested from the mirror.
    ///
    /// - Throws: ``ErrorCode/protocolViolation`` for any other address, and for one that contains the token.
    func listingCursor(_ link: String, _ kind: RepositoryKind) throws(AIError) -> String {
        func refuse(_ why: String) -> AIError {
            AIError(.protocolViolation, "\(endpoint.origin) links to a next page \(why)")
        }
        // A stored cursor may predate the token; a server's link has a mark in its place.
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
        // A default port is optional; besides the origin only the path counts.
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
    /// Seconds to wait before the next request of many, to leave a fiftieth of the window, at least two requests, to
    /// others. nil if more are left, or the values are implausible: windows are five minutes.
    var secondsToSpare: Int? {
        let reserve = max(2, min((limit ?? 0) / 50, 100))
        guard let remaining, remaining <= reserve, let reset, (0...310).contains(reset) else { return nil }
        return reset + 1
    }
}
