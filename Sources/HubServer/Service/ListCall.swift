import HubCore

extension HubCall {
    /// `/api/models` and similar lists: searched, filtered, sorted, paged.
    func list(_ kind: RepositoryKind) throws(HubFault) -> HTTPResponse {
        for key in ["apps", "inference", "inference_provider"] where query[key] != nil {
            // Ignoring the filter would give a wrong answer.
            throw .badRequest("this Hub does not know the filter \(key)")
        }
        var cards = try service.reading { () throws(AIError) in try service.source.cards(kind) }
        if identity != .owner { cards.removeAll(where: \.isPrivate) }
        cards = try filtered(cards)
        cards = try sorted(cards)
        let keys = shownKeys
        return try page(cards, size: service.pages.models) { card throws(HubFault) in
            try withFiles(card, kind, keys).keeping(keys)
        }
    }

    /// The card's members, with commit and files if requested: these require reading the files once.
    private func withFiles(
        _ card: RepositoryCard, _ kind: RepositoryKind, _ keys: [String]
    ) throws(HubFault) -> JSONObject {
        var fields = card.fields
        guard keys.contains("sha") || keys.contains("siblings"), let id = try? RepositoryID(card.id) else {
            return fields
        }
        let revision = try service.reading { () throws(AIError) in
            try service.source.repository(Repository(kind, id))?.revision("main")
        }
        guard let revision else { return fields }
        fields["sha"] = .string(revision.commit)
        fields["siblings"] = .array(revision.files.map { $0.sibling(withBlobs: false) })
        return fields
    }

    private func filtered(_ all: [RepositoryCard]) throws(HubFault) -> [RepositoryCard] {
        var cards = all
        if let text = query["search"]?.lowercased(), !text.isEmpty {
            cards.removeAll { !$0.id.lowercased().contains(text) }
        }
        if let author = query["author"] {
            cards.removeAll { $0.id.split(separator: "/").dropLast().first.map(String.init) != author }
        }
        if let task = query["pipeline_tag"] { cards.removeAll { $0.fields["pipeline_tag"]?.string != task } }
        for wanted in query.list("filter") {
            cards.removeAll { card in
                !card.tags.contains(wanted) && card.fields["pipeline_tag"]?.string != wanted
                    && card.fields["library_name"]?.string != wanted
            }
        }
        if query["gated"] != nil {
            let wanted = query.flag("gated")
            cards.removeAll { $0.isGated != wanted }
        }
        if let text = query["num_parameters"] {
            guard let range = ParameterRange(text) else {
                throw .badRequest("num_parameters looks like min:1B,max:8B")
            }
            cards.removeAll { !range.contains($0) }
        }
        return cards
    }

    /// Descending, as the Hub sorts; ties by name, so that pages do not overlap.
    private func sorted(_ cards: [RepositoryCard]) throws(HubFault) -> [RepositoryCard] {
        func byID(_ left: RepositoryCard, _ right: RepositoryCard) -> Bool { left.id < right.id }
        switch query["sort"] {
        case nil, "trendingScore", "trending": return by("trendingScore", cards)
        case "downloads": return by("downloads", cards)
        case "likes": return by("likes", cards)
        case "lastModified", "createdAt":
            let key = query["sort"] ?? ""
            // ISO 8601 in UTC sorts as text.
            let keyed = cards.map { ($0.fields[key]?.string ?? "", $0) }
            return keyed.sorted { $0.0 != $1.0 ? $0.0 > $1.0 : byID($0.1, $1.1) }.map(\.1)
        case let other?: throw .badRequest("cannot sort by \(other)")
        }
    }

    private func by(_ key: String, _ cards: [RepositoryCard]) -> [RepositoryCard] {
        let keyed = cards.map { ($0.fields[key]?.double ?? 0, $0) }
        return keyed.sorted { $0.0 != $1.0 ? $0.0 > $1.0 : $0.1.id < $1.1.id }.map(\.1)
    }

    /// The members to return: a few, more with `full`, or those named by `expand`.
    private var shownKeys: [String] {
        let expand = query.list("expand")
        if !expand.isEmpty { return ["_id", "id"] + expand }
        var keys = [
            "_id", "id", "modelId", "likes", "trendingScore", "private", "downloads", "tags", "pipeline_tag",
            "library_name", "createdAt",
        ]
        if query.flag("full") { keys += ["author", "lastModified", "gated", "disabled", "sha", "siblings"] }
        if query.flag("cardData") { keys.append("cardData") }
        if query.flag("config") { keys.append("config") }
        return keys
    }
}
