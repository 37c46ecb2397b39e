import HubCore

extension ModelQuery {
    /// Models of several sources in the order of the query: for relevance first what is called exactly like the text,
    /// then high values before low ones, and the unknown last. Equal ones stay as they were.
    package func sorted<Item>(_ items: [Item], by record: (Item) -> ModelRecord) -> [Item] {
        let exact = text.lowercased()
        let keyed = items.enumerated().map { place, item in
            let record = record(item)
            return (
                isExact: isExact(record, exact), value: sort.value(of: record) ?? -.infinity, place: place,
                item: item
            )
        }
        return keyed.sorted { left, right in
            if left.isExact != right.isExact { return left.isExact }
            return left.value != right.value ? left.value > right.value : left.place < right.place
        }.map(\.item)
    }

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
