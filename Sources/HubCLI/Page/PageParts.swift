import HubCore

/// What several views show alike.
enum PageParts {
    /// `3 days ago`, with the time itself.
    static func age(_ time: String?, now: Double) -> HTML {
        guard let time, let seconds = Timestamp.parse(time) else { return [] }
        return .tag("time", ["datetime": time, "title": time], Humanize.age(of: seconds, now: now))
    }

    /// `1 like`, `5.2k likes`; nil where the number is unknown.
    static func count(_ number: JSON?, _ noun: String) -> String? {
        number?.int.map { "\(Humanize.count($0)) \($0 == 1 ? noun : noun + "s")" }
    }

    static func size(_ bytes: JSON?) -> String { bytes?.int.map { "\(ByteCount($0))" } ?? "" }
    static func count(_ number: JSON?) -> String { number?.int.map(Humanize.count) ?? "" }

    static func badge(_ text: String, _ kind: String = "") -> HTML {
        .tag("span", ["class": kind.isEmpty ? "badge" : "badge \(kind)"], text)
    }

    /// A column of a table.
    struct Column {
        var name: String
        var className = ""
        /// Whether the name is only heard, where the cells speak for themselves.
        var isHeard = false
    }

    /// A table. On a narrow screen its rows are boxes with the labels of their cells.
    static func table(_ caption: String, _ columns: [Column], _ rows: [HTML]) -> HTML {
        let heads = columns.map { column -> HTML in
            .tag(
                "th", ["scope": "col", "class": column.className],
                [column.isHeard ? .tag("span", ["class": "hidden"], column.name) : .text(column.name)])
        }
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
                message.text.asSentence + (message.advice.map { ". \($0.asSentence)" } ?? ""))
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

extension String {
    /// A message of a command as it begins a sentence of the page: names and addresses stay as they are.
    var asSentence: String {
        let isWord = prefix { !" ,:".contains($0) }.allSatisfy { ("a"..."z").contains($0) }
        return isWord && !hasPrefix("hub ") ? withCapital : self
    }
}
