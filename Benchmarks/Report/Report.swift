import HubCore
import Libc

/// Everything measured, as text for README and as a document.
struct Report {
    /// Facts needed to judge the figures, by name.
    var facts: [(name: String, value: String)] = []
    var rows: [Row] = []
    /// Failed measurements.
    var failures: [(work: String, reason: String)] = []
    /// Faults of hub.
    var faults: [(work: String, reason: String)] = []
    /// Tasks that hub does not support yet.
    var notYet: [(work: String, reason: String)] = []

    /// The facts, what is missing, and at the end the table, all in Markdown.
    func text() -> String {
        let notes =
            faults.map { "- WRONG: \($0.work): \($0.reason)" }
            + failures.map { "- NOT MEASURED: \($0.work): \($0.reason)" }
            + notYet.map { "- not done by hub yet: \($0.work): \($0.reason)" }
        let parts = [facts.map { "- \($0.name): \($0.value)" }, notes, table]
        return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var table: [String] {
        guard !rows.isEmpty else { return [] }
        var lines = [Row.headers, Row.headers.map { _ in "---" }]
        var last: Row?
        for row in rows {
            var cells = row.cells
            // What stands above is not said again.
            if row.work == last?.work {
                cells[0] = ""
                if row.measure == last?.measure { cells[1] = "" }
            }
            lines.append(cells)
            last = row
        }
        return lines.map { cells in
            "|" + cells.map { $0.isEmpty ? " |" : " \($0.replacing("|", with: "\\|")) |" }.joined()
        }
    }

    var json: JSON {
        func list(_ notes: [(work: String, reason: String)]) -> JSON {
            .array(notes.map { .object(["work": .string($0.work), "reason": .string($0.reason)]) })
        }
        return .object([
            "facts": .object(JSONObject(facts.map { ($0.name, .string($0.value)) })),
            "rows": .array(rows.map(\.json)), "faults": list(faults),
            "failures": list(failures), "not_yet": list(notYet),
        ])
    }

    /// The load of the last minute: programs that ran or wanted to.
    static var load: String {
        var averages = [0.0]
        return getloadavg(&averages, 1) == 1 ? averages[0].threeFigures : "unknown"
    }
}
