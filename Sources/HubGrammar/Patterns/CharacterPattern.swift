/// A regular expression of characters, as a person writes it.
indirect enum CharacterPattern: Hashable, Sendable {
    case empty
    case set(CodePoints)
    case sequence([CharacterPattern])
    case choice([CharacterPattern])
    case repeated(CharacterPattern, Int, Int?)
    /// The beginning of the text.
    case start
    /// The end of the text.
    case end

    static func text(_ text: String) -> CharacterPattern {
        .sequence(text.unicodeScalars.map { .set(CodePoints($0)) })
    }

    /// Whether it has anchors.
    var isAnchored: Bool {
        switch self {
        case .start, .end: true
        case .empty, .set: false
        case .sequence(let parts), .choice(let parts): parts.contains(where: \.isAnchored)
        case .repeated(let part, _, _): part.isAnchored
        }
    }
}

extension RegexStore {
    /// What a pattern matches, by whether that must be at the beginning and at the end of the text.
    private struct Anchored {
        var free = RegexStore.nothing
        var atStart = RegexStore.nothing
        var atEnd = RegexStore.nothing
        var atBoth = RegexStore.nothing

        subscript(start: Bool, end: Bool) -> ID {
            get { start ? end ? atBoth : atStart : end ? atEnd : free }
            set {
                switch (start, end) {
                case (true, true): atBoth = newValue
                case (true, false): atStart = newValue
                case (false, true): atEnd = newValue
                case (false, false): free = newValue
                }
            }
        }
    }

    /// The texts that are a pattern as a whole.
    mutating func whole(_ pattern: CharacterPattern, _ encoding: CharacterEncoding) -> ID {
        let found = anchored(pattern, encoding)
        return either([found.free, found.atStart, found.atEnd, found.atBoth])
    }

    /// The texts that have a pattern in them, which is what JSON Schema's `pattern` means.
    mutating func containing(_ pattern: CharacterPattern, _ encoding: CharacterEncoding) -> ID {
        let found = anchored(pattern, encoding)
        let all = repeated(character(.all, encoding), 0, nil)
        return either([
            sequence([all, found.free, all]), then(found.atStart, all), then(all, found.atEnd), found.atBoth,
        ])
    }

    private mutating func anchored(_ pattern: CharacterPattern, _ encoding: CharacterEncoding) -> Anchored {
        switch pattern {
        case .empty: return Anchored(free: Self.empty)
        case .set(let set): return Anchored(free: character(set, encoding))
        case .start: return Anchored(atStart: Self.empty)
        case .end: return Anchored(atEnd: Self.empty)
        case .repeated(let part, let low, let high):
            // The parser lets no anchor in here.
            return Anchored(free: repeated(anchored(part, encoding).free, low, high))
        case .choice(let parts):
            var result = Anchored()
            for part in parts {
                let found = anchored(part, encoding)
                for (start, end) in Self.places {
                    result[start, end] = either([result[start, end], found[start, end]])
                }
            }
            return result
        case .sequence(let parts):
            // From the end: sequences are nested to the right.
            return parts.reversed().reduce(Anchored(free: Self.empty)) { joined(anchored($1, encoding), $0) }
        }
    }

    private static let places = [(false, false), (true, false), (false, true), (true, true)]

    private mutating func joined(_ first: Anchored, _ second: Anchored) -> Anchored {
        var result = Anchored()
        for (start, end) in Self.places {
            for (nextStart, nextEnd) in Self.places {
                var (before, after) = (first[start, end], second[nextStart, nextEnd])
                // Nothing stands before the beginning, and nothing behind the end.
                if nextStart { before = isNullable(before) ? Self.empty : Self.nothing }
                if end { after = isNullable(after) ? Self.empty : Self.nothing }
                let both = then(before, after)
                guard both != Self.nothing else { continue }
                let place = (start || nextStart, end || nextEnd)
                result[place.0, place.1] = either([result[place.0, place.1], both])
            }
        }
        return result
    }
}
