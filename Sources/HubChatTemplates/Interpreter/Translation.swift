extension Jinja {
    /// `str.maketrans` and `str.translate`: code points for code points.
    static let translationMethods: [Text: Method<Text>] = [
        "maketrans": { run, _, arguments throws(Fault) in
            let given = try arguments.bound("maketrans", ["x", "y", "z"], run)
            let table = Dict()
            if let to = given[1] {
                try run.fill(table, given[0], to, without: given[2])
            } else {
                try run.fill(table, given[0])
            }
            return .dictionary(table)
        },
        "translate": { run, text, arguments throws(Fault) in
            guard let table = try arguments.bound("translate", ["table"], run)[0] else {
                throw run.fail("translate() takes exactly one argument (0 given)")
            }
            return .string(try run.translated(text, table))
        },
    ]
}

extension Jinja.Run {
    fileprivate func fill(_ table: Jinja.Dict, _ from: Value?, _ to: Value, without: Value?) throws(Fault) {
        guard let from = from?.text else {
            throw fail("first maketrans argument must be a string if there is a second argument")
        }
        let targets = try text(to, "maketrans() argument 2") ?? ""
        guard from.count == targets.count else {
            throw fail("the first two maketrans arguments must have equal length")
        }
        for (scalar, target) in zip(from.scalars, targets.scalars) {
            try add(.int(Int(scalar.value)), .int(Int(target.value)), to: table)
        }
        for scalar in try text(without, "maketrans() argument 3")?.scalars ?? [] {
            try add(.int(Int(scalar.value)), .none, to: table)
        }
    }

    fileprivate func fill(_ table: Jinja.Dict, _ given: Value?) throws(Fault) {
        guard case .dictionary(let members)? = given else {
            throw fail("if you give only one argument to maketrans it must be a dict")
        }
        for (key, value) in zip(members.keys, members.values) {
            if let text = key.text {
                guard text.count == 1 else { throw fail("string keys in translate table must be of length 1") }
                try add(.int(Int(text.scalars[0].value)), value, to: table)
            } else if key.wholeNumber != nil {
                try add(key, value, to: table)
            } else {
                throw fail("keys in translate table must be strings or integers")
            }
        }
    }

    fileprivate func translated(_ text: Text, _ table: Value) throws(Fault) -> Text {
        switch table {
        case .dictionary, .list, .tuple, .string, .range, .undefined: break
        default: throw fail("'\(table.typeName)' object is not subscriptable")
        }
        var result: [Unicode.Scalar] = []
        for scalar in text.scalars {
            guard let target = try element(.int(Int(scalar.value)), of: table) else {
                try reserve(1)
                result.append(scalar)
                continue
            }
            if target.isNone { continue }
            let piece = if let text = target.text { text } else { Text([try character(target)]) }
            try reserve(piece.count)
            result += piece.scalars
        }
        return Text(result)
    }

    private func character(_ code: Value) throws(Fault) -> Unicode.Scalar {
        guard let number = code.wholeNumber else {
            throw fail("character mapping must return integer, None or str")
        }
        guard let value = UInt32(exactly: number), let scalar = Unicode.Scalar(value) else {
            throw fail("character mapping must be in range(0x110000)")
        }
        return scalar
    }
}
