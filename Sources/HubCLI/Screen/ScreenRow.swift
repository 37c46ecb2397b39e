import Fetcher
import HubCore

/// A row of the list as texts, made once: 5,000 of them are sorted and filtered at every key.
struct ScreenRow: Sendable {
    /// By ``ScreenColumns/Kind``.
    private let cells: [String]
    /// What stands below the model's first row instead of its name.
    let shortName: String
    /// What the filter looks through, in lower case.
    let searched: String

    /// The model, or what the row is where it belongs to none.
    var name: String { self[.name] }

    init(_ item: CacheItem, now: Double) {
        func age(_ time: Double?) -> String { time.map { Humanize.age(of: $0, now: now) } ?? "" }
        let commit = item.commit?.short
        let name = item.repository.map { SafeText.line("\($0)") } ?? Self.kind(item)
        let refs =
            item.commit == nil
            ? item.repository == nil ? "" : Self.kind(item)
            : item.refs.isEmpty ? commit ?? "" : SafeText.line(item.refs.joined(separator: ","))
        let flags = Self.flags(item)
        cells = [
            name, refs, "\(ByteCount(item.size))", "\(ByteCount(item.freedAlone))", age(item.lastUsedAt),
            age(item.downloadedAt), flags,
        ]
        shortName = commit ?? Self.kind(item)
        searched = "\(name) \(refs) \(item.commit?.hash ?? "") \(flags)".lowercased()
    }

    subscript(kind: ScreenColumns.Kind) -> String { cells[kind.rawValue] }

    /// What a row is that is not a revision.
    static func kind(_ item: CacheItem) -> String {
        switch item.subject {
        case .revision: "revision"
        case .remains: "leftover folder"
        case .partials(let names): Humanize.plural(names.count, "partial")
        case .orphans(let names): Humanize.plural(names.count, "orphan")
        case .payloads(let names): "(shared store: \(Humanize.plural(names.count, "unused payload")))"
        case .xet: "(chunks kept by Xet)"
        }
    }

    /// Its marks, the most important first: the column may be cut.
    private static func flags(_ item: CacheItem) -> String {
        var flags: [String] = []
        if let obstacle = item.obstacle { flags.append(obstacle.label) }
        if item.isPinned { flags.append("pinned") }
        if item.isDamaged { flags.append("damaged") }
        if item.isIncomplete, !item.isDamaged { flags.append("incomplete") }
        if item.isDetached { flags.append("detached") }
        return flags.joined(separator: ",")
    }
}
