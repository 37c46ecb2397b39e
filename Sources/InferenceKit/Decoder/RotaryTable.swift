import Libc

/// The angles of a rotary embedding (https://arxiv.org/abs/2104.09864).
struct RotaryTable: Sendable {
    /// Radians per position of each pair, rounded to float32 as the reference computes them: at position 100,000 the
    /// rounding is visible in the angle.
    private let frequencies: [Float]

    init(headSize: Int, theta: Double, scaling: DecoderDescription.RotaryScaling) {
        frequencies = (0..<headSize / 2).map { pair in
            Self.scaled(1 / Float(pow(theta, Double(Float(2 * pair) / Float(headSize)))), scaling)
        }
    }

    /// Source: `_compute_llama3_parameters` of
    /// https://github.com/huggingface/transformers/blob/main/src/transformers/modeling_rope_utils.py
    private static func scaled(_ frequency: Float, _ scaling: DecoderDescription.RotaryScaling) -> Float {
        guard case .llama3(let factor, let low, let high, let positions) = scaling else { return frequency }
        let wavelength = 2 * Float.pi / frequency
        if wavelength > Float(positions) / low { return frequency / factor }
        if wavelength < Float(positions) / high { return frequency }
        let share = (Float(positions) / wavelength - low) / (high - low)
        return (1 - share) * frequency / factor + share * frequency
    }

    /// Writes `[positions][head size / 2]` cosines and sines.
    func fill(positions: Range<Int>, cosines: UnsafeMutablePointer<Float>, sines: UnsafeMutablePointer<Float>) {
        var at = 0
        for position in positions {
            for frequency in frequencies {
                let angle = Double(Float(position) * frequency)
                cosines[at] = Float(cos(angle))
                sines[at] = Float(sin(angle))
                at += 1
            }
        }
    }
}
