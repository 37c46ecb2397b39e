import HubCore

extension ModelQuery {
    /// Models of several sources in the order of the query: for relevance exact names first, then names with all words;
    /// high values before low ones, unknown ones last. Stable.
    package func sorted<Item>(_ items: [Item], by record: (Item) -> ModelRecord) -> [Item] {
        let exact = text.lowercased()
        let words = namedWords
        let keyed = items.enumerated().map { place, item in
            let record = record(item)
            let rank = isExact(record, exact) ? 0 : ModelName.holds(words, record.repository.id.name) ? 1 : 2
            return (rank: rank, value: sort.value(of: record) ?? -.infinity, place: place, item: item)
        }
        return keyed.sorted { left, right in
            if left.rank != right.rank { return left.rank < right.rank }
            return left.value != right.value ? left.value > right.value : left.place < right.place
        }.map(\.item)
    }

    /// The words that rank models by name; empty for other orders.
    var namedWords: [[UInt8]] { sort == .relevance ? Self.words(text).map { Array($0.utf8) } : [] }

    /// Models by popularity, exact names first.
    func exactFirst(_ models: [KnownModel]) -> [KnownModel] {
        let exact = text.lowercased()
        return models.filter { isExact($0.record, exact) } + models.filter { !isExact($0.record, exact) }
    }

    /// Whether it is an exact match. `text` is the query's in lower case.
    private func isExact(_ record: ModelRecord, _ text: String) -> Bool {
        sort == .relevance && !text.isEmpty && record.repository.id.name.lowercased() == text
    }
}

extension ModelQuery.Sort {
    /// The sort value of a model; nil if unknown.
    fileprivate func value(of record: ModelRecord) -> Double? {
        switch self {
        case .relevance, .downloads: record.downloads.map { Double($0) }
        case .likes: record.likes.map { Double($0) }
        case .trending: record.trendingScore
        case .updated: record.updatedAt
        case .created: record.createdAt
        case .size: record.sizeBytes.map { Double($0) }
        }
    }
}
