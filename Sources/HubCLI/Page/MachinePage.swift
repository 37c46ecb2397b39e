import Fetcher
import HubCore
import HubServer

/// The machine: what doctor finds, what runs, the last requests.
struct MachinePage {
    let place: PagePlace
    let request: PageRequest

    func view() async throws -> PageView {
        PageView(
            title: "Machine", section: .machine, modules: ["machine.js"],
            content: [
                .tag("h1", [:], "Machine"),
                .box(
                    "div", "columns",
                    [
                        .box("div", "", [try await checks(), log()]),
                        .box("aside", "", [try facts(), jobs()]),
                    ]),
            ])
    }

    private func facts() throws -> HTML {
        let memory = try Machine.memory()
        let disk = try FileSystem.diskSpace(place.workspace.layout.root).available
        let rows: [(String, String)] = [
            ("Name", Machine.hostName),
            ("Memory", "\(ByteCount(memory.total)), \(ByteCount(memory.available)) available"),
            ("Disk", "\(ByteCount(disk)) free"), ("Cache", place.workspace.layout.root),
            ("Hub", place.workspace.isOffline ? "none: the network is switched off" : place.endpoint.address),
            ("Version", Version.number),
        ]
        return .box(
            "section", "card",
            [
                .box(
                    "dl", "facts-list",
                    rows.map { name, value in .box("div", "", [.tag("dt", [:], name), .tag("dd", [:], value)]) })
            ])
    }

    // MARK: Jobs

    /// What runs now: transfers for this page and for others, and answers of models.
    static func state(_ place: PagePlace) -> JSON {
        let jobs: [(String, Int)] = [
            ("Downloads of this page", place.downloads.active),
            ("Files fetched for clients", Int(place.metrics.value("hub_fetches_in_flight"))),
            ("Answers being written", Int(place.metrics.value("hub_requests_running"))),
            ("Answers waiting", Int(place.metrics.value("hub_requests_queued"))),
        ]
        return .object([
            "jobs": .array(jobs.map { .object(["name": .string($0.0), "count": .int(Int64($0.1))]) }),
            "log": .array(place.log.newest.map { .string($0) }),
        ])
    }

    private func jobs() -> HTML {
        let rows = (Self.state(place)["jobs"]?.array ?? []).map { job in
            HTML.box(
                "div", "",
                [
                    .tag("dt", [:], job["name"]?.string ?? ""),
                    .tag("dd", [:], Humanize.grouped(Int(job["count"]?.int ?? 0))),
                ])
        }
        return .tag(
            "section", ["class": "card"],
            [.tag("h2", [:], "Jobs"), .tag("dl", ["id": "jobs", "class": "facts-list"], rows)])
    }

    // MARK: Doctor

    private func checks() async throws -> HTML {
        guard request.query.flag("check") else {
            return .tag(
                "section", ["class": "card", "id": "checks"],
                [
                    .tag("h2", [:], "Checks"),
                    .tag(
                        "p", ["class": "faint"],
                        "What hub doctor finds: settings, catalog, cache, account, network."),
                    .tag(
                        "a",
                        [
                            "href": "/-/machine?check=1", "class": "button", "data-replace": "#checks",
                            "data-auto": "",
                        ], "Run the checks"),
                ])
        }
        let findings = try await place.ask(["doctor"]).document["findings"]?.array ?? []
        let wrong = findings.count { $0["level"]?.string == "bad" }
        var sections: [HTML] = []
        var name: String?
        for finding in findings {
            if finding["section"]?.string != name {
                name = finding["section"]?.string
                sections.append(.tag("h3", [:], name ?? ""))
            }
            sections.append(self.finding(finding))
        }
        return .tag(
            "section", ["class": "card", "id": "checks"],
            [
                .tag("h2", [:], "Checks"),
                .tag(
                    "p", ["class": wrong == 0 ? "good" : "bad"],
                    wrong == 0
                        ? "Nothing is wrong" : Humanize.plural(wrong, "thing is wrong", "things are wrong")),
            ] + sections)
    }

    private func finding(_ finding: JSON) -> HTML {
        let level = finding["level"]?.string ?? ""
        let mark = ["good": "✓", "note": "•", "bad": "✗"][level] ?? ""
        let word = ["good": "fine: ", "note": "note: ", "bad": "wrong: "][level] ?? ""
        return .box(
            "div", "finding \(level)",
            [
                .tag("span", ["class": "mark", "aria-hidden": "true"], mark),
                .box(
                    "div", "grow",
                    [
                        .tag("span", ["class": "hidden"], word), .text(finding["text"]?.string ?? ""),
                        finding["advice"]?.string.map { .tag("p", ["class": "faint"], $0) } ?? [],
                    ]),
            ])
    }

    // MARK: The log

    private func log() -> HTML {
        let lines = place.log.newest.joined(separator: "\n")
        return .tag(
            "section", ["class": "card"],
            [
                .tag("h2", [:], "Requests"),
                .tag(
                    "p", ["class": "faint small"],
                    "The last 200, the newest first; the pages that you see here are left out."),
                .tag(
                    "pre",
                    [
                        "id": "log", "class": "log", "tabindex": "0", "role": "region",
                        "aria-label": "The last requests",
                    ],
                    lines.isEmpty ? "none yet" : lines),
            ])
    }
}
