import HubCore

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
        /// Gives the value when it is read.
        var measure: (@Sendable () -> Double?)?

        /// Buckets by their bound, as Prometheus wants them; others by their labels.
        var sortedValues: [(String, Double)] {
            func place(_ labels: String) -> (Double, String) {
                guard labels.hasPrefix("_bucket") else {
                    return (.infinity, labels.hasPrefix("_") ? "~" + labels : labels)
                }
                return (Double(labels.dropFirst(12).prefix { $0 != "\"" }) ?? .infinity, "")
            }
            return values.sorted { place($0.key) < place($1.key) }.map { ($0.key, $0.value) }
        }
    }

    private let families = Lock<[String: Family]>([:])

    package init() { declareProcess() }

    /// Announces a counter or a gauge, which is 0 until it changes.
    ///
    /// - Parameter hasLabels: whether its values come with labels; it has none before the first.
    package func declare(_ name: String, type: String, _ help: String, hasLabels: Bool = false) {
        families.withLock { $0[name] = Family(type: type, help: help, values: hasLabels ? [:] : ["": 0]) }
    }

    /// Announces a value that is measured whenever the metrics are read; nil leaves it out.
    package func declare(
        _ name: String, type: String = "gauge", _ help: String, measure: @escaping @Sendable () -> Double?
    ) {
        families.withLock { $0[name] = Family(type: type, help: help, measure: measure) }
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
            var family = family
            if let measure = family.measure {
                guard let value = measure() else { continue }
                family.values = ["": value]
            }
            text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.type)\n"
            for (labels, value) in family.sortedValues {
                text += "\(name)\(labels) \(Self.number(value))\n"
            }
        }
        return text
    }

    private static func text(_ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",") + "}"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }
}
