import HubCore

/// What several views show alike.
enum PageParts {
    /// `3 days ago`, with the time itself.
    static func age(_ time: String?, now: Double) -> HTML {
        guard let time, let seconds = Timestamp.parse(time) else { return [] }
        return .tag("time", ["datetime": time, "title": time], Humanize.age(of: seconds, now: now))
    }

    static func size(_ bytes: JSON?) -> String { bytes?.int.map { "\(ByteCount($0))" } ?? "" }
    static func count(_ number: JSON?) -> String { number?.int.map(Humanize.count) ?? "" }

    static func badge(_ text: String, _ kind: String = "") -> HTML {
        .tag("span", ["class": kind.isEmpty ? "badge" : "badge \(kind)"], text)
    }

    /// A table in a frame that scrolls by itself where it is too wide.
    static func table(_ caption: String, _ columns: [(name: String, className: String)], _ rows: [HTML]) -> HTML {
        let heads = columns.map { HTML.tag("th", ["scope": "col", "class": $0.className], $0.name) }
        return .tag(
            "table", [:],
            [
                .tag("caption", ["class": "hidden"], caption), .tag("thead", [:], [.tag("tr", [:], heads)]),
                .tag("tbody", [:], rows),
            ])
    }

    static func cell(_ className: String, _ children: [HTML], label: String? = nil) -> HTML {
        .tag("td", ["class": className, "data-label": label], children)
    }

    /// What is said besides the answer: that the Hub did not answer, that more is known.
    static func notes(_ answer: CommandAnswer) -> HTML {
        let texts = answer.messages.map { message in
            HTML.tag(
                "p", ["class": message.kind == "note" ? "note" : "note caution"],
                message.text + (message.advice.map { ". \($0)" } ?? ""))
        }
        return .group(texts)
    }

    /// A command to copy.
    static func command(_ text: String) -> HTML {
        .box(
            "div", "command",
            [
                .tag("code", [:], text),
                .tag("button", ["type": "button", "class": "copy live", "aria-label": "Copy: \(text)"], "Copy"),
            ])
    }

    /// A button that starts a download.
    static func downloadButton(
        _ model: String, format: String? = nil, quantization: String? = nil, text: String, name: String,
        isPrimary: Bool = false
    ) -> HTML {
        .tag(
            "button",
            [
                "type": "button", "class": isPrimary ? "primary live" : "live", "data-download": model,
                "data-format": format, "data-quant": quantization, "aria-label": name,
            ], text)
    }
}
