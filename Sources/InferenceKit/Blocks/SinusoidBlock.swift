import Libc

/// Positions as sines and cosines.
struct SinusoidBlock: Sendable {
    private let description: ModelDescription.Sinusoids

    init(_ description: ModelDescription.Sinusoids) { self.description = description }

    /// The row of a position, of this width; of an odd one M2M-100's last number is 0, and Marian has one sine more.
    func fill(_ position: Int, width: Int, _ out: UnsafeMutablePointer<Float>) {
        let half = width / 2
        switch description.periods {
        case .byWidth:
            let sines = width - half
            for place in 0..<sines {
                let angle = Double(position) / pow(10_000, Double(2 * place) / Double(width))
                out[place] = Float(sin(angle))
                if place < half { out[sines + place] = Float(cos(angle)) }
            }
        case .toTheLast:
            out[width - 1] = 0
            for place in 0..<half {
                let rate = expf(Float(place) * -Float(log(10_000.0) / Double(max(1, half - 1))))
                let angle = Float(position) * rate
                (out[place], out[half + place]) = (sinf(angle), cosf(angle))
            }
        }
    }
}
