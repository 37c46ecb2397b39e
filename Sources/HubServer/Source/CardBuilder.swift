import HubCore

/// Builds a repository's metadata from its files, overridden by the README's front matter, overridden by `.hub.json`,
/// whose members are served unchanged.
enum CardBuilder {
    static func card(_ repository: Repository, folder: String, scan: FolderScan) throws(AIError) -> RepositoryCard {
        let own = try ownFields(folder)
        let matter = try matter(folder, scan)
        let modified = "\(Timestamp.iso8601(scan.newest).dropLast()).000Z"
        let created = "\(Timestamp.iso8601(scan.oldest).dropLast()).000Z"
        let id = repository.id.name
        var fields: JSONObject = [
            // A stable stand-in for the Hub's object id: 24 digits.
            "_id": .string(String(GitTree.hash("blob", Array("\(repository)".utf8)).hex.prefix(24))),
            "id": .string(id),
            "author": repository.id.owner.map { .string($0) },
            "lastModified": .string(modified), "createdAt": .string(created),
            "private": false, "gated": false, "disabled": false,
            "downloads": 0, "likes": 0, "trendingScore": 0,
            "pipeline_tag": matter["pipeline_tag"], "library_name": matter["library_name"],
            "tags": .array(tags(matter, scan).map { .string($0) }),
            "cardData": matter.count > 0 ? .object(matter) : nil,
            "usedStorage": .int(scan.bytes),
        ]
        if repository.kind == .model { fields["modelId"] = .string(id) }
        for member in own.members { fields[member.key] = member.value }
        // These say which repository it is; a copied .hub.json must not rename it.
        fields["id"] = .string(id)
        if repository.kind == .model { fields["modelId"] = .string(id) }
        return RepositoryCard(fields)
    }

    private static func ownFields(_ folder: String) throws(AIError) -> JSONObject {
        let path = Path.join(folder, ".hub.json")
        guard let status = try FileSystem.linkStatus(path) else { return [:] }
        guard status.kind == .file, let bytes = try FileSystem.contents(path, limit: 1 << 20) else {
            throw AIError(.ioError, "\(path) is not a file", context: .init(path: path))
        }
        do throws(JSONError) {
            if let object = try JSON.parse(bytes).object { return object }
        } catch {
            throw AIError(.ioError, "\(path) is \(error)", context: .init(path: path), cause: error)
        }
        throw AIError(.ioError, "\(path) holds no JSON object", context: .init(path: path))
    }

    private static func matter(_ folder: String, _ scan: FolderScan) throws(AIError) -> JSONObject {
        // From the scan, which has rejected links that leave the folder.
        guard let readme = scan.entries.first(where: { $0.path == "README.md" }) else { return [:] }
        guard readme.identity.size <= 1 << 20, let text = try FileSystem.text(readme.location) else { return [:] }
        return FrontMatter.read(text)
    }

    /// The tags as the Hub derives them: the card's own, library, task, license, base models, and the files' formats.
    private static func tags(_ matter: JSONObject, _ scan: FolderScan) -> [String] {
        var tags: [String] = []
        func add(_ tag: String) { if !tags.contains(tag) { tags.append(tag) } }
        func values(_ key: String) -> [String] {
            matter[key]?.array?.compactMap(\.string) ?? matter[key]?.string.map { [$0] } ?? []
        }
        values("library_name").forEach(add)
        for format in ["safetensors", "gguf", "onnx"]
        where scan.entries.contains(where: { $0.path.hasSuffix(".\(format)") }) {
            add(format)
        }
        for key in ["tags", "pipeline_tag", "language"] { values(key).forEach(add) }
        values("base_model").forEach { add("base_model:\($0)") }
        values("datasets").forEach { add("dataset:\($0)") }
        values("license").forEach { add("license:\($0)") }
        return tags
    }
}
