import HubCore

extension ModelQuery {
    /// Models of several sources in the order of the query: for relevance first what is called exactly like the text and
    /// then what has all its words in the name; high values before low ones, and the unknown last. Equal ones stay as they
    /// were.
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

    /// The words that put a model first that has them in its name; none where another order is asked for.
    var namedWords: [[UInt8]] { sort == .relevance ? Self.words(text).map { Array($0.utf8) } : [] }

    /// Models in the order of popularity with those first that are called exactly like the text.
    func exactFirst(_ models: [KnownModel]) -> [KnownModel] {
        let exact = text.lowercased()
        return models.filter { isExact($0.record, exact) } + models.filter { !isExact($0.record, exact) }
    }

    /// Whether relevance puts it before all others. `text` is the query's in small letters.
    private func isExact(_ record: ModelRecord, _ text: String) -> Bool {
        sort == .relevance && !text.isEmpty && record.repository.id.name.lowercased() == text
    }
}

extension ModelQuery.Sort {
    /// What counts of a model; nil where it is not known.
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
