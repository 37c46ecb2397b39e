import HubCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Everything measured, as a table and as a document.
struct Report {
    /// What a reader must know to judge the figures, by name.
    var facts: [(name: String, value: String)] = []
    var rows: [Row] = []
    /// Works that could not be done.
    var failures: [(work: String, reason: String)] = []

    func table() -> String {
        let all = [Row.headers] + rows.map(\.cells)
        let widths = Row.headers.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        var lines = facts.map { "\($0.name): \($0.value)" } + [""]
        for cells in all {
            let last = cells.lastIndex { !$0.isEmpty } ?? 0
            let padded = cells.indices.prefix(last).map { column in
                cells[column] + String(repeating: " ", count: widths[column] - cells[column].count)
            }
            lines.append((padded + [cells[last]]).joined(separator: "  "))
        }
        for failure in failures { lines.append("NOT MEASURED: \(failure.work): \(failure.reason)") }
        return lines.joined(separator: "\n")
    }

    var json: JSON {
        .object([
            "facts": .object(JSONObject(facts.map { ($0.name, .string($0.value)) })),
            "rows": .array(rows.map(\.json)),
            "failures": .array(
                failures.map { .object(["work": .string($0.work), "reason": .string($0.reason)]) }),
        ])
    }

    /// The load of the last minute: programs that ran or wanted to.
    static var load: String {
        var averages = [0.0]
        return getloadavg(&averages, 1) == 1 ? averages[0].threeFigures : "unknown"
    }
}
