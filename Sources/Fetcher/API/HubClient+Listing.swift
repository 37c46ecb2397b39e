package import Catalog
import HubCore

/// One page of a list of repositories.
package struct ListingPage: Sendable {
    package var records: [ModelRecord] = []
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

    /// One page of a list. An entry with a name that is none is skipped: one odd row must not hide the others.
    ///
    /// - Parameter asked: called before each try.
    func listing(_ kind: RepositoryKind, at address: String, asked: () -> Void = {}) async throws -> ListingPage {
        let (json, fields) = try await json(address, fault: fault(nil), asked: asked)
        guard let entries = json.array else {
            throw AIError(
                .protocolViolation, "\(endpoint.origin) lists its \(kind.plural) with something that is no list")
        }
        var page = ListingPage(rate: RateLimit(fields))
        for entry in entries {
            if let record = ModelRecord(json: entry, kind: kind) {
                page.records.append(record)
            } else {
                log("skipped an entry whose name is \"\((entry["id"]?.string ?? "").printable)\"")
            }
        }
        guard entries.isEmpty || !page.records.isEmpty else {
            throw AIError(
                .protocolViolation, "\(endpoint.origin) lists \(kind.plural) of which none has a name that can be")
        }
        page.next = fields.link("next")
        return page
    }

    /// The address of a further page, if it may be asked and kept: of the same list, at the endpoint itself.
    ///
    /// A mirror may pass the Hub's own links on; these pages are asked of the mirror.
    ///
    /// - Throws: ``ErrorCode/protocolViolation`` for any other address, and for one that holds the token.
    func listingCursor(_ link: String, _ kind: RepositoryKind) throws(AIError) -> String {
        func refuse(_ why: String) -> AIError {
            AIError(.protocolViolation, "\(endpoint.origin) links to a next page \(why)")
        }
        guard masked(link) == link else { throw refuse("whose address holds the token") }
        guard let address = SafeAddress.resolve(link, against: "\(endpoint)/api/\(kind.plural)") else {
            throw refuse("that is no address")
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
