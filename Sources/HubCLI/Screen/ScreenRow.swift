import Fetcher
import HubCore

/// A row of the list as texts, made once: 5,000 of them are sorted and filtered at every key.
struct ScreenRow: Sendable {
    /// The model, or what the row is where it belongs to none.
    var name: String
    /// What stands below the model's first row instead of its name.
    var shortName: String
    var refs: String
    var size: String
    var frees: String
    var used: String
    var downloaded: String
    /// What the filter looks through, in lower case.
    var searched: String

    init(_ item: CacheItem, now: Double) {
        let commit = item.commit?.short
        name = item.repository.map { SafeText.line("\($0)") } ?? Self.kind(item)
        shortName = commit ?? Self.kind(item)
        refs =
            item.commit == nil
            ? item.repository == nil ? "" : Self.kind(item)
            : item.refs.isEmpty ? commit ?? "" : SafeText.line(item.refs.joined(separator: ","))
        size = "\(ByteCount(item.size))"
        frees = "\(ByteCount(item.freedAlone))"
        used = item.lastUsedAt.map { Humanize.shortAge(of: $0, now: now) } ?? ""
        downloaded = item.downloadedAt.map { Humanize.shortAge(of: $0, now: now) } ?? ""
        searched = "\(name) \(refs) \(item.commit?.hash ?? "") \(Self.flags(item))".lowercased()
    }

    /// What a row is that is not a revision.
    static func kind(_ item: CacheItem) -> String {
        switch item.subject {
        case .revision: "revision"
        case .remains: "leftover folder"
        case .partials(_, let names): Humanize.plural(names.count, "partial")
        case .orphans(_, let names): Humanize.plural(names.count, "orphan")
        case .payloads(let names): "(shared store: \(Humanize.plural(names.count, "unused payload")))"
        case .xet: "(chunks kept by Xet)"
        }
    }

    /// Its marks, the most important first: the column may be cut.
    static func flags(_ item: CacheItem) -> String {
        var flags: [String] = []
        if let obstacle = item.obstacle { flags.append(obstacle.label) }
        if item.isPinned { flags.append("pinned") }
        if item.isDamaged { flags.append("damaged") }
        if item.isIncomplete, !item.isDamaged { flags.append("incomplete") }
        if item.isDetached { flags.append("detached") }
        return flags.joined(separator: ",")
    }
}
