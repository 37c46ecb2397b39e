import HubCore
import ModelFormats

/// One tensor on both sides.
struct TensorPair: Sendable {
    struct Place: Sendable {
        var file: DiffSide.File
        var span: TensorSpans.Span

        var description: String { "\(span.type) \(span.shape)" }
    }

    let name: String
    let a: Place?
    let b: Place?
    /// Whether their files are known to be the same.
    let isSame: Bool

    static func pairs(_ a: [String: Place], _ b: [String: Place], isSame: Bool) -> [TensorPair] {
        Set(a.keys).union(b.keys).map { TensorPair(name: $0, a: a[$0], b: b[$0], isSame: isSame) }
    }

    /// What became of it; nil if values would have to be read.
    func row(
        _ left: DiffSide, _ right: DiffSide, _ depth: ModelDiff.Depth, _ report: @Sendable (Int64) -> Void
    ) async throws -> ModelDiff.TensorRow? {
        guard let a else { return .init(name: name, change: .added, to: b?.description) }
        guard let b else { return .init(name: name, change: .removed, from: a.description) }
        guard !isSame else { return .init(name: name, change: .same, relative: 0) }
        guard a.span.isAlike(b.span) else {
            return .init(name: name, change: .reshaped, from: a.description, to: b.description)
        }
        guard depth != .headers else { return nil }
        var distance = TensorDistance(type: a.span.type)
        for range in ranges(depth) {
            let one = try await left.bytes(of: a.file, Self.moved(range, a.span.range.lowerBound))
            let two = try await right.bytes(of: b.file, Self.moved(range, b.span.range.lowerBound))
            distance.add(one, two)
            report(Int64(range.count))
        }
        return .init(
            name: name, change: distance.isDifferent ? .changed : .same, relative: distance.relative)
    }

    private static func moved(_ range: Range<Int64>, _ start: Int64) -> Range<Int64> {
        start + range.lowerBound..<start + range.upperBound
    }

    /// Bytes of a step.
    private static let step: Int64 = 4 << 20
    /// Bytes of a sample, a multiple of every element's size.
    private static let sample: Int64 = 4 << 10

    private func ranges(_ depth: ModelDiff.Depth) -> [Range<Int64>] {
        let size = Int64(a?.span.range.count ?? 0)
        guard case .samples(let count) = depth, size > Int64(count) * Self.sample else {
            return stride(from: 0, to: size, by: Int(Self.step)).map { $0..<min(size, $0 + Self.step) }
        }
        // From the first bytes to the last, on whole elements of up to eight bytes.
        let room = size - Self.sample
        return (0..<Int64(count)).map { index in
            let start = count == 1 ? room / 2 : room / Int64(count - 1) * index
            let whole = start / 8 * 8
            return whole..<whole + Self.sample
        }
    }
}

/// The norm of a difference, added up piece by piece.
struct TensorDistance: Sendable {
    let type: String
    private(set) var isDifferent = false
    private var difference = 0.0
    private var norm = 0.0

    init(type: String) { self.type = type }

    /// The norm of the difference over the norm of A; nil for types that are not numbers one by one, and where A is zero.
    var relative: Double? {
        if !isDifferent { return 0 }
        guard Self.size(of: type) != nil, norm > 0 else { return nil }
        let value = (difference / norm).squareRoot()
        return value.isFinite ? value : nil
    }

    private static func size(of type: String) -> Int? {
        switch type.uppercased() {
        case "F64", "I64": 8
        case "F32", "I32": 4
        case "F16", "BF16", "I16": 2
        case "I8", "U8": 1
        default: nil
        }
    }

    mutating func add(_ a: [UInt8], _ b: [UInt8]) {
        guard a != b else {
            norm += sum(a, a) { one, _ in one * one }
            return
        }
        isDifferent = true
        norm += sum(a, a) { one, _ in one * one }
        difference += sum(a, b) { one, two in (one - two) * (one - two) }
    }

    private func sum(_ a: [UInt8], _ b: [UInt8], _ term: (Double, Double) -> Double) -> Double {
        a.withUnsafeBytes { a in
            b.withUnsafeBytes { b in
                func sum<Element: BitwiseCopyable>(_ type: Element.Type, _ value: (Element) -> Double) -> Double {
                    var total = 0.0
                    let size = MemoryLayout<Element>.size
                    for at in stride(from: 0, to: min(a.count, b.count) / size * size, by: size) {
                        total += term(
                            value(a.loadUnaligned(fromByteOffset: at, as: type)),
                            value(b.loadUnaligned(fromByteOffset: at, as: type)))
                    }
                    return total
                }
                switch type.uppercased() {
                case "F64": return sum(UInt64.self) { Double(bitPattern: $0) }
                case "F32": return sum(UInt32.self) { Double(Float(bitPattern: $0)) }
                case "BF16": return sum(UInt16.self) { Double(Float(bitPattern: UInt32($0) << 16)) }
                case "F16": return sum(UInt16.self) { Self.half($0) }
                case "I64": return sum(Int64.self) { Double($0) }
                case "I32": return sum(Int32.self) { Double($0) }
                case "I16": return sum(Int16.self) { Double($0) }
                case "I8": return sum(Int8.self) { Double($0) }
                case "U8": return sum(UInt8.self) { Double($0) }
                default: return 0
                }
            }
        }
    }

    /// IEEE 754's binary16, which Swift lacks on some processors.
    private static func half(_ bits: UInt16) -> Double {
        let sign = bits & 0x8000 == 0 ? 1.0 : -1.0
        let (exponent, fraction) = (Int(bits >> 10 & 0x1F), Double(bits & 0x3FF))
        switch exponent {
        case 0: return sign * fraction * 0x1p-24
        case 31: return fraction == 0 ? sign * .infinity : .nan
        default: return sign * (1 + fraction / 1024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
        }
    }
}
