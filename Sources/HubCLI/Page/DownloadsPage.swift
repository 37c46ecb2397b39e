import HubCore

/// The downloads. The script fills the list; without it the state at loading stands there.
struct DownloadsPage {
    let place: PagePlace

    func view() async throws -> PageView {
        let running = place.downloads.json["downloads"]?.array ?? []
        let models = try await place.ask(["ls"]).document["models"]?.array ?? []
        let shown = Set(running.compactMap { $0["model"]?.string })
        let unfinished = models.filter {
            $0["complete"]?.bool == false && $0["kind"]?.string == "model"
                && !shown.contains($0["id"]?.string ?? "")
        }
        return PageView(
            title: "Downloads", section: .downloads, modules: ["downloads.js"],
            content: [
                .tag("h1", [:], "Downloads"),
                .tag("ul", ["id": "downloads", "class": "downloads"], running.map(row)),
                .tag(
                    "p", ["id": "no-downloads", "class": "card empty", "hidden": running.isEmpty ? nil : ""],
                    [.text("Nothing is downloading. "), .link("/", "Find a model"), .text(" to begin.")]),
                unfinishedList(unfinished),
            ])
    }

    private func row(_ download: JSON) -> HTML {
        let done = download["done_bytes"]?.int ?? 0
        let total = download["total_bytes"]?.int ?? 0
        let text = "\(download["state"]?.string ?? ""), \(ByteCount(done)) of \(ByteCount(total))"
        return .box("li", "card", [.tag("b", [:], download["model"]?.string ?? ""), .tag("p", [:], text)])
    }

    /// Unfinished downloads of earlier runs. Their bytes are kept, and a pull continues them.
    private func unfinishedList(_ models: [JSON]) -> HTML {
        guard !models.isEmpty else { return [] }
        let rows = models.map { model -> HTML in
            let id = model["id"]?.string ?? ""
            let button = PageParts.downloadButton(id, text: "Continue", name: "Continue downloading \(id)")
            return .tag(
                "tr", [:],
                [
                    .tag("th", ["scope": "row"], [.link(PageAddress.model(id: id), id)]),
                    PageParts.cell(
                        "number", [.text(PageParts.size(model["size_bytes"]))], label: "On this machine"),
                    PageParts.cell("number live", [button]),
                ])
        }
        let columns = [
            PageParts.Column(name: "Model"), .init(name: "On this machine", className: "number"),
            .init(name: "Continue", className: "number live", isHeard: true),
        ]
        return .box(
            "section", "card flush",
            [
                .box("div", "heading", [.tag("h2", [:], "Unfinished")]),
                PageParts.table("Unfinished downloads", columns, rows),
            ])
    }
}
