import Fetcher
import HubCore
import HubServer

/// What is in the repository: its files, its README, the headers of its weights.
extension ModelPage {
    func files(_ info: JSONObject) -> HTML {
        let files = info["files"]?.array ?? []
        guard !files.isEmpty else { return [] }
        let rows = files.prefix(1000).map { file -> HTML in
            .tag(
                "tr", [:],
                [
                    .tag("th", ["scope": "row", "class": "path"], file["path"]?.string ?? ""),
                    PageParts.cell("number", [.text(PageParts.size(file["size_bytes"]))], label: "Size"),
                    PageParts.cell(
                        "", [file["cached"]?.bool == true ? .tag("span", ["class": "good"], "yes") : []],
                        label: "On this machine"),
                ])
        }
        let title = "\(Humanize.plural(files.count, "file")), \(PageParts.size(info["size_bytes"]))"
        return .tag(
            "section", ["class": "card flush", "id": "files"],
            [
                .tag(
                    "details", ["open": files.count <= 12 ? "" : nil],
                    [
                        .tag("summary", [:], [.tag("h2", [:], "Files"), .tag("span", ["class": "faint"], title)]),
                        PageParts.table(
                            "Files",
                            [
                                .init(name: "Path"), .init(name: "Size", className: "number"),
                                .init(name: "On this machine"),
                            ], rows),
                        files.count > 1000 ? .tag("p", ["class": "note"], "The first 1,000 are shown.") : [],
                    ])
            ])
    }

    /// The README as it is written; the page's script makes elements of it.
    func card(_ reference: ModelReference) async throws -> [HTML] {
        let workspace = place.workspace
        let text: String?
        do {
            let plan = try await workspace.puller().plan(reference, Puller.Options())
            let client = workspace.isOffline ? nil : try await workspace.client()
            text = try await CardReader(catalog: workspace.catalog, client: client).text(plan)
        } catch {
            let error = AIError.wrapping(error)
            if error.code == .cancelled { throw error }
            return [.tag("p", ["class": "note"], "Its README could not be read: \(error.message)")]
        }
        guard let text else { return [] }
        return [
            .box(
                "section", "card prose",
                [
                    .tag("h2", ["class": "hidden"], "README"),
                    .tag("div", ["data-markdown": ""], [.tag("pre", [:], text)]),
                ])
        ]
    }

    func inspection(_ info: JSONObject) -> HTML {
        guard isModel else { return [] }
        guard let found = info["inspection"] else {
            var query = request.query
            query["inspect"] = "1"
            return .tag(
                "section", ["class": "card", "id": "inspection"],
                [
                    .tag("h2", [:], "Inside"),
                    .tag("p", ["class": "faint"], "Read the headers of the weights: some kilobytes, no weights."),
                    .tag(
                        "a",
                        // The facts then have the memory that the headers ask for.
                        [
                            "href": "?\(query.text)", "class": "button",
                            "data-replace": "#inspection, #facts",
                        ], "Inspect"),
                ])
        }
        let rows = InspectionTable.rows(found).map { name, value in
            HTML.box("div", "", [.tag("dt", [:], name), .tag("dd", [:], value)])
        }
        return .tag(
            "section", ["class": "card", "id": "inspection"],
            [.tag("h2", [:], "Inside"), .box("dl", "facts-list", rows)])
    }
}

/// What the headers of weights say, in rows.
private enum InspectionTable {
    static func rows(_ json: JSON) -> [(String, String)] {
        func number(_ key: String) -> String? { json[key]?.int.map { Humanize.grouped(Int($0)) } }
        let texts: [(String, String?)] = [
            ("Architecture", json["architecture"]?.string), ("File", json["file"]?.string),
            ("Parameters", json["parameters"]?.int.map(Humanize.count)),
            ("Each token reads", json["active_parameters"]?.int.map { "\(Humanize.count($0)) parameters" }),
            ("Quantized", json["quantization"]?.string), ("Layers", number("layers")), ("Heads", number("heads")),
            ("KV heads", number("kv_heads")), ("Vocabulary", number("vocabulary")),
            ("Context", number("context_length").map { "\($0) tokens" }),
            ("KV cache", json["kv_bytes_per_token"]?.int.map { "\(ByteCount($0)) per token" }),
            ("Weights", PageParts.size(json["weights_bytes"]).nonEmpty),
            ("Memory", PageParts.size(json["memory_bytes"]).nonEmpty),
            ("Fits", json["fits"]?.bool.map { $0 ? "yes" : "no" }), ("Tokenizer", json["tokenizer"]?.string),
            ("Chat template", json["chat_template"]?.bool.map { $0 ? "yes" : "no" }),
            (
                "Obstacles",
                json["obstacles"]?.array?.compactMap(\.string).joined(separator: "; ").nonEmpty
            ),
        ]
        return texts.compactMap { name, text in text.map { (name, $0) } }
    }
}
