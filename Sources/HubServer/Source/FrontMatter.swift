package import HubCore

/// The header of a README.md between two lines of `---`, as far as a line parser understands YAML: top-level members
/// whose value is a scalar, `[a, b]`, or a list of `- item` lines. Nested structures are left out.
/// https://huggingface.co/docs/hub/model-cards#model-card-metadata
package enum FrontMatter {
    package static func read(_ readme: String) -> JSONObject {
        var fields = JSONObject()
        // A list whose items follow: `tags:`. Ended by any line that is not an item.
        var list: (key: String, items: [JSON])?
        func close() {
            if let list, !list.items.isEmpty { fields[list.key] = .array(list.items) }
            list = nil
        }
        // "\r\n" is one Character, so lines are split by isNewline and not by "\n".
        var lines = readme.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)[...]
        guard lines.popFirst() == "---", let end = lines.firstIndex(of: "---") else { return fields }
        for line in lines[..<end] {
            let text = trimmed(line)
            if text.isEmpty || text.hasPrefix("#") { continue }
            if text.hasPrefix("- ") {
                // An item that is itself a member list (`- name: x`) is a nested structure.
                let item = trimmed(text.dropFirst(2))
                if member(item) == nil, let value = scalar(item) { list?.items.append(value) } else { list = nil }
                continue
            }
            guard line.first?.isWhitespace == false, let (key, rest) = member(text) else {
                // A deeper level: the items after it are not this list's.
                list = nil
                continue
            }
            close()
            if rest.isEmpty {
                list = (key, [])
            } else if rest.hasPrefix("["), rest.hasSuffix("]") {
                fields[key] = .array(
                    rest.dropFirst().dropLast().split(separator: ",").compactMap { scalar(trimmed($0)) })
            } else if let value = scalar(rest) {
                fields[key] = value
            }
        }
        close()
        return fields
    }

    /// `key: value`; the colon needs a space or the line's end after it, so that `base_model:x` is a scalar.
    private static func member(_ text: Substring) -> (key: String, value: Substring)? {
        guard let colon = text.firstIndex(of: ":"), text.first != "\"", text.first != "'" else { return nil }
        let rest = text[text.index(after: colon)...]
        guard rest.isEmpty || rest.first == " " else { return nil }
        return (String(text[..<colon]), trimmed(rest))
    }

    private static func scalar(_ text: Substring) -> JSON? {
        for quote: Character in ["\"", "'"] where text.first == quote {
            return text.count > 1 && text.last == quote ? .string(String(text.dropFirst().dropLast())) : nil
        }
        let bare = text.range(of: " #").map { trimmed(text[..<$0.lowerBound]) } ?? text
        // A block scalar, an inline mapping, an anchor: beyond a line parser.
        guard let first = bare.first, !"|>{[&*!".contains(first) else { return nil }
        if let value = ["true": true, "false": false][bare] { return .bool(value) }
        if let value = Int64(bare) { return .int(value) }
        return .string(String(bare))
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension Substring {
    fileprivate func range(of needle: String) -> Range<Index>? {
        indices.first { self[$0...].hasPrefix(needle) }.map { $0..<index($0, offsetBy: needle.count) }
    }
}
