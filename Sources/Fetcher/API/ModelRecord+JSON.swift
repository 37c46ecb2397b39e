package import Catalog
package import HubCore

extension ModelRecord {
    /// One entry of a list, or one repository's own page. nil if it has no valid name. Absent keys stay nil.
    package init?(json: JSON, kind: RepositoryKind) {
        guard let id = try? RepositoryID(json["id"]?.string ?? json["modelId"]?.string ?? "") else { return nil }
        self.init(Repository(kind, id))
        author = json["author"]?.string
        task = json["pipeline_tag"]?.string
        library = json["library_name"]?.string
        tags = json["tags"]?.array?.compactMap(\.string)
        license = Self.license(json, tags: tags)
        downloads = json["downloads"]?.int
        likes = json["likes"]?.int
        trendingScore = json["trendingScore"]?.double
        parameters = json["safetensors"]?["total"]?.int ?? json["gguf"]?["total"]?.int
        modelType = json["config"]?["model_type"]?.string
        modelClass = json["config"]?["architectures"]?.array?.first?.string
        ggufArchitecture = json["gguf"]?["architecture"]?.string
        usedStorage = json["usedStorage"]?.int
        gating =
            switch json["gated"] {
            case .bool(false)?: .open
            case .string(let mode)?: Gating(rawValue: mode) ?? .manual
            case .bool(true)?: .manual
            default: nil
            }
        isPrivate = json["private"]?.bool
        isDisabled = json["disabled"]?.bool
        createdAt = json["createdAt"]?.string.flatMap(Timestamp.parse)
        updatedAt = json["lastModified"]?.string.flatMap(Timestamp.parse)
    }

    private static func license(_ json: JSON, tags: [String]?) -> String? {
        if let card = json["cardData"]?["license"] { return card.string ?? card.array?.first?.string }
        return tags?.lazy.compactMap { $0.dropping(prefix: "license:") }.first
    }
}
