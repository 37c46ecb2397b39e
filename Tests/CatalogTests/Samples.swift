import Catalog
import HubCore
import Support

/// A catalog in a temporary folder.
struct Place {
    let folder: TemporaryFolder
    var path: String { folder("state/catalog.sqlite3") }
    init() throws { folder = try TemporaryFolder("catalog") }
    /// The catalog, which keeps the folder as long as it lives.
    func open() throws -> Catalog { try Catalog(path: path) { [folder] _ in withExtendedLifetime(folder) {} } }
    /// The names of the backups, sorted.
    func backups() throws -> [String] { try names().filter { $0.hasPrefix("catalog.sqlite3.backup") } }
    /// The names beside the catalog, its own among them.
    func names() throws -> [String] { try FileSystem.entries(folder("state")) ?? [] }
    /// Every file beside the catalog, byte for byte, but the lock, which is empty.
    func bytes() throws -> [String: [UInt8]] {
        var out: [String: [UInt8]] = [:]
        for name in try names() where !name.hasSuffix(".lock") {
            out[name] = try FileSystem.contents(Path.join(folder("state"), name))
        }
        return out
    }
}

func repository(_ id: String, _ kind: RepositoryKind = .model) throws -> Repository {
    Repository(kind, try RepositoryID(id))
}

/// A commit of one repeated digit.
func commit(_ digit: Character) -> Commit { Commit(String(repeating: digit, count: 40))! }

func record(
    _ id: String, downloads: Int64? = nil, tags: [String]? = nil, change: (inout ModelRecord) -> Void = { _ in }
)
    throws -> ModelRecord
{
    var out = ModelRecord(try repository(id))
    out.downloads = downloads
    out.tags = tags
    change(&out)
    return out
}

func query(_ text: String = "", limit: Int = -1, change: (inout ModelQuery) -> Void = { _ in }) -> ModelQuery {
    var out = ModelQuery()
    out.text = text
    out.limit = limit
    change(&out)
    return out
}

extension Catalog {
    /// The ids that a search gives, in its order.
    func ids(_ query: ModelQuery) throws -> [String] { try search(query).map(\.record.repository.id.name) }
}

/// The real metadata among the fixtures.
enum RealModels {
    static func load() throws -> [ModelRecord] {
        try String(decoding: Fixtures.bytes("hub-metadata/hub-models.ndjson"), as: UTF8.self).split(separator: "\n")
            .map {
                let json = try JSON.parse(String($0))
                return try record(json["id"]?.string ?? "", downloads: json["downloads"]?.int) {
                    $0.author = json["author"]?.string
                    $0.task = json["pipeline_tag"]?.string
                    $0.library = json["library_name"]?.string
                    $0.likes = json["likes"]?.int
                    $0.trendingScore = json["trendingScore"]?.double
                    $0.usedStorage = json["usedStorage"]?.int
                    $0.gating = json["gated"]?.bool == false ? .open : nil
                    $0.tags = json["tags"]?.array?.compactMap(\.string)
                    $0.license = $0.tags?.lazy.compactMap { $0.dropping(prefix: "license:") }.first
                    $0.createdAt = json["createdAt"]?.string.flatMap(Timestamp.parse)
                    $0.updatedAt = json["lastModified"]?.string.flatMap(Timestamp.parse)
                }
            }
    }
}
