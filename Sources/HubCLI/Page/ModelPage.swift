import Fetcher
import HubCore
import HubServer
import ModelFormats

/// The page of one repository.
struct ModelPage {
    let place: PagePlace
    let request: PageRequest

    /// `datasets` and `spaces` begin the name as on the Hub.
    private var name: String {
        let parts = request.parts
        return (parts[0] == "models" ? Array(parts.dropFirst()) : parts).joined(separator: "/")
    }
    private var revision: String? { request.query["revision"]?.nonEmpty }
    private var typed: String { name + (revision.map { "@\($0)" } ?? "") }
    private var isModel: Bool { request.parts[0] == "models" }
    private var inspects: Bool { request.query.flag("inspect") }

    static func address(id: String) -> String { "/-/models/\(PercentEncoding.encode(id, keeping: "/"))" }

    static func address(_ reference: ModelReference) -> String {
        let prefix = reference.repository.kind == .model ? "models/" : ""
        let revision = reference.revision.map { "?revision=\(PercentEncoding.encode($0))" } ?? ""
        return "/-/\(prefix)\(PercentEncoding.encode("\(reference.repository)", keeping: "/"))\(revision)"
    }

    func view() async throws -> PageView {
        let reference = try place.context.reference(typed)
        let answer = try await place.ask(["info"] + (inspects ? ["--inspect"] : []) + ["--", typed])
        let info = answer.document
        async let card = card(reference)
        var parts: [HTML] = [
            header(info), .box("div", "actions", actions(info)), PageParts.notes(answer),
            answer.error.map { .tag("p", ["class": "note caution"], "\($0.text). This is what is known here.") }
                ?? [],
        ]
        let main: [HTML] = [weights(info), .group(try await card), files(info)]
        parts.append(
            .box(
                "div", "columns",
                [.box("div", "", main), .box("aside", "", [facts(info), commands(info), inspection(info)])]))
        return PageView(title: name, section: .models, module: "markdown.js", content: parts)
    }

    // MARK: What it is

    private func header(_ info: JSONObject) -> HTML {
        var badges: [HTML] = []
        if isCached(info) { badges.append(PageParts.badge("on this machine", "good")) }
        if info["pinned"]?.bool == true { badges.append(PageParts.badge("pinned")) }
        if info["damaged"]?.bool == true { badges.append(PageParts.badge("damaged", "bad")) }
        if info["gated"]?.string != nil { badges.append(PageParts.badge("gated", "caution")) }
        if info["private"]?.bool == true { badges.append(PageParts.badge("private", "caution")) }
        let parts = name.split(separator: "/").map(String.init)
        let owner = parts.dropLast().joined(separator: "/")
        return .box(
            "header", "title",
            [
                .tag("p", ["class": "faint"], owner.isEmpty ? [] : [.link("/?q=author:\(owner)", owner)]),
                .tag("h1", [:], parts.last ?? name), .box("div", "marks", badges),
            ])
    }

    private func isCached(_ info: JSONObject) -> Bool { (info["cached_bytes"]?.int ?? 0) > 0 }
    private func isWhole(_ info: JSONObject) -> Bool {
        isCached(info) && info["cached_bytes"]?.int == info["size_bytes"]?.int
    }

    private func actions(_ info: JSONObject) -> [HTML] {
        var actions: [HTML] = []
        if !isWhole(info), (info["variants"]?.array?.count ?? 0) < 2 {
            let size = PageParts.size(info["size_bytes"])
            actions.append(
                PageParts.downloadButton(
                    typed, text: isCached(info) ? "Download the rest" : "Download \(size)",
                    name: "Download \(name), \(size)", isPrimary: true))
        } else if !isWhole(info), isModel {
            actions.append(
                PageParts.downloadButton(
                    typed, format: "auto", text: "Download the best for this machine",
                    name: "Download the weights of \(name) that suit this machine best", isPrimary: true))
        }
        if place.hasAPI, isModel, isCached(info), info["runs"]?["possible"]?.bool != false {
            actions.append(
                .link("/-/chat?model=\(PercentEncoding.encode(name, keeping: "/"))", "Chat", className: "button"))
        }
        if isCached(info), let commit = info["commit"]?.string {
            let isPinned = info["pinned"]?.bool == true
            actions.append(
                .tag(
                    "button",
                    [
                        "type": "button", "class": "live", "data-pin": "\(name)@\(commit)",
                        "data-pinned": isPinned ? "1" : "0",
                    ], isPinned ? "Unpin" : "Pin"))
            actions.append(.link("/-/storage", "Storage", className: "button quiet"))
        }
        return actions
    }

    private func facts(_ info: JSONObject) -> HTML {
        var rows: [HTML] = []
        func add(_ name: String, _ value: HTML?) {
            guard let value else { return }
            rows.append(.box("div", "", [.tag("dt", [:], name), .tag("dd", [:], [value])]))
        }
        func text(_ key: String) -> HTML? { info[key]?.string.map { .text($0) } }
        add("Runs here", runs(info["runs"]))
        add("Memory", memory(info))
        add("Parameters", PageParts.count(info["parameters"]).nonEmpty.map { .text($0) })
        add("Task", text("task"))
        add("Library", text("library"))
        add("License", text("license"))
        add("Size", PageParts.size(info["size_bytes"]).nonEmpty.map { .text($0) })
        let cached = isWhole(info) ? "all of it" : isCached(info) ? PageParts.size(info["cached_bytes"]) : "nothing"
        add("On this machine", .text(cached))
        let counts = [
            PageParts.count(info["downloads"]).nonEmpty.map { "\($0) downloads a month" },
            PageParts.count(info["likes"]).nonEmpty.map { "\($0) likes" },
        ].compactMap { $0 }.joined(separator: ", ")
        add("Popularity", counts.nonEmpty.map { .text($0) })
        add("Updated", info["updated_at"]?.string.map { PageParts.age($0, now: place.context.now) })
        add("Revision", info["commit"]?.string.map { .tag("code", [:], String($0.prefix(8))) })
        add("Branches", revisions(info))
        return .box("section", "card", [.tag("h2", ["class": "hidden"], "Facts"), .box("dl", "facts-list", rows)])
    }

    private func runs(_ runs: JSON?) -> HTML? {
        guard let isPossible = runs?["possible"]?.bool else { return nil }
        guard isPossible else { return .tag("span", ["class": "caution"], "no: \(runs?["why"]?.string ?? "")") }
        let rate = runs?["tokens_per_second"]?.double.map { ", about \(RunVerdict.rounded($0)) tokens/s" } ?? ""
        return .tag("span", ["class": "good"], "yes\(rate)")
    }

    private func memory(_ info: JSONObject) -> HTML? {
        guard let bytes = info["inspection"]?["memory_bytes"]?.int ?? info["runs"]?["memory_bytes"]?.int else {
            return nil
        }
        return .text("about \(ByteCount(bytes)) to run it")
    }

    private func revisions(_ info: JSONObject) -> HTML? {
        let names = (info["refs"]?.array ?? []).compactMap { $0["name"]?.string }
        guard names.count > 1 else { return nil }
        let links = names.prefix(12).map { name -> HTML in
            .link("?revision=\(PercentEncoding.encode(name))", name)
        }
        return .group(links.flatMap { [$0, .text(" ")] })
    }

    // MARK: Weights

    private func weights(_ info: JSONObject) -> HTML {
        let variants = info["variants"]?.array ?? []
        guard isModel, !variants.isEmpty else { return [] }
        let total = (try? Machine.memory().total) ?? 0
        let cached = Set(
            (info["files"]?.array ?? []).filter { $0["cached"]?.bool == true }.compactMap {
                $0["path"]?.string.map { ExactText($0) }
            })
        let rows = variants.map { variant(for: $0, cached: cached, memory: total) }
        return .box(
            "section", "card flush",
            [
                .tag("h2", [:], "Weights"),
                PageParts.table(
                    "Sets of weights",
                    [("Name", ""), ("Format", ""), ("Size", "number"), ("Memory", ""), ("", "number")], rows),
            ])
    }

    private func variant(for variant: JSON, cached: Set<ExactText>, memory total: Int64) -> HTML {
        let name = variant["name"]?.string ?? ""
        let format = variant["format"]?.string
        let bytes = variant["size_bytes"]?.int ?? 0
        let need = MemoryNeed(weightsBytes: bytes).bytes
        let files = (variant["files"]?.array ?? []).compactMap(\.string)
        let isHere = files.allSatisfy { cached.contains(ExactText($0)) }
        let quantization = variant["quantization"]?.string
        let button = PageParts.downloadButton(
            typed, format: WeightChoice.Format(rawValue: format ?? "")?.rawValue, quantization: quantization,
            text: "Download", name: "Download \(name), \(ByteCount(bytes))")
        return .tag(
            "tr", [:],
            [
                .tag("th", ["scope": "row"], name), PageParts.cell("", [.text(format ?? "")], label: "Format"),
                PageParts.cell("number", [.text("\(ByteCount(bytes))")], label: "Size"),
                PageParts.cell(
                    "",
                    [
                        .tag(
                            "span", ["class": need <= total ? "good" : "bad"],
                            need <= total ? "fits" : "needs \(ByteCount(need))")
                    ], label: "Memory"),
                PageParts.cell("number", [isHere ? PageParts.badge("on this machine", "good") : button]),
            ])
    }

    // MARK: Files, card, commands

    private func files(_ info: JSONObject) -> HTML {
        let files = info["files"]?.array ?? []
        guard !files.isEmpty else { return [] }
        let rows = files.prefix(1000).map { file -> HTML in
            .tag(
                "tr", [:],
                [
                    .tag("th", ["scope": "row", "class": "path"], file["path"]?.string ?? ""),
                    PageParts.cell("number", [.text(PageParts.size(file["size_bytes"]))], label: "Size"),
                    PageParts.cell(
                        "", [file["cached"]?.bool == true ? .tag("span", ["class": "good"], "here") : []],
                        label: "On this machine"),
                ])
        }
        let title = "\(Humanize.plural(files.count, "file")), \(PageParts.size(info["size_bytes"]))"
        return .box(
            "section", "card flush",
            [
                .tag(
                    "details", ["open": files.count <= 12 ? "" : nil],
                    [
                        .tag("summary", [:], [.tag("h2", [:], "Files"), .tag("span", ["class": "faint"], title)]),
                        PageParts.table("Files", [("Path", ""), ("Size", "number"), ("Here", "")], rows),
                        files.count > 1000 ? .tag("p", ["class": "note"], "The first 1,000 are shown.") : [],
                    ])
            ])
    }

    /// The README as it is written; the page's script makes elements of it.
    private func card(_ reference: ModelReference) async throws -> [HTML] {
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

    private func commands(_ info: JSONObject) -> HTML {
        let word = ShellQuoting.word(typed)
        var lines = ["hub pull \(word)"]
        if isModel, info["runs"]?["possible"]?.bool == true { lines.append("hub chat \(word)") }
        lines.append("HF_ENDPOINT=\(request.address) hf download \(ShellQuoting.word(name))")
        let quantizations = (info["variants"]?.array ?? []).filter { $0["format"]?.string == "gguf" }
        if let quantization = quantizations.first?["quantization"]?.string {
            lines.append("ollama pull --insecure \(request.address.dropFirst(7))/\(name):\(quantization)")
        }
        return .box(
            "section", "card", [.tag("h2", [:], "Use it")] + lines.map(PageParts.command))
    }

    private func inspection(_ info: JSONObject) -> HTML {
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
                        "a", ["href": "?\(query.text)", "class": "button", "data-replace": "#inspection"], "Inspect"
                    ),
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
