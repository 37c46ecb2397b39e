import Fetcher

/// The orders of the list. Rows of one model stay together in each.
enum ScreenOrder: String, CaseIterable, Sendable {
    case used = "least recently used first"
    case size = "largest first"
    case name = "by name"
    case age = "oldest first"

    var next: ScreenOrder {
        let all = Self.allCases
        return all[(all.firstIndex(of: self)! + 1) % all.count]
    }

    /// The items in this order, by their places. The sizes of a model's rows add up; of times the earliest counts.
    func sorted(_ items: [CacheItem], rows: [ScreenRow]) -> [Int] {
        var models: [String: Double] = [:]
        for (item, row) in zip(items, rows) {
            let (known, own) = (models[row.name], value(item))
            models[row.name] = self == .size ? (known ?? 0) + own : min(known ?? own, own)
        }
        let keys = zip(items, rows).map { item, row in
            // Other items come after the revisions of their model.
            (models[row.name]!, row.name, item.commit == nil ? 1 : 0, value(item), row[.refs] + row.shortName)
        }
        return items.indices.sorted { keys[$0] < keys[$1] }
    }

    /// Small for what comes first.
    private func value(_ item: CacheItem) -> Double {
        switch self {
        case .used: item.lastUsedAt ?? .infinity
        case .size: -Double(item.size)
        case .name: 0
        case .age: item.downloadedAt ?? .infinity
        }
    }
}
