import Fetcher
import HubCore
import HubServer
import InferenceKit
import ModelFormats

/// The page of one repository.
struct ModelPage {
    let place: PagePlace
    let request: PageRequest

    /// `datasets` and `spaces` begin the name as on the Hub.
    var name: String {
        let parts = request.parts
        return (parts[0] == "models" ? Array(parts.dropFirst()) : parts).joined(separator: "/")
    }
    private var revision: String? { request.query["revision"]?.nonEmpty }
    var typed: String { name + (revision.map { "@\($0)" } ?? "") }
    var isModel: Bool { request.parts[0] == "models" }
    private var inspects: Bool { request.query.flag("inspect") }

    func view() async throws -> PageView {
        let reference = try place.context.reference(typed)
        let answer = try await place.ask(["info"] + (inspects ? ["--inspect"] : []) + ["--", typed])
        let info = answer.document
        async let card = card(reference)
        let use = await use(info, reference)
        var parts: [HTML] = [
            // Loaded anew when a download has ended, as are the facts, the weights and the files.
            .tag("div", ["id": "head"], [header(info), .box("div", "actions", actions(info, use, reference))]),
            .tag("ul", ["id": "downloads", "class": "downloads", "data-page": PageAddress.repository(reference)]),
            PageParts.notes(answer),
            answer.error.map {
                .tag("p", ["class": "note caution"], "\($0.text.asSentence). This is what is known here.")
            } ?? [],
            terms(info, reference),
        ]
        let main: [HTML] = [weights(info), .group(try await card), files(info)]
        let aside: [HTML] = [facts(info), alternatives(info), commands(info, use), inspection(info)]
        parts.append(.box("div", "columns", [.box("div", "", main), .box("aside", "", aside)]))
        return PageView(
            title: name, section: .models, modules: ["markdown.js", "downloads.js"], content: parts)
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

    private func address(_ reference: ModelReference) -> String {
        "\(place.endpoint.address)/\(reference.repository)"
    }

    /// What comes before the download of a model whose makers want to be asked.
    private func terms(_ info: JSONObject, _ reference: ModelReference) -> HTML {
        guard info["gated"]?.string != nil, !isCached(info) else { return [] }
        return .tag(
            "p", ["class": "note caution"],
            [
                .text("Its makers want to be asked first: accept their terms "),
                .tag(
                    "a", ["href": address(reference), "rel": "noopener noreferrer", "target": "_blank"],
                    "on the Hub"),
                .text(", and sign this machine in with "), .tag("code", [:], "hub auth login"), .text("."),
            ])
    }

    private func actions(_ info: JSONObject, _ use: ModelUse?, _ reference: ModelReference) -> [HTML] {
        var actions: [HTML] = []
        let isPinned = info["pinned"]?.bool == true
        if isCached(info), info["runs"]?["possible"]?.bool != false, let use {
            var live: HTML?
            if use.chats {
                live = .link(PageAddress.chat(model: name), "Chat", className: "button primary")
            } else if use.task.sees, use.task == .objectDetection || !use.task.seesParts {
                // The API answers with no depth and no segments.
                live = .link(PageAddress.pictures(model: name), "Show it pictures", className: "button primary")
            }
            actions.append((place.hasAPI ? live : nil) ?? .link("#use", "Use it", className: "button"))
        }
        if !isWhole(info) { actions.append(downloadButton(info)) }
        if isCached(info), let commit = info["commit"]?.string {
            actions.append(
                .tag(
                    "button",
                    [
                        "type": "button", "class": "live", "data-pin": "\(name)@\(commit)",
                        "data-pinned": isPinned ? "1" : "0",
                    ], isPinned ? "Unpin" : "Pin"))
            if !isPinned {
                let address = "/-/storage?mark=\(PercentEncoding.encode("\(name)@\(commit)"))"
                actions.append(.link(address, "Delete", className: "button danger"))
            }
        }
        return actions + [
            .tag(
                "a",
                [
                    "href": address(reference), "class": "button quiet", "rel": "noopener noreferrer",
                    "target": "_blank",
                ],
                "On the Hub")
        ]
    }

    /// All of it, or of several sets of weights the one that hub takes by itself.
    private func downloadButton(_ info: JSONObject) -> HTML {
        let isMore = isCached(info)
        guard isModel, (info["variants"]?.array?.count ?? 0) > 1 else {
            let size = PageParts.size(info["size_bytes"])
            return PageParts.downloadButton(
                typed, text: isMore ? "Download the rest" : "Download \(size)",
                name: isMore ? "Download the rest of \(name)" : "Download \(size), \(name)", isPrimary: !isMore)
        }
        guard let set = chosenSet(info), !isHere(set, info) else { return [] }
        let text = "Download \(set["name"]?.string ?? ""), \(PageParts.size(set["size_bytes"]))"
        return PageParts.downloadButton(
            typed, format: "auto", text: text, name: "\(text): the best of \(name) for this machine",
            isPrimary: !isMore)
    }

    /// The set of weights that hub takes by itself: what runs here, else the best that fits; nil where none does.
    func chosenSet(_ info: JSONObject) -> JSON? {
        let variants = info["variants"]?.array ?? []
        if let file = info["runs"]?["file"]?.string {
            return variants.first { $0["files"]?.array?.contains { $0.string == file } == true }
        }
        let files = (info["files"]?.array ?? []).map {
            RepositoryFile(path: $0["path"]?.string ?? "", size: $0["size_bytes"]?.int ?? 0, oid: "")
        }
        let tags = info["tags"]?.array?.compactMap(\.string) ?? []
        guard let memory = try? Machine.memory().total,
            let best = try? WeightChoice(format: .auto, quantization: nil).choose(
                from: ModelFiles(files, library: info["library"]?.string, tags: tags), of: name,
                for: WeightChoice.Target(memoryBytes: memory, runsMLX: Machine.runsMLX))
        else { return nil }
        return variants.first { $0["name"]?.string == best.name }
    }

    private func isHere(_ variant: JSON, _ info: JSONObject) -> Bool {
        let cached = Set(
            (info["files"]?.array ?? []).filter { $0["cached"]?.bool == true }.compactMap {
                $0["path"]?.string.map { ExactText($0) }
            })
        return (variant["files"]?.array ?? []).compactMap(\.string).allSatisfy { cached.contains(ExactText($0)) }
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
            PageParts.count(info["downloads"], "download").map { "\($0) a month" },
            PageParts.count(info["likes"], "like"),
        ].compactMap { $0 }.joined(separator: ", ")
        add("Popularity", counts.nonEmpty.map { .text($0) })
        add("Updated", info["updated_at"]?.string.map { PageParts.age($0, now: place.context.now) })
        add("Revision", info["commit"]?.string.map { .tag("code", [:], String($0.prefix(8))) })
        add("Branches", revisions(info))
        add("Tags", tags(info))
        return .tag(
            "section", ["class": "card", "id": "facts"],
            [.tag("h2", ["class": "hidden"], "Facts"), .box("dl", "facts-list", rows)])
    }

    private func runs(_ runs: JSON?) -> HTML? {
        guard let isPossible = runs?["possible"]?.bool else { return nil }
        guard isPossible else {
            // What could be used instead stands below.
            let (why, others) = (runs?["why"]?.string ?? "", alternatives(runs).map { "; \($0)" }.joined())
            let reason = why.hasSuffix(others) ? why.dropLast(others.count) : why[...]
            return .tag("span", ["class": "caution"], "no: \(reason)")
        }
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

    /// The first ten; those with a colon are for programs.
    private func tags(_ info: JSONObject) -> HTML? {
        let tags = (info["tags"]?.array ?? []).compactMap(\.string).filter { !$0.contains(":") }.prefix(10)
        guard !tags.isEmpty else { return nil }
        return .box(
            "span", "marks",
            tags.map { tag in
                .link("/?q=\(PercentEncoding.encode("tag:\"\(tag)\""))", tag, className: "badge")
            })
    }

    // MARK: Weights

    private func weights(_ info: JSONObject) -> HTML {
        let variants = info["variants"]?.array ?? []
        guard isModel, !variants.isEmpty else { return [] }
        let total = (try? Machine.memory().total) ?? 0
        let rows = variants.map { row(of: $0, isHere: isHere($0, info), memory: total) }
        return .tag(
            "section", ["class": "card flush", "id": "weights"],
            [
                .tag("h2", [:], "Weights"),
                PageParts.table(
                    "Sets of weights",
                    [
                        .init(name: "Name"), .init(name: "Format"), .init(name: "Size", className: "number"),
                        .init(name: "Memory"), .init(name: "Download", className: "number", isHeard: true),
                    ], rows),
            ])
    }

    private func row(of variant: JSON, isHere: Bool, memory total: Int64) -> HTML {
        let name = variant["name"]?.string ?? ""
        let format = variant["format"]?.string
        let bytes = variant["size_bytes"]?.int ?? 0
        let need = MemoryNeed(weightsBytes: bytes).bytes
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
}
