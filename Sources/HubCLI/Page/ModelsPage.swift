import Catalog
import HubCore
import HubServer

/// What is on this machine, and the search over the Hub and the catalog.
struct ModelsPage {
    let place: PagePlace
    let request: PageRequest

    private var words: String { request.query["q"]?.trimmingSpaces ?? "" }
    private var filters: ModelsFilters { ModelsFilters(query: request.query) }
    private var isSearch: Bool { !words.isEmpty || filters.isSet }
    private var limit: Int { min(max(Int(request.query["n"] ?? "") ?? 30, 1), 300) }
    private var now: Double { place.context.now }

    /// The model that an address of the Hub names which was put into the search.
    var pastedModel: ModelReference? {
        guard words.contains("://") || words.hasPrefix("huggingface.co/") || words.hasPrefix("hf.co/") else {
            return nil
        }
        return try? ModelReference(parsing: words, endpoint: place.endpoint)
    }

    func view() async throws -> PageView {
        let results = isSearch ? try await searched() : try await here()
        return PageView(
            title: words.isEmpty ? "Models" : "\(words)", section: .models,
            content: [
                .tag("h1", ["class": isSearch ? "hidden" : ""], "Models"), form(),
                // The script says how many were found: a live region would read all of them.
                .tag("div", ["id": "results"], results),
            ])
    }

    // MARK: The search

    private func form() -> HTML {
        .tag(
            "form", ["class": "search", "role": "search", "action": "/", "data-replace": "#results"],
            [
                .tag("label", ["for": "q", "class": "hidden"], "Search models"),
                .tag(
                    "input",
                    [
                        "id": "q", "name": "q", "type": "search", "value": words, "autocomplete": "off",
                        "placeholder": "Words, or an address of the Hub",
                        "spellcheck": "false",
                    ]), .tag("button", ["class": "primary"], "Search"), filters.html(),
            ])
    }

    private func searched() async throws -> [HTML] {
        var command = ["search", "--limit", "\(limit)"] + filters.arguments
        if let sort = request.query["sort"].flatMap(ModelQuery.Sort.init(rawValue:)) {
            command += ["--sort", sort.rawValue]
        }
        let answer = try await place.ask(command + (words.isEmpty ? [] : ["--", words]))
        let models = answer.document["models"]?.array ?? []
        var parts: [HTML] = []
        if let suggestion = answer.document["suggestion"]?.string {
            var query = request.query
            query["q"] = suggestion
            parts.append(
                .tag("p", [:], [.text("Did you mean "), .link("/?\(query.text)", suggestion), .text("?")]))
        }
        if let error = answer.error {
            parts.append(
                .tag(
                    "p", ["class": "note caution"],
                    "\(error.text.asSentence). These are models that the catalog on this machine knows."))
        }
        guard !models.isEmpty else { return parts + nothing(answer) }
        let count = Humanize.plural(models.count, "model")
        parts.append(
            .tag("h2", ["class": "faint small"], models.count == limit ? "The first \(count)" : count))
        parts += [.box("ul", "models", models.map(row)), more(models.count), PageParts.notes(answer)]
        return parts
    }

    /// What is said where nothing was found, and where that leads on.
    private func nothing(_ answer: CommandAnswer) -> [HTML] {
        var answer = answer
        // It says where was searched; what may have been meant stands above.
        let place = answer.messages.firstIndex { $0.text.hasPrefix("no model ") }
        let said = place.map { answer.messages.remove(at: $0).text }
        let text = said?.split(separator: "; did you mean").first.map { String($0).asSentence }
        var links: [HTML] = []
        if filters.isSet, !words.isEmpty {
            links.append(
                .link("/?q=\(PercentEncoding.encode(words))", "Search without filters", className: "button"))
        }
        links.append(.link("/", "All models", className: "button"))
        return [
            .tag("h2", ["class": "faint small"], text ?? "No model was found"), PageParts.notes(answer),
            .box("p", "row", links),
        ]
    }

    private func more(_ count: Int) -> HTML {
        guard count == limit, limit < 300 else { return [] }
        var query = request.query
        query["n"] = "\(limit * 2)"
        return .tag(
            "p", [:],
            [
                .tag(
                    "a", ["href": "/?\(query.text)", "class": "button", "data-replace": "#results"],
                    "Show more")
            ])
    }

    private func row(_ model: JSON) -> HTML {
        let id = model["id"]?.string ?? ""
        let facts = [
            PageParts.count(model["parameters"]).nonEmpty.map { "\($0) parameters" }, model["task"]?.string,
            model["license"]?.string,
            PageParts.count(model["downloads"], "download"),
        ].compactMap { $0 }
        var marks: [HTML] = []
        if model["cached"]?.bool == true { marks.append(PageParts.badge("on this machine", "good")) }
        if model["gated"]?.string != nil { marks.append(PageParts.badge("gated", "caution")) }
        return .box(
            "li", "model",
            [
                .box("div", "grow", [name(id), .box("div", "facts", [.text(facts.joined(separator: " · "))])]),
                .box("div", "marks", marks),
                .box("div", "runs", [verdict(model["runs"]), .tag("span", ["class": "size"], weight(model))]),
            ])
    }

    private func weight(_ model: JSON) -> String {
        PageParts.size(model["weights_bytes"]).nonEmpty ?? PageParts.size(model["size_bytes"])
    }

    private func name(_ id: String) -> HTML {
        let parts = id.split(separator: "/", maxSplits: 1).map(String.init)
        let text: [HTML] =
            parts.count == 2
            ? [.tag("span", ["class": "faint"], "\(parts[0])/"), .tag("b", [:], parts[1])] : [.tag("b", [:], id)]
        return .tag("a", ["href": PageAddress.model(id: id), "class": "name"], text)
    }

    private func verdict(_ runs: JSON?) -> HTML {
        guard let runs, let isPossible = runs["possible"]?.bool else { return [] }
        guard isPossible else {
            return .tag("span", ["class": "faint", "title": runs["why"]?.string], "does not run here")
        }
        let rate = runs["tokens_per_second"]?.double.map { "about \(RunVerdict.rounded($0)) tokens/s" }
        return .tag("span", ["class": "good"], rate.map { "runs here, \($0)" } ?? "runs here")
    }

    // MARK: This machine

    private func here() async throws -> [HTML] {
        async let good = curated()
        let answer = try await place.ask(["ls"])
        let models = (answer.document["models"]?.array ?? []).filter { $0["kind"]?.string == "model" }
        var parts: [HTML] = []
        if models.isEmpty {
            parts.append(
                .box(
                    "section", "card empty",
                    [
                        .tag("h2", [:], "No model is on this machine yet"),
                        .tag("p", [:], "Search for one above, or begin with one of these."),
                    ]))
        } else {
            parts += [
                .tag("h2", [:], "On this machine"), .box("ul", "models", models.map(cached)),
                .tag(
                    "p", ["class": "faint small"],
                    "\(Humanize.plural(models.count, "model")), \(PageParts.size(answer.document["total_bytes"])); \(PageParts.size(answer.document["disk_free_bytes"])) free on the disk"
                ), PageParts.notes(answer),
            ]
        }
        return parts + [try await good]
    }

    private func cached(_ model: JSON) -> HTML {
        let id = model["id"]?.string ?? ""
        var marks: [HTML] = []
        if model["pinned"]?.bool == true { marks.append(PageParts.badge("pinned")) }
        if model["damaged"]?.bool == true { marks.append(PageParts.badge("damaged", "bad")) }
        if model["complete"]?.bool == false { marks.append(PageParts.badge("incomplete", "caution")) }
        let tried = model["tried"].map { tried -> String in
            let rate = tried["tokens_per_second"]?.double.map { ", \(RunVerdict.rounded($0)) tokens/s" } ?? ""
            return "tried: \(tried["verdict"]?.string ?? "")\(rate)"
        }
        let refs = (model["revisions"]?.array ?? []).flatMap { $0["refs"]?.array ?? [] }.compactMap(\.string)
        let used: [HTML] =
            model["last_used_at"]?.string.map { [.text("used "), PageParts.age($0, now: now)] }
            ?? [.text("never used")]
        let facts = [refs.joined(separator: ", "), tried ?? ""].filter { !$0.isEmpty }.joined(separator: " · ")
        return .box(
            "li", "model",
            [
                .box(
                    "div", "grow",
                    [name(id), .box("div", "facts", [.text(facts), .text(facts.isEmpty ? "" : " · ")] + used)]),
                .box("div", "marks", marks),
                .box("div", "runs", [.tag("span", ["class": "size"], PageParts.size(model["size_bytes"]))]),
            ])
    }

    /// What a newcomer can begin with: the curated models that run here and fit.
    private func curated() async throws -> HTML {
        let answer = try await place.ask(["registry", "ls"])
        let fitting = (answer.document["models"]?.array ?? []).filter { entry in
            entry["recommended"]?.bool == true && entry["runs"]?["possible"]?.bool == true
                && entry["cached"]?.bool != true
        }
        guard !fitting.isEmpty else { return [] }
        let known = try await place.context.registry(place.workspace).entriesByRepository
        return .group([
            .tag("h2", [:], "Good models for this machine"),
            .tag("p", ["class": "faint small"], "hub runs them here; no other program is needed."),
            .box(
                "ul", "tiles",
                fitting.prefix(9).map { tile($0, estimate: known[$0["id"]?.string ?? ""]?.estimatedWeightBytes) }),
        ])
    }

    /// - Parameter estimate: bytes of its weights, for where its files were never listed.
    private func tile(_ entry: JSON, estimate: Int64?) -> HTML {
        let id = entry["id"]?.string ?? ""
        let name = entry["name"]?.string ?? id
        let size =
            PageParts.size(entry["size_bytes"]).nonEmpty ?? estimate.map { "about \(ByteCount($0))" }
        let facts = [PageParts.count(entry["parameters"]).nonEmpty.map { "\($0) parameters" }, size]
        let isGGUF = entry["format"]?.string == "gguf"
        return .box(
            "li", "tile",
            [
                .tag("a", ["href": PageAddress.model(id: id), "class": "name"], name),
                .box("p", "facts grow", [.text(entry["description"]?.string ?? "")]),
                .box(
                    "div", "row",
                    [
                        .box("span", "facts grow", [.text(facts.compactMap { $0 }.joined(separator: " · "))]),
                        PageParts.downloadButton(
                            id, format: isGGUF ? "gguf" : "auto",
                            quantization: isGGUF ? entry["quantization"]?.string : nil, text: "Download",
                            name: (["Download \(name)"] + [size].compactMap { $0 }).joined(separator: ", ")),
                    ]),
            ])
    }
}

extension String {
    /// nil where it is empty.
    var nonEmpty: String? { isEmpty ? nil : self }

    /// As at the beginning of a sentence.
    var withCapital: String { prefix(1).uppercased() + dropFirst() }

    fileprivate var trimmingSpaces: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
