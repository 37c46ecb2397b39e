import HubCore
import Libc

/// What a server counts, for Prometheus.
/// https://prometheus.io/docs/instrumenting/exposition_formats/
package final class ServerMetrics: Sendable {
    private struct Family {
        var type: String
        var help: String
        /// Of a histogram: the upper ends of its buckets.
        var bounds: [Double] = []
        /// By the labels as they are written: `{route="resolve",code="200"}`, or empty.
        var values: [String: Double] = [:]

        /// Buckets by their bound, as Prometheus wants them; others by their labels.
        var sortedValues: [(String, Double)] {
            func place(_ labels: String) -> (Double, String) {
                guard labels.hasPrefix("_bucket") else { return (.infinity, labels.hasPrefix("_") ? "~" + labels : labels) }
                return (Double(labels.dropFirst(12).prefix { $0 != "\"" }) ?? .infinity, "")
            }
            return values.sorted { place($0.key) < place($1.key) }.map { ($0.key, $0.value) }
        }
    }

    private let families = Lock<[String: Family]>([:])
    private let startedAt = Timestamp.now

    package init() {}

    /// Announces a counter or a gauge, which is 0 until it changes.
    ///
    /// - Parameter hasLabels: whether its values come with labels; it has none before the first.
    package func declare(_ name: String, type: String, _ help: String, hasLabels: Bool = false) {
        families.withLock { $0[name] = Family(type: type, help: help, values: hasLabels ? [:] : ["": 0]) }
    }

    /// Adds to a value. Labels must come from a small fixed set.
    package func add(_ name: String, _ amount: Double = 1, labels: [(String, String)] = []) {
        families.withLock { $0[name]?.values[Self.text(labels), default: 0] += amount }
    }

    /// Announces a histogram.
    ///
    /// - Parameter bounds: the upper ends of its buckets, ascending.
    package func declare(_ name: String, bounds: [Double], _ help: String) {
        families.withLock { $0[name] = Family(type: "histogram", help: help, bounds: bounds, values: [:]) }
        for bound in bounds.map(Self.number) + ["+Inf"] { add(name, 0, suffix: "_bucket", labels: [("le", bound)]) }
        add(name, 0, suffix: "_sum", labels: [])
        add(name, 0, suffix: "_count", labels: [])
    }

    /// Counts a value in a histogram.
    package func observe(_ name: String, _ value: Double) {
        let bounds = families.withLock { $0[name]?.bounds ?? [] }
        for bound in bounds where value <= bound {
            add(name, 1, suffix: "_bucket", labels: [("le", Self.number(bound))])
        }
        add(name, 1, suffix: "_bucket", labels: [("le", "+Inf")])
        add(name, value, suffix: "_sum", labels: [])
        add(name, 1, suffix: "_count", labels: [])
    }

    private func add(_ name: String, _ amount: Double, suffix: String, labels: [(String, String)]) {
        families.withLock { $0[name]?.values[suffix + Self.text(labels), default: 0] += amount }
    }

    package func set(_ name: String, _ value: Double) { families.withLock { $0[name]?.values[""] = value } }

    package func value(_ name: String) -> Double { families.withLock { $0[name]?.values[""] ?? 0 } }

    /// The text of `/metrics`, version 0.0.4.
    package func text() -> String {
        var text = ""
        for (name, family) in families.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.type)\n"
            for (labels, value) in family.sortedValues {
                text += "\(name)\(labels) \(Self.number(value))\n"
            }
        }
        return text + process()
    }

    private func process() -> String {
        var used = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
        var text = """
            # HELP process_cpu_seconds_total CPU time used.
            # TYPE process_cpu_seconds_total counter
            process_cpu_seconds_total \(Double(used.tv_sec) + Double(used.tv_nsec) / 1e9)
            # HELP process_start_time_seconds When the process started, in seconds since 1970.
            # TYPE process_start_time_seconds gauge
            process_start_time_seconds \(Self.number(startedAt))

            """
        if let resident = Self.residentBytes {
            text += """
                # HELP process_resident_memory_bytes Memory in use.
                # TYPE process_resident_memory_bytes gauge
                process_resident_memory_bytes \(resident)

                """
        }
        return text
    }

    /// nil where the system has no /proc.
    private static var residentBytes: Int64? {
        guard let text = (try? FileSystem.text("/proc/self/statm")) ?? nil else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int64(fields[1]).map { $0 * Int64(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }

    private static func text(_ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",") + "}"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }
}
