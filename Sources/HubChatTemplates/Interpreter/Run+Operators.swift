import Libc

// MARK: - Arithmetic

extension Jinja.Run {
    func calculate(_ left: Value, _ operation: Jinja.Arithmetic, _ right: Value) throws(Fault) -> Value {
        try spend(1)
        if operation == .remainder, case .string(let format) = left { return try printf(format, right) }
        if case .undefined(let undefined) = left { throw fail(undefined.message) }
        if case .undefined(let undefined) = right { throw fail(undefined.message) }
        try refuseLong(left, right)
        if let result = try joined(left, operation, right) { return result }
        if let left = left.wholeNumber, let right = right.wholeNumber {
            return try calculate(left, operation, right)
        }
        if let left = left.number, let right = right.number { return try calculate(left, operation, right) }
        throw unfit(left, operation, right)
    }

    private func unfit(_ left: Value, _ operation: Jinja.Arithmetic, _ right: Value) -> Fault {
        if operation == .add, left.text != nil {
            return fail("can only concatenate str (not \"\(right.typeName)\") to str")
        }
        return fail(
            "unsupported operand type(s) for \(operation.rawValue): '\(left.typeName)' and '\(right.typeName)'")
    }

    /// `+` and `*` of texts, lists and tuples.
    private func joined(
        _ left: Value, _ operation: Jinja.Arithmetic, _ right: Value
    ) throws(Fault) -> Value? {
        switch (left, operation, right) {
        case (.string(let one), .add, .string(let other)):
            guard one.isMarkup || other.isMarkup else {
                try reserve(one.count + other.count)
                return .string(one + other)
            }
            let text = try escaped(left) + (try escaped(right))
            try reserve(text.count)
            return .string(text.marked)
        case (.list(let left), .add, .list(let right)): return try list(left.values + right.values)
        case (.tuple(let left), .add, .tuple(let right)): return try tuple(left.values + right.values)
        case (_, .multiply, _):
            if let times = right.wholeNumber { return try repeated(left, times) }
            if let times = left.wholeNumber { return try repeated(right, times) }
            return nil
        default: return nil
        }
    }

    private func repeated(_ value: Value, _ times: Int) throws(Fault) -> Value? {
        let times = max(0, times)
        switch value {
        case .string(let text):
            let count = try product(text.count, times)
            try reserve(count)
            // An empty string repeated is empty.
            return .string(
                Text(count == 0 ? [] : (0..<times).flatMap { _ in text.scalars }).marked(text.isMarkup))
        case .list(let items): return try list(try repeated(items.values, times))
        case .tuple(let items): return try tuple(try repeated(items.values, times))
        default: return nil
        }
    }

    private func repeated(_ values: [Value], _ times: Int) throws(Fault) -> [Value] {
        let count = try product(values.count, times)
        try spend(cells: count)
        return count == 0 ? [] : (0..<times).flatMap { _ in values }
    }

    private func calculate(_ left: Int, _ operation: Jinja.Arithmetic, _ right: Int) throws(Fault) -> Value {
        let result: (partialValue: Int, overflow: Bool)
        switch operation {
        case .add: result = left.addingReportingOverflow(right)
        case .subtract: result = left.subtractingReportingOverflow(right)
        case .multiply: result = left.multipliedReportingOverflow(by: right)
        case .divide:
            guard right != 0 else { throw fail("division by zero") }
            return .float(Double(left) / Double(right))
        case .floorDivide, .remainder:
            guard right != 0 else {
                throw fail(
                    operation == .remainder
                        ? "integer modulo by zero" : "integer division or modulo by zero")
            }
            // Int.min / -1 overflows; for -1 there is no remainder to correct.
            if right == -1 {
                result = operation == .remainder ? (0, false) : 0.subtractingReportingOverflow(left)
            } else {
                let (quotient, remainder) = left.quotientAndRemainder(dividingBy: right)
                let isOff = remainder != 0 && (remainder < 0) != (right < 0)
                return .int(
                    operation == .remainder ? remainder + (isOff ? right : 0) : quotient - (isOff ? 1 : 0))
            }
        case .power:
            if right < 0 {
                guard left != 0 else { throw fail("0.0 cannot be raised to a negative power") }
                return .float(pow(Double(left), Double(right)))
            }
            result = power(left, right)
        }
        guard !result.overflow else {
            throw unsupported("a number of more than 64 bits (\(left) \(operation.rawValue) \(right))")
        }
        return .int(result.partialValue)
    }

    private func power(_ base: Int, _ exponent: Int) -> (Int, Bool) {
        if base == 0 || base == 1 { return (exponent == 0 ? 1 : base, false) }
        if base == -1 { return (exponent % 2 == 0 ? 1 : -1, false) }
        var result = 1
        for _ in 0..<min(exponent, 64) {
            let (product, overflow) = result.multipliedReportingOverflow(by: base)
            if overflow { return (0, true) }
            result = product
        }
        return (result, exponent > 64)
    }

    private func calculate(
        _ left: Double, _ operation: Jinja.Arithmetic, _ right: Double
    ) throws(Fault) -> Value {
        switch operation {
        case .add: return .float(left + right)
        case .subtract: return .float(left - right)
        case .multiply: return .float(left * right)
        case .divide:
            guard right != 0 else { throw fail("float division by zero") }
            return .float(left / right)
        case .floorDivide:
            guard right != 0 else { throw fail("float floor division by zero") }
            let rest = try remainder(left, right)
            // Python's method, which is safe against rounding.
            let quotient = (left - rest) / right
            let floor = quotient.rounded(.down)
            return .float(quotient - floor > 0.5 ? floor + 1 : floor)
        case .remainder:
            guard right != 0 else { throw fail("float modulo") }
            return .float(try remainder(left, right))
        case .power:
            guard left != 0 || right >= 0 else { throw fail("0.0 cannot be raised to a negative power") }
            let result = pow(left, right)
            if result.isNaN, !left.isNaN, !right.isNaN { throw unsupported("complex numbers") }
            if result.isInfinite, left.isFinite, right.isFinite {
                throw fail("(34, 'Numerical result out of range')")
            }
            return .float(result)
        }
    }

    /// With the divisor's sign.
    private func remainder(_ left: Double, _ right: Double) throws(Fault) -> Double {
        // C's fmod loops over the bits between the exponents, two thousand at most.
        try spend(20)
        let rest = fmod(left, right)
        if rest == 0 { return right < 0 ? -0.0 : 0.0 }
        return (rest < 0) == (right < 0) ? rest : rest + right
    }

    func signed(_ isNegative: Bool, _ value: Value) throws(Fault) -> Value {
        if case .undefined(let undefined) = value { throw fail(undefined.message) }
        try refuseLong(value)
        if case .float(let number) = value { return .float(isNegative ? -number : number) }
        guard let number = value.wholeNumber else {
            throw fail("bad operand type for unary \(isNegative ? "-" : "+"): '\(value.typeName)'")
        }
        return isNegative ? try calculate(0, .subtract, number) : .int(number)
    }
}

// MARK: - Comparisons

extension Jinja.Run {
    func compare(_ left: Value, _ comparison: Jinja.Comparison, _ right: Value) throws(Fault) -> Bool {
        switch comparison {
        case .equal: return try areEqual(left, right)
        case .notEqual: return try !areEqual(left, right)
        case .contained: return try contains(right, left)
        case .notContained: return try !contains(right, left)
        case .less: return try precedes(left, right, "<")
        case .greater: return try precedes(right, left, ">", isTurned: true)
        case .lessOrEqual: return try isLessOrEqual(left, right, "<=")
        case .greaterOrEqual: return try isLessOrEqual(right, left, ">=", isTurned: true)
        }
    }

    func areEqual(_ left: [Value], _ right: [Value]) throws(Fault) -> Bool {
        guard left.count == right.count else { return false }
        for (left, right) in zip(left, right) {
            guard try areEqual(left, right) else { return false }
        }
        return true
    }

    func areEqual(_ left: Value, _ right: Value) throws(Fault) -> Bool {
        try enter()
        defer { leave() }
        try spend(3)
        switch (left, right) {
        case (.undefined, .undefined), (.none, .none): return true
        case (.string(let left), .string(let right)):
            guard left.count == right.count else { return false }
            try spend(characters: left.count)
            return left == right
        case (.list(let left), .list(let right)), (.tuple(let left), .tuple(let right)):
            return left === right ? true : try areEqual(left.values, right.values)
        case (.dictionary(let left), .dictionary(let right)): return try areEqual(left, right)
        case (.range(let left), .range(let right)): return areEqual(left, right)
        case (.view(let leftKind, let left), .view(let rightKind, let right)):
            guard leftKind == rightKind else { return false }
            return leftKind == .values ? false : try areEqualViews(leftKind, left, right)
        case (.stream(let left), .stream(let right)): return left === right
        case (.namespace(let left), .namespace(let right)): return left === right
        case (.loop(let left), .loop(let right)): return left === right
        case (.function(let left), .function(let right)): return left === right
        case (.long(let left), .long(let right)): return left == right
        case (.long, .float), (.float, .long):
            try refuseLong(left, right)
            return false
        default: return areEqualNumbers(left, right)
        }
    }

    private func areEqualNumbers(_ left: Value, _ right: Value) -> Bool {
        if let left = left.wholeNumber, let right = right.wholeNumber { return left == right }
        guard let left = left.number, let right = right.number else { return false }
        return left == right
    }

    private func areEqual(_ left: Jinja.NumberRange, _ right: Jinja.NumberRange) -> Bool {
        guard left.count == right.count else { return false }
        if left.count == 0 { return true }
        return left.start == right.start && (left.count == 1 || left.step == right.step)
    }

    private func areEqual(_ left: Jinja.Dict, _ right: Jinja.Dict) throws(Fault) -> Bool {
        if left === right { return true }
        guard left.count == right.count else { return false }
        for (key, value) in zip(left.keys, left.values) {
            guard let other = right[try self.key(key)], try areEqual(value, other) else { return false }
        }
        return true
    }

    private func areEqualViews(
        _ kind: Jinja.ViewKind, _ left: Jinja.Dict, _ right: Jinja.Dict
    ) throws(Fault) -> Bool {
        if kind == .items { return try areEqual(left, right) }
        guard left.count == right.count else { return false }
        for key in left.keys {
            guard right[try self.key(key)] != nil else { return false }
        }
        return true
    }

    private func isLessOrEqual(
        _ left: Value, _ right: Value, _ sign: String, isTurned: Bool = false
    ) throws(Fault) -> Bool {
        if let left = left.number, let right = right.number, left.isNaN || right.isNaN { return false }
        return try !precedes(right, left, sign, isTurned: !isTurned)
    }

    /// Whether one is less than the other. With `isTurned`, messages name the operands in reverse order.
    func precedes(
        _ left: Value, _ right: Value, _ sign: String = "<", isTurned: Bool = false
    ) throws(Fault) -> Bool {
        try enter()
        defer { leave() }
        try spend(3)
        if case .undefined(let undefined) = left { throw fail(undefined.message) }
        if case .undefined(let undefined) = right { throw fail(undefined.message) }
        switch (left, right) {
        case (.string(let left), .string(let right)):
            try spend(characters: min(left.count, right.count))
            return left < right
        case (.list(let left), .list(let right)), (.tuple(let left), .tuple(let right)):
            for (left, right) in zip(left.values, right.values) {
                if try !areEqual(left, right) { return try precedes(left, right, sign, isTurned: isTurned) }
            }
            return left.values.count < right.values.count
        default:
            try refuseLong(left, right)
            if let left = left.wholeNumber, let right = right.wholeNumber { return left < right }
            if let left = left.number, let right = right.number { return left < right }
            let (first, second) = isTurned ? (right, left) : (left, right)
            throw fail(
                "'\(sign)' not supported between instances of '\(first.typeName)' and '\(second.typeName)'")
        }
    }

    /// `value in container`
    func contains(_ container: Value, _ value: Value) throws(Fault) -> Bool {
        switch container {
        case .string(let text):
            if case .undefined(let undefined) = value { throw fail(undefined.message) }
            guard let needle = value.text else {
                throw fail("'in <string>' requires string as left operand, not \(value.typeName)")
            }
            try spend(lookingFor: needle, in: text)
            return text.contains(needle)
        case .dictionary(let dictionary), .view(.keys, let dictionary): return dictionary[try key(value)] != nil
        case .range(let range):
            guard let number = value.number else { return false }
            guard let whole = Int(exactly: number), range.count > 0 else { return false }
            let last = range[range.count - 1]
            guard min(range.start, last) <= whole, whole <= max(range.start, last) else { return false }
            return range.distance(to: whole) % range.step.magnitude == 0
        case .none, .bool, .int, .long, .float, .namespace, .function:
            throw fail("argument of type '\(container.typeName)' is not iterable")
        default:
            var cursor = try cursor(container)
            while let element = try cursor.next(self) {
                if try areEqual(element, value) { return true }
            }
            return false
        }
    }
}
