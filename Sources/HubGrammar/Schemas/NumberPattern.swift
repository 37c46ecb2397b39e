import HubCore

/// Numbers within bounds as an expression over their digits.
///
/// A number has few enough digits that every reader has room for it, and that two with different digits are different
/// numbers in floating point: 18 for whole ones, 15 where there is a point.
struct NumberPattern {
    private let low: DecimalBound?
    private let high: DecimalBound?
    private let isWhole: Bool
    /// Whether each number has only one spelling.
    private let isCanonical: Bool

    private static let (mostWhole, mostReal) = (18, 15)

    /// Numbers within the bounds of all members.
    init(_ members: [SchemaCompiler.Member], isWhole: Bool, isCanonical: Bool = false) {
        self.isWhole = isWhole
        self.isCanonical = isCanonical
        func bounds(_ keyword: String, isExclusive: Bool) -> [DecimalBound] {
            members.compactMap { DecimalBound($0.keywords[keyword], isExclusive: isExclusive) }
        }
        let lows = bounds("minimum", isExclusive: false) + bounds("exclusiveMinimum", isExclusive: true)
        let highs = bounds("maximum", isExclusive: false) + bounds("exclusiveMaximum", isExclusive: true)
        low = lows.max { $0.isLess($1) || !$1.isLess($0) && !$0.isExclusive && $1.isExclusive }
        high = highs.min { $0.isLess($1) || !$1.isLess($0) && $0.isExclusive && !$1.isExclusive }
    }

    /// Whether no number is within the bounds of both.
    func isApart(from other: NumberPattern) -> Bool {
        func isBelow(_ high: DecimalBound?, _ low: DecimalBound?) -> Bool {
            guard let high, let low else { return false }
            return high.isLess(low) || !low.isLess(high) && (high.isExclusive || low.isExclusive)
        }
        return isBelow(high, other.low) || isBelow(other.high, low)
    }

    func expression(_ store: inout RegexStore) -> RegexStore.ID {
        guard isCanonical else { return any(&store) }
        // No zeros at the end of a fraction. Numbers of `bounded` have neither -0 nor an exponent.
        let fraction = store.then(store.repeated(digits(0, 9, &store), 0, nil), digits(1, 9, &store))
        let sign = store.optional(store.literal("-"))
        let shape = store.sequence([
            sign, store.repeated(digits(0, 9, &store), 1, nil),
            store.optional(store.then(store.literal("."), fraction)),
        ])
        return store.both([bounded(&store), shape])
    }

    private func any(_ store: inout RegexStore) -> RegexStore.ID {
        low != nil || high != nil ? bounded(&store) : unbounded(&store)
    }

    private func bounded(_ store: inout RegexStore) -> RegexStore.ID {
        var parts: [RegexStore.ID] = []
        // From zero on.
        if high?.isNegative != true {
            let from = low.map { $0.isNegative ? .zero : $0 } ?? .zero
            parts.append(magnitudes(from, high, &store))
        }
        // Below zero, by the distance from it.
        if low.map(\.isNegative) ?? true {
            var least = DecimalBound.zero
            least.isExclusive = true
            if let high, high.isNegative { least = high.magnitude }
            parts.append(store.then(store.literal("-"), magnitudes(least, low?.magnitude, &store)))
        }
        return store.either(parts)
    }

    private func unbounded(_ store: inout RegexStore) -> RegexStore.ID {
        let sign = store.optional(store.literal("-"))
        let most = isWhole ? Self.mostWhole : Self.mostReal
        let zero = store.literal("0")
        let more = store.repeated(digits(0, 9, &store), 0, most - 1)
        let whole = store.either([zero, store.then(digits(1, 9, &store), more)])
        guard !isWhole else { return store.then(sign, whole) }
        let fraction = store.optional(
            store.then(store.literal("."), store.repeated(digits(0, 9, &store), 1, Self.mostReal)))
        var letters = ByteSet(UInt8(ascii: "e"))
        letters.insert(UInt8(ascii: "E"))
        var signs = ByteSet(UInt8(ascii: "+"))
        signs.insert(UInt8(ascii: "-"))
        let exponent = store.optional(
            store.sequence([
                store.bytes(letters), store.optional(store.bytes(signs)),
                store.repeated(digits(0, 9, &store), 1, 2),
            ]))
        return store.sequence([sign, whole, fraction, exponent])
    }

    private func digits(_ low: UInt8, _ high: UInt8, _ store: inout RegexStore) -> RegexStore.ID {
        low > high ? RegexStore.nothing : store.bytes(ByteSet((low + 0x30)...(high + 0x30)))
    }

    /// Numbers without a sign between two.
    private func magnitudes(_ low: DecimalBound, _ high: DecimalBound?, _ store: inout RegexStore) -> RegexStore.ID
    {
        let most = high?.whole.count ?? max(isWhole ? Self.mostWhole : Self.mostReal, low.whole.count)
        guard low.whole.count <= most else { return RegexStore.nothing }
        var parts: [RegexStore.ID] = []
        for count in low.whole.count...most {
            let places = isWhole ? 0 : max(0, Self.mostReal - count)
            let least = low.roundedUp(places)
            let greatest = high?.roundedDown(places)
            var bounds = [count == 1 ? RegexStore.anything : store.then(digits(1, 9, &store), RegexStore.anything)]
            bounds.append(free(count, places, &store))
            if least.whole.count > count { continue }
            if least.whole.count == count { bounds.append(atLeast(least, 0, places, &store)) }
            if let greatest, greatest.whole.count == count { bounds.append(atMost(greatest, 0, places, &store)) }
            parts.append(store.both(bounds))
        }
        return store.either(parts)
    }

    /// So many digits, then perhaps a point and at most so many more.
    private func free(_ count: Int, _ places: Int, _ store: inout RegexStore) -> RegexStore.ID {
        store.then(store.repeated(digits(0, 9, &store), count, count), fraction(places, &store))
    }

    private func fraction(_ places: Int, _ store: inout RegexStore) -> RegexStore.ID {
        guard places > 0 else { return RegexStore.empty }
        return store.optional(store.then(store.literal("."), store.repeated(digits(0, 9, &store), 1, places)))
    }

    /// The rest of a number that begins as a bound does, from a digit on, and is not below it.
    private func atLeast(_ bound: DecimalBound, _ at: Int, _ places: Int, _ store: inout RegexStore)
        -> RegexStore.ID
    {
        if at < bound.whole.count {
            let digit = bound.whole[at]
            let above = store.then(digits(digit + 1, 9, &store), free(bound.whole.count - at - 1, places, &store))
            let same = store.then(digits(digit, digit, &store), atLeast(bound, at + 1, places, &store))
            return store.either([above, same])
        }
        if bound.fraction.isEmpty, !bound.isExclusive { return fraction(places, &store) }
        return store.then(store.literal("."), fractionAtLeast(bound, 0, places, &store))
    }

    private func fractionAtLeast(
        _ bound: DecimalBound, _ at: Int, _ places: Int, _ store: inout RegexStore
    ) -> RegexStore.ID {
        let all = store.repeated(digits(0, 9, &store), at == 0 ? 1 : 0, places - at)
        guard at < bound.fraction.count else {
            guard bound.isExclusive else { return all }
            // Something above zero must follow.
            let zeros = store.repeated(digits(0, 0, &store), 0, nil)
            return store.both([all, store.not(zeros)])
        }
        let digit = bound.fraction[at]
        let after = store.repeated(digits(0, 9, &store), 0, places - at - 1)
        return store.either([
            store.then(digits(digit + 1, 9, &store), after),
            store.then(digits(digit, digit, &store), fractionAtLeast(bound, at + 1, places, &store)),
        ])
    }

    /// The same for a number that is not above a bound.
    private func atMost(_ bound: DecimalBound, _ at: Int, _ places: Int, _ store: inout RegexStore) -> RegexStore.ID
    {
        if at < bound.whole.count {
            let digit = bound.whole[at]
            let below =
                digit == 0
                ? RegexStore.nothing
                : store.then(digits(0, digit - 1, &store), free(bound.whole.count - at - 1, places, &store))
            let same = store.then(digits(digit, digit, &store), atMost(bound, at + 1, places, &store))
            return store.either([below, same])
        }
        let point = store.literal(".")
        if bound.fraction.isEmpty {
            guard !bound.isExclusive else { return RegexStore.nothing }
            guard places > 0 else { return RegexStore.empty }
            return store.optional(store.then(point, store.repeated(digits(0, 0, &store), 1, places)))
        }
        return store.optional(store.then(point, fractionAtMost(bound, 0, places, &store)))
    }

    private func fractionAtMost(
        _ bound: DecimalBound, _ at: Int, _ places: Int, _ store: inout RegexStore
    ) -> RegexStore.ID {
        guard at < bound.fraction.count else {
            return bound.isExclusive ? RegexStore.nothing : store.repeated(digits(0, 0, &store), 0, places - at)
        }
        let digit = bound.fraction[at]
        var parts = [store.then(digits(digit, digit, &store), fractionAtMost(bound, at + 1, places, &store))]
        if digit > 0 {
            let after = store.repeated(digits(0, 9, &store), 0, places - at - 1)
            parts.append(store.then(digits(0, digit - 1, &store), after))
        }
        // Fewer digits than the bound's are below it.
        if at > 0 { parts.append(RegexStore.empty) }
        return store.either(parts)
    }
}
