import Fetcher
import HubCore

/// The orders of the list. Rows of one model stay together in each.
enum ScreenOrder: CaseIterable, Sendable {
    case used, size, name, age

    var description: String {
        switch self {
        case .used: "least recently used first"
        case .size: "largest first"
        case .name: "by name"
        case .age: "oldest first"
        }
    }

    var next: ScreenOrder {
        let all = Self.allCases
        return all[(all.firstIndex(of: self)! + 1) % all.count]
    }

    /// The items in this order, by their places.
    func sorted(_ items: [CacheItem], rows: [ScreenRow]) -> [Int] {
        var groups: [Group] = []
        var places: [String: Int] = [:]
        for index in items.indices {
            let key = items[index].repository.map { "\($0.kind)/\($0.id)" } ?? "\0\(rows[index].name)"
            if places[key] == nil {
                places[key] = groups.count
                groups.append(Group(name: rows[index].name))
            }
            groups[places[key]!].add(index, items[index])
        }
        return groups.sorted(by: isBefore).flatMap { group in
            group.members.sorted { isBefore(items[$0], items[$1], rows[$0], rows[$1]) }
        }
    }

    private struct Group {
        var name: String
        var members: [Int] = []
        var size: Int64 = 0
        var used = Double.infinity
        var downloaded = Double.infinity

        init(name: String) { self.name = name }

        mutating func add(_ index: Int, _ item: CacheItem) {
            members.append(index)
            size += item.size
            used = min(used, item.lastUsedAt ?? .infinity)
            downloaded = min(downloaded, item.downloadedAt ?? .infinity)
        }
    }

    private func isBefore(_ left: Group, _ right: Group) -> Bool {
        switch self {
        case .used: (left.used, left.name) < (right.used, right.name)
        case .size: (right.size, left.name) < (left.size, right.name)
        case .name: left.name < right.name
        case .age: (left.downloaded, left.name) < (right.downloaded, right.name)
        }
    }

    private func isBefore(_ left: CacheItem, _ right: CacheItem, _ leftRow: ScreenRow, _ rightRow: ScreenRow)
        -> Bool
    {
        // Other items come after the revisions of their model.
        guard (left.commit == nil) == (right.commit == nil) else { return right.commit == nil }
        let (leftName, rightName) = (leftRow.refs + leftRow.shortName, rightRow.refs + rightRow.shortName)
        func time(_ seconds: Double?) -> Double { seconds ?? .infinity }
        return switch self {
        case .used: (time(left.lastUsedAt), leftName) < (time(right.lastUsedAt), rightName)
        case .size: (right.size, leftName) < (left.size, rightName)
        case .name: leftName < rightName
        case .age: (time(left.downloadedAt), leftName) < (time(right.downloadedAt), rightName)
        }
    }
}
