import Catalog
import HubCore
import HubServer

/// The filters of the search: those of `hub search`, under the names of its flags.
struct ModelsFilters {
    let query: HTTPQuery

    private static let switches = [("runs", "Runs here"), ("fits", "Fits here"), ("cached", "On this machine")]
    private static let texts = ["task", "library", "license", "format"]
    /// Numbers of parameters.
    private typealias Size = (least: String, most: String, text: String)
    private static let sizes: [Size] = [
        ("", "1B", "at most 1B"), ("1B", "4B", "1B to 4B"), ("4B", "9B", "4B to 9B"), ("9B", "16B", "9B to 16B"),
        ("16B", "40B", "16B to 40B"), ("40B", "", "40B and more"),
    ]
    private static let libraries = [
        "transformers", "gguf", "mlx", "sentence-transformers", "diffusers", "safetensors", "peft", "timm", "onnx",
    ]
    private static let licenses = [
        "apache-2.0", "mit", "bsd-3-clause", "cc-by-4.0", "cc-by-nc-4.0", "gemma", "llama3.1", "llama3.2",
        "llama3.3", "openrail", "other",
    ]

    /// Whether any is set; a search without words then lists what passes.
    var isSet: Bool { !arguments.isEmpty }

    /// As `hub search` takes them.
    var arguments: [String] {
        var words = Self.switches.filter { query.flag($0.0) }.map { "--\($0.0)" }
        for name in Self.texts {
            if let value = query[name]?.trimmed.nonEmpty { words += ["--\(name)", value] }
        }
        if let size = Self.sizes.first(where: { Self.value($0) == query["parameters"] }) {
            if !size.least.isEmpty { words += ["--min-params", size.least] }
            if !size.most.isEmpty { words += ["--max-params", size.most] }
        }
        if let access = query["access"], ["open", "gated"].contains(access) { words.append("--\(access)") }
        return words
    }

    /// Whether any is set beyond the boxes.
    private var hasMore: Bool { arguments.contains { word in !Self.switches.contains { "--\($0.0)" == word } } }

    private static func value(_ size: Size) -> String { "\(size.least)-\(size.most)" }

    func html() -> HTML {
        .group([
            .box("div", "filters", Self.switches.map { box($0.0, $0.1) } + [order()]),
            .tag(
                "details", ["class": "filters-more", "open": hasMore ? "" : nil],
                [
                    .tag("summary", [:], "More filters"),
                    .box(
                        "div", "filters",
                        [
                            choice("task", "Task", HubTasks.all.map { ($0, $0) }),
                            choice("format", "Format", formats),
                            choice("parameters", "Parameters", Self.sizes.map { (Self.value($0), $0.text) }),
                            choice(
                                "access", "Access", [("open", "open to all"), ("gated", "with terms to accept")]),
                            text("library", "Library", Self.libraries), text("license", "License", Self.licenses),
                        ]),
                    .tag(
                        "p", ["class": "note"],
                        [
                            .text("Words may be terms, too: "), .tag("code", [:], "author:google"), .text(", "),
                            .tag("code", [:], "tag:code"), .text("."),
                        ]),
                ]),
        ])
    }

    private var formats: [(String, String)] {
        SearchCommand.Format.allCases.map { ($0.rawValue, $0.rawValue) }
    }

    private func box(_ name: String, _ text: String) -> HTML {
        .box(
            "label", "check",
            [
                .tag(
                    "input",
                    ["type": "checkbox", "name": name, "value": "1", "checked": query.flag(name) ? "" : nil]),
                .text(text),
            ])
    }

    private func order() -> HTML {
        let orders: [(ModelQuery.Sort, String)] = [
            (.relevance, "Best match"), (.downloads, "Most downloads"), (.likes, "Most likes"),
            (.updated, "Newest"), (.size, "Largest"),
        ]
        return .box("label", "check", [.text("Sort "), select("sort", orders.map { ($0.0.rawValue, $0.1) })])
    }

    private func choice(_ name: String, _ label: String, _ values: [(String, String)]) -> HTML {
        .box("label", "field", [.text(label), select(name, [("", "any")] + values)])
    }

    private func select(_ name: String, _ values: [(String, String)]) -> HTML {
        .tag(
            "select", ["name": name],
            values.map { value, text -> HTML in
                let isChosen = !value.isEmpty && query[name] == value
                return .tag("option", ["value": value, "selected": isChosen ? "" : nil], text)
            })
    }

    /// A text with suggestions: there are more than a list can hold.
    private func text(_ name: String, _ label: String, _ suggestions: [String]) -> HTML {
        .box(
            "label", "field",
            [
                .text(label),
                .tag(
                    "input",
                    [
                        "type": "text", "name": name, "list": "list-\(name)", "placeholder": "any",
                        "value": query[name] ?? "", "autocomplete": "off", "spellcheck": "false",
                    ]),
                .tag("datalist", ["id": "list-\(name)"], suggestions.map { .tag("option", ["value": $0]) }),
            ])
    }
}
