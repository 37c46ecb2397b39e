import HubCore

/// The items of a query or of a form-encoded body, decoded, in order. Keys repeat: `filter=a&filter=b`.
package struct HTTPQuery: Sendable, Equatable {
    package var items: [(key: String, value: String)]

    /// Parses `a=1&b=2`; `+` is a space, as in forms.
    ///
    /// - Throws: ``HTTPFault`` (400) for a bad escape.
    package init(_ text: String) throws(HTTPFault) {
        items = []
        for pair in text.split(separator: "&") {
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            let (key, value) = (pair[..<equals], equals == pair.endIndex ? "" : pair[pair.index(after: equals)...])
            guard let key = Self.decode(key), let value = Self.decode(value) else {
                throw .malformed("the query has a bad escape")
            }
            items.append((key, value))
        }
    }

    private static func decode(_ text: Substring) -> String? {
        PercentEncoding.decode(String(text.map { $0 == "+" ? " " : $0 }))
    }

    /// The last value of a key; nil if it is absent.
    package subscript(key: String) -> String? {
        get { items.last { $0.key == key }?.value }
        set {
            items.removeAll { $0.key == key }
            if let newValue { items.append((key, newValue)) }
        }
    }

    /// Every value of a list, in any of its spellings: `k=a&k=b`, `k[]=a&k[]=b` and `k=a,b`.
    package func list(_ key: String) -> [String] {
        items.filter { $0.key == key || $0.key == "\(key)[]" }
            .flatMap { $0.value.split(separator: ",").map(String.init) }
    }

    /// Whether a flag is set, as Python (`true`, `True`) and others (`1`) write it.
    package func flag(_ key: String) -> Bool { ["true", "True", "1"].contains(self[key] ?? "") }

    /// The items encoded again.
    package var text: String {
        items.map { "\(PercentEncoding.encode($0.key))=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }

    package static func == (left: HTTPQuery, right: HTTPQuery) -> Bool {
        left.items.count == right.items.count && zip(left.items, right.items).allSatisfy { $0 == $1 }
    }
}
