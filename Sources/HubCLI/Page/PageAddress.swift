import HubCore

/// Where the page shows something.
enum PageAddress {
    /// A model of the Hub's list.
    static func model(id: String) -> String { "/-/models/\(PercentEncoding.encode(id, keeping: "/"))" }

    /// A repository, with its revision.
    static func repository(_ reference: ModelReference) -> String {
        let prefix = reference.repository.kind == .model ? "models/" : ""
        let revision = reference.revision.map { "?revision=\(PercentEncoding.encode($0))" } ?? ""
        return "/-/\(prefix)\(PercentEncoding.encode("\(reference.repository)", keeping: "/"))\(revision)"
    }

    /// Pictures before a model.
    static func pictures(model name: String) -> String {
        "/-/pictures?model=\(PercentEncoding.encode(name, keeping: "/"))"
    }

    /// A conversation with a model.
    static func chat(model name: String) -> String {
        "/-/chat?model=\(PercentEncoding.encode(name, keeping: "/"))"
    }
}
