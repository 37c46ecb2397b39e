import Fetcher
import HubCore
import HubServer

/// What the cache holds, what deleting each part frees, and the trash.
struct StoragePage {
    let place: PagePlace
    let request: PageRequest

    /// The orders of the list by what its address calls them, the usual one first.
    private static let orders: [(name: String, order: ScreenOrder, text: String)] = [
        ("used", .used, "Least recently used"), ("size", .size, "Largest"), ("name", .name, "Name"),
        ("age", .age, "Oldest"),
    ]

    /// The colours of the bar; further models share one.
    private static let colors = 8

    func view() async throws -> PageView {
        let inventory = try await StorageChange.inventory(place)
        let (entries, faults) = try await Blocking.run { [layout = place.workspace.layout] in
            try Trash(layout).contents()
        }
        return PageView(
            title: "Storage", section: .storage, modules: ["storage.js"],
            content: [
                .tag("h1", [:], "Storage"), bar(inventory), items(inventory), review(),
                .tag("section", ["id": "trash", "aria-labelledby": "trash-title"], trashList(entries, faults)),
            ])
    }

    // MARK: The bar

    private func bar(_ inventory: CacheInventory) -> HTML {
        var sizes: [(name: String, bytes: Int64)] = []
        for repository in inventory.state.repositories {
            let bytes = repository.physicalFiles.values.reduce(0) { $0 + $1.size }
            sizes.append((repository.repository.description, bytes))
        }
        sizes.sort { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
        var shown = Array(sizes.prefix(Self.colors))
        let rest = max(inventory.size - shown.reduce(0) { $0 + $1.bytes }, 0)
        if rest > 0 { shown.append(("everything else", rest)) }
        let total = max(shown.reduce(0) { $0 + $1.bytes }, 1)
        var (x, rects, legend): (Double, [HTML], [HTML]) = (0, [], [])
        for (index, part) in shown.enumerated() where part.bytes > 0 {
            let width = Double(part.bytes) / Double(total) * 1000
            rects.append(
                .tag(
                    "rect",
                    ["class": "c\(index)", "x": "\(x)", "y": "0", "width": "\(max(width - 2, 1))", "height": "28"]))
            x += width
            legend.append(
                .tag(
                    "li", [:],
                    [
                        .box("span", "swatch c\(index)", []), .tag("span", ["class": "grow"], part.name),
                        .tag("span", ["class": "size"], "\(ByteCount(part.bytes))"),
                    ]))
        }
        let sum = "\(ByteCount(inventory.size)) in the cache, \(ByteCount(inventory.diskFree)) free on the disk"
        return .box(
            "section", "card",
            [
                .tag("p", ["class": "lead"], sum),
                .tag(
                    "svg",
                    [
                        "class": "usage", "viewBox": "0 0 1000 28", "preserveAspectRatio": "none", "role": "img",
                        "aria-label": "The cache by model; the list below has the numbers",
                    ], rects), .box("ul", "legend", legend),
                .tag("p", ["class": "faint small"], inventory.state.layout.root),
            ])
    }

    // MARK: The items

    private func items(_ inventory: CacheInventory) -> HTML {
        let now = place.context.now
        let order = Self.orders.first { $0.name == request.query["sort"] } ?? Self.orders[0]
        let ordered = order.order.sorted(inventory.items, rows: inventory.items.map { ScreenRow($0, now: now) })
        guard !ordered.isEmpty else {
            return .box("section", "card empty", [.tag("p", [:], "The cache is empty.")])
        }
        let rows = ordered.map { row(inventory.items[$0], now: now) }
        return .tag(
            "form", ["class": "card flush", "id": "items"],
            [
                .box(
                    "div", "heading",
                    [
                        .tag("h2", [:], "What can go"), orderLinks(order.name),
                        .box(
                            "label", "check small live",
                            [.tag("input", ["type": "checkbox", "id": "all"]), .text("Mark all")]),
                    ]),
                PageParts.table(
                    "What the cache holds",
                    [
                        .init(name: "Mark", className: "live mark", isHeard: true), .init(name: "Model"),
                        .init(name: "Size", className: "number"), .init(name: "Frees", className: "number"),
                        .init(name: "Used"), .init(name: "State", isHeard: true),
                        .init(name: "Pin", className: "live", isHeard: true),
                    ], rows),
            ])
    }

    private func orderLinks(_ current: String) -> HTML {
        .tag(
            "nav", ["id": "orders", "class": "orders small", "aria-label": "Order of the list"],
            Self.orders.map { name, _, text in
                let isCurrent = name == current ? "true" : nil
                return .tag("a", ["href": "/-/storage?sort=\(name)", "aria-current": isCurrent], text)
            })
    }

    private func row(_ item: CacheItem, now: Double) -> HTML {
        let row = ScreenRow(item, now: now)
        let isHeld = item.isPinned || item.obstacle != nil
        let name = row.name + (row[.refs].isEmpty ? "" : ", \(row[.refs])")
        let box = HTML.tag(
            "input",
            [
                "type": "checkbox", "name": "item", "value": StorageChange.key(item), "aria-label": "Mark \(name)",
                "disabled": isHeld ? "" : nil, "data-bytes": "\(item.freedAlone)",
            ])
        let flags = row[.flags].split(separator: ",").map { flag -> HTML in
            PageParts.badge(String(flag), flag == "damaged" ? "bad" : flag == "pinned" ? "" : "caution")
        }
        return .tag(
            "tr", ["class": isHeld ? "held" : nil],
            [
                PageParts.cell("live mark", [box]),
                .tag("th", ["scope": "row"], [title(item, row), .box("div", "facts", [.text(row[.refs])])]),
                PageParts.cell("number", [.text(row[.size])], label: "Size"),
                PageParts.cell("number", [.text(row[.frees])], label: "Frees"),
                PageParts.cell("", [used(item, now: now)], label: "Used"),
                PageParts.cell("", flags.isEmpty ? [] : [.box("div", "marks", flags)]),
                PageParts.cell("live number", [pinButton(item, name)]),
            ])
    }

    private func title(_ item: CacheItem, _ row: ScreenRow) -> HTML {
        guard let repository = item.repository else { return .text(row.name) }
        return .link(PageAddress.repository(ModelReference(repository)), row.name)
    }

    private func used(_ item: CacheItem, now: Double) -> HTML {
        item.lastUsedAt.map { PageParts.age(Timestamp.iso8601($0), now: now) } ?? "never"
    }

    private func pinButton(_ item: CacheItem, _ name: String) -> HTML {
        guard let repository = item.repository, let commit = item.commit else { return [] }
        return .tag(
            "button",
            [
                "type": "button", "class": "small", "data-pin": "\(repository)@\(commit.hash)",
                "data-pinned": item.isPinned ? "1" : "0",
                "aria-label": "\(item.isPinned ? "Unpin" : "Pin") \(name)",
            ], item.isPinned ? "Unpin" : "Pin")
    }

    /// Filled by the script: the bar that says what the marks free, and the plan before anything is done.
    private func review() -> HTML {
        .group([
            .tag(
                "div", ["class": "marked", "id": "marked", "hidden": "", "role": "region", "aria-label": "Marked"],
                [
                    .tag("span", ["id": "marked-text", "role": "status"]),
                    .tag("button", ["type": "button", "id": "unmark", "class": "quiet"], "Clear"),
                    .tag("button", ["type": "button", "id": "review", "class": "primary"], "Review"),
                ]),
            .tag(
                "dialog", ["id": "plan", "aria-labelledby": "plan-title"],
                [
                    .tag("h2", ["id": "plan-title"], "Delete these?"), .tag("div", ["id": "plan-rows"]),
                    .box(
                        "div", "actions",
                        [
                            .tag(
                                "button", ["type": "button", "id": "plan-trash", "class": "primary"],
                                "Move to trash"),
                            .tag(
                                "button", ["type": "button", "id": "plan-delete", "class": "danger"], "Delete now"),
                            .tag("button", ["type": "button", "id": "plan-cancel"], "Cancel"),
                        ]),
                ]),
        ])
    }

    // MARK: The trash

    private func trashList(_ entries: [TrashEntry], _ faults: [AIError]) -> [HTML] {
        let warnings = faults.map { HTML.tag("p", ["class": "note caution"], $0.message) }
        guard !entries.isEmpty else {
            return warnings + [.tag("h2", ["id": "trash-title", "class": "hidden"], "The trash is empty")]
        }
        let total = ByteCount(entries.reduce(0) { $0 + $1.size })
        let columns = [
            PageParts.Column(name: "Model"), .init(name: "Size", className: "number"), .init(name: "Since"),
            .init(name: "Restore", className: "number live", isHeard: true),
        ]
        return warnings + [
            .box(
                "div", "card flush",
                [
                    .box(
                        "div", "heading",
                        [
                            .tag("h2", ["id": "trash-title"], "Trash, \(total)"),
                            .tag(
                                "button", ["type": "button", "id": "empty", "class": "danger live"],
                                "Empty the trash"),
                        ]), PageParts.table("The trash", columns, entries.map(trashRow)),
                ])
        ]
    }

    private func trashRow(_ entry: TrashEntry) -> HTML {
        let name = entry.repository.map { "\($0)" } ?? "shared store"
        let commit = entry.commit.map { " \($0.short)" } ?? ""
        let button = HTML.tag(
            "button",
            [
                "type": "button", "class": "small", "data-restore": entry.name,
                "aria-label": "Restore \(name)\(commit)",
            ], "Restore")
        return .tag(
            "tr", [:],
            [
                .tag("th", ["scope": "row"], [.text(name), .box("div", "facts", [.text(entry.what + commit)])]),
                PageParts.cell("number", [.text("\(ByteCount(entry.size))")], label: "Size"),
                PageParts.cell(
                    "", [PageParts.age(Timestamp.iso8601(entry.trashedAt), now: place.context.now)], label: "Since"),
                PageParts.cell("number live", [button]),
            ])
    }
}
