import CKernels
import HubCore
import Libc

/// The angles of a rotary embedding (https://arxiv.org/abs/2104.09864).
struct RotaryBlock: Sendable {
    private let rotary: ModelDescription.Rotary
    /// Radians per position of each pair, rounded to float32 as the reference computes them: at position 100,000 the
    /// rounding is visible in the angle.
    private let frequencies: [Float]
    /// Those of texts longer than the original positions; nil where they are the same.
    private let longFrequencies: [Float]?
    /// Factor of cosines and sines.
    private let attention: Double

    /// - Parameter table: has the factors that GGUF keeps as tensors.
    init(_ rotary: ModelDescription.Rotary, _ table: TensorTable) throws(AIError) {
        self.rotary = rotary
        let pairs = rotary.rotated / 2
        let plain = Self.plain(rotary)
        func divided(_ divisors: [Double]) -> [Float] {
            zip(rotary.exponents, divisors).map { 1 / (Float($1) * Float(pow(rotary.base, Double($0)))) }
        }
        attention = rotary.scaling.attention
        if case .long(let short, let long, _, _) = rotary.scaling {
            func factors(_ role: TensorRole, _ listed: [Double]) throws(AIError) -> [Double] {
                guard listed.isEmpty else { return listed }
                return try table.optional(role, count: pairs)?.array.map(Double.init)
                    ?? Array(repeating: 1, count: pairs)
            }
            frequencies = divided(try factors(.shortFactors, short))
            longFrequencies = divided(try factors(.longFactors, long))
            return
        }
        longFrequencies = nil
        if rotary.hasFactors, let factors = try table.optional(.rotaryFactors, count: pairs) {
            frequencies = zip(plain, factors.array).map { $0 / $1 }
        } else {
            frequencies = Self.scaled(plain, rotary)
        }
    }

    private static func plain(_ rotary: ModelDescription.Rotary) -> [Float] {
        rotary.exponents.map { 1 / Float(pow(rotary.base, Double($0))) }
    }

    private static func scaled(_ plain: [Float], _ rotary: ModelDescription.Rotary) -> [Float] {
        switch rotary.scaling {
        case .none, .dynamic, .long: return plain
        case .linear(let factor): return plain.map { $0 / Float(factor) }
        case .proportional(let turning, let factor):
            return plain.enumerated().map { $0 < turning ? $1 / Float(factor) : 0 }
        case .llama3(let factor, let low, let high, let positions):
            return plain.map { frequency in
                let wavelength = 2 * Float.pi / frequency
                if wavelength > Float(positions) / low { return frequency / factor }
                if wavelength < Float(positions) / high { return frequency }
                let share = (Float(positions) / wavelength - low) / (high - low)
                return (1 - share) * frequency / factor + share * frequency
            }
        case .yarn(let factor, let positions, let fast, let slow, _, let isTruncated):
            let pairs = Double(rotary.rotated / 2)
            /// The pair that makes this many turns in the original positions.
            func pair(_ turns: Double) -> Double {
                Double(rotary.rotated) * log(Double(positions) / (turns * 2 * .pi)) / (2 * log(rotary.base))
            }
            var (low, high) = (pair(fast), pair(slow))
            if isTruncated { (low, high) = (floor(low), ceil(high)) }
            low = max(low, 0)
            high = min(high, 2 * pairs - 1)
            if low == high { high += 0.001 }
            return plain.enumerated().map { index, frequency in
                let blend = Float(min(1, max(0, (Double(index) - low) / (high - low))))
                return frequency / Float(factor) * blend + frequency * (1 - blend)
            }
        }
    }

    /// Whether positions of a text of one length are rotated as in one of another.
    func isSame(_ length: Int, _ other: Int) -> Bool {
        guard let original = rotary.scaling.originalPositions else { return true }
        if case .dynamic = rotary.scaling { return max(length, original) == max(other, original) }
        return (length > original) == (other > original)
    }

    var growsInPlace: Bool { longFrequencies == nil }

    private func frequencies(_ length: Int) -> [Float] {
        if let longFrequencies, let original = rotary.scaling.originalPositions, length > original {
            return longFrequencies
        }
        guard case .dynamic(let factor, let original) = rotary.scaling, length > original else {
            return frequencies
        }
        let d = Double(rotary.rotated)
        var longer = rotary
        longer.base *= pow(factor * Double(length) / Double(original) - (factor - 1), d / (d - 2))
        return Self.plain(longer)
    }

    /// How far the pairs of a picture's squares turn, in radians, `[rows * columns][rotated / 2]`; nil where squares do not
    /// turn. The first half of the pairs turns by the place of a square's middle from the top, -1, to the bottom, 1, the
    /// other by that from left to right (transformers' `DINOv3ViTRopePositionEmbedding`).
    func angles(rows: Int, columns: Int) -> FloatBuffer? {
        guard rotary.isOfSquares else { return nil }
        let count = rotary.rotated / 4
        let frequencies = (0..<count).map { place in
            1 / Float(pow(rotary.base, Double(Float(4 * place) / Float(rotary.rotated))))
        }
        func angles(_ place: Int, of all: Int) -> [Float] {
            let turn = Float(2 * Double.pi) * (2 * ((Float(place) + 0.5) / Float(all)) - 1)
            return frequencies.map { turn * $0 }
        }
        let (down, across) = (
            (0..<rows).map { angles($0, of: rows) }, (0..<columns).map { angles($0, of: columns) }
        )
        return FloatBuffer(down.flatMap { row in across.flatMap { row + $0 } })
    }

    /// Writes `[rows][rotated / 2]` cosines and sines of pictures.
    private func fillSquares(
        _ rows: [StepRow], _ cosines: UnsafeMutablePointer<Float>, _ sines: UnsafeMutablePointer<Float>
    ) {
        let pairs = rotary.rotated / 2
        for (index, row) in rows.enumerated() {
            let turns = row.picture.flatMap { picture in
                row.position < picture.first
                    ? nil : picture.angles.map { $0.start + (row.position - picture.first) * pairs }
            }
            for pair in 0..<pairs {
                let angle = Double(turns?[pair] ?? 0)
                cosines[index * pairs + pair] = Float(cos(angle))
                sines[index * pairs + pair] = Float(sin(angle))
            }
        }
    }

    /// Writes `[rows][rotated / 2]` cosines and sines.
    func fill(_ rows: [StepRow], cosines: UnsafeMutablePointer<Float>, sines: UnsafeMutablePointer<Float>) {
        if rotary.isOfSquares { return fillSquares(rows, cosines, sines) }
        var at = 0
        var known: (length: Int, frequencies: [Float])?
        for row in rows {
            if known?.length != row.length { known = (row.length, frequencies(row.length)) }
            for frequency in known!.frequencies {
                let angle = Double(Float(row.position) * frequency)
                cosines[at] = Float(cos(angle) * attention)
                sines[at] = Float(sin(angle) * attention)
                at += 1
            }
        }
    }

    /// Rotates `[rows][heads][headSize]` in place.
    ///
    /// - Parameter place: of the first number that rotates, in each head.
    func apply(
        _ x: FloatBuffer, at place: Int = 0, rows: Int, heads: Int, headSize: Int,
        _ angles: (cosines: FloatBuffer, sines: FloatBuffer),
        _ team: ComputeTeam
    ) {
        hub_rotate(
            team.team, rotary.isAdjacent ? HUB_ROTATE_ADJACENT : HUB_ROTATE_HALVES, x.start + place,
            heads * headSize, rows,
            heads, headSize, rotary.rotated, angles.cosines.start, angles.sines.start)
    }
}

extension ModelDescription.Rotary {
    /// The exponent of the base of each pair, rounded to float32 as the reference computes them.
    fileprivate var exponents: [Float] { (0..<rotated / 2).map { Float(2 * $0) / Float(rotated) } }
}
