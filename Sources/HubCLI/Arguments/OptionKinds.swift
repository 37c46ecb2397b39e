import HubCore

extension Option where Value == String {
    /// Any text but the empty one: an empty value is nearly always a shell variable that was not set.
    static func text(
        _ name: String, _ metavariable: String, kind: Flag.Value = .text, repeats: Bool = false,
        allowsEmpty: Bool = false, _ doc: String, detail: String? = nil
    ) -> Option {
        Option(name, metavariable, kind, repeats: repeats, doc, detail: detail) { text throws(AIError) in
            if text.isEmpty, !allowsEmpty { throw AIError(.invalidInput, "the value is empty") }
            return text
        }
    }
}

extension Option where Value == Int {
    /// A whole number within bounds.
    static func whole(
        _ name: String, _ metavariable: String = "N", in range: ClosedRange<Int> = 0 ... .max, _ doc: String,
        detail: String? = nil
    ) -> Option {
        Option(name, metavariable, .number, doc, detail: detail) { text throws(AIError) in
            guard let number = Int(text) else { throw AIError(.invalidInput, "\"\(text)\" is not a whole number") }
            guard range.contains(number) else {
                let bounds =
                    range.upperBound == .max
                    ? "at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
                throw AIError(.invalidInput, "\(text) is out of bounds: it must be \(bounds)")
            }
            return number
        }
    }
}

extension Option where Value == UInt64 {
    /// A seed: any whole number of 64 bits without sign.
    static func seed(_ name: String, _ doc: String, detail: String? = nil) -> Option {
        Option(name, "N", .number, doc, detail: detail) { text throws(AIError) in
            guard let number = UInt64(text) else {
                throw AIError(.invalidInput, "\"\(text)\" is not a whole number from 0 to 18446744073709551615")
            }
            return number
        }
    }
}

extension Option where Value == Double {
    /// A finite number within bounds.
    static func real(
        _ name: String, _ metavariable: String, in range: ClosedRange<Double>, _ doc: String, detail: String? = nil
    ) -> Option {
        Option(name, metavariable, .number, doc, detail: detail) { text throws(AIError) in
            guard let number = Double(text), number.isFinite else {
                throw AIError(.invalidInput, "\"\(text)\" is not a number")
            }
            guard range.contains(number) else {
                throw AIError(
                    .invalidInput,
                    "\(text) is out of bounds: it must be from \(plain(range.lowerBound)) to \(plain(range.upperBound))"
                )
            }
            return number
        }
    }

    private static func plain(_ number: Double) -> String {
        number == number.rounded() && number.magnitude < 1e9 ? String(Int(number)) : "\(number)"
    }
}

extension Option where Value == ByteCount {
    /// A size such as `50GB`.
    static func size(_ name: String, _ doc: String, detail: String? = nil) -> Option {
        Option(name, "SIZE", .size, doc, detail: detail) { text throws(AIError) in
            let size = try ByteCount(parsing: text)
            guard size.bytes == 0 || text.contains(where: \.isLetter) else {
                throw AIError(
                    .invalidInput, "\(text.printable) has no unit",
                    advice: "write \(text.printable)GB, \(text.printable)MB or \(text.printable)B")
            }
            return size
        }
    }
}

extension Option where Value == ByteCount {
    /// Bytes a second, such as `20MB/s`.
    static func rate(_ name: String, _ doc: String, detail: String? = nil) -> Option {
        Option(name, "RATE", .size, doc, detail: detail) { text throws(AIError) in
            let lower = text.lowercased()
            let size = ["/s", "ps"].first { lower.hasSuffix($0) }.map { String(text.dropLast($0.count)) } ?? text
            guard let rate = try? ByteCount(parsing: size), rate.bytes > 0 else {
                throw AIError(
                    .invalidInput, "\"\(text.printable)\" is not a rate", advice: "write it like 20MB/s or 500kB/s")
            }
            return rate
        }
    }
}

extension Option where Value == ParameterCount {
    /// A number of parameters such as `7B`.
    static func parameters(_ name: String, _ doc: String, detail: String? = nil) -> Option {
        Option(name, "COUNT", .number, doc, detail: detail) { text throws(AIError) in
            try ParameterCount(parsing: text)
        }
    }
}

extension Option where Value == Age {
    /// How old something has to be, such as `30d`.
    static func age(_ name: String, _ doc: String, detail: String? = nil) -> Option {
        Option(name, "AGE", .age, doc, detail: detail) { text throws(AIError) in try Age(ofUse: text) }
    }

    /// How long something takes or lasts, such as `5m`.
    static func time(_ name: String, _ doc: String, detail: String? = nil) -> Option {
        Option(name, "TIME", .age, doc, detail: detail) { text throws(AIError) in try Age(parsing: text) }
    }
}

extension Option where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases of an enumeration, by its raw value.
    static func choice(_ name: String, _ doc: String, detail: String? = nil) -> Option {
        let names = Value.allCases.map(\.rawValue)
        return Option(name, names.joined(separator: "|"), .choice(names), doc, detail: detail) {
            text throws(AIError) in try value(text)
        }
    }

    /// The case of a raw value.
    static func value(_ text: String) throws(AIError) -> Value {
        if let value = Value(rawValue: text) { return value }
        let names = Value.allCases.map(\.rawValue)
        throw .notOneOf(text, names)
    }
}

extension AIError {
    /// A value that is not among those that a flag takes.
    static func notOneOf(_ text: String, _ names: [String]) -> AIError {
        let near = NearestName.of(text, among: names).map { "; did you mean \($0)?" } ?? ""
        return AIError(
            .invalidInput, "invalid value \"\(text.printable)\"\(near)",
            advice: "it must be one of \(names.joined(separator: ", "))")
    }

    /// A word of a command line that is not among those that a command takes there.
    ///
    /// - Parameter thing: what the word should name.
    static func unknown(_ thing: String, _ text: String, _ names: [String], of command: String) -> AIError {
        let near = NearestName.of(text, among: names).map { "; did you mean \($0)?" } ?? ""
        return AIError(
            .invalidInput, "unknown \(thing) \"\(text.printable)\"\(near)",
            advice: "\(command) takes \(names.joined(separator: ", "))")
    }
}
