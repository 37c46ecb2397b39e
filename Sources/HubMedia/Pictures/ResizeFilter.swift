import Libc

/// How a picture is resized, with Pillow's numbers, which `resample` in preprocessor_config.json means.
public enum ResizeFilter: Int, Sendable, Hashable, CaseIterable {
    /// The pixel that lies there.
    case nearest = 0
    /// Lanczos over three pixels to either side.
    case lanczos = 1
    /// Linear between two pixels.
    case bilinear = 2
    /// Cubic over two pixels to either side, with a = −0.5.
    case bicubic = 3
    /// The mean of the pixels that are covered.
    case box = 4
    /// Hamming's window over one pixel to either side.
    case hamming = 5

    /// How far the filter reaches to either side, in pixels of the smaller picture.
    var support: Double {
        switch self {
        case .nearest: 0
        case .box: 0.5
        case .bilinear, .hamming: 1
        case .bicubic: 2
        case .lanczos: 3
        }
    }

    /// The filter's weight at a distance, not normalised; Pillow's `Resample.c`.
    func weight(_ distance: Double) -> Double {
        let x = abs(distance)
        switch self {
        case .nearest: return x == 0 ? 1 : 0
        case .box: return distance > -0.5 && distance <= 0.5 ? 1 : 0
        case .bilinear: return x < 1 ? 1 - x : 0
        case .hamming:
            guard x > 0 else { return 1 }
            let angle = x * .pi
            return x < 1 ? sin(angle) / angle * (0.54 + 0.46 * cos(angle)) : 0
        case .bicubic:
            let a = -0.5
            if x < 1 { return ((a + 2) * x - (a + 3)) * x * x + 1 }
            return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0
        case .lanczos: return distance >= -3 && distance < 3 ? Self.sinc(distance) * Self.sinc(distance / 3) : 0
        }
    }

    private static func sinc(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        let angle = x * .pi
        return sin(angle) / angle
    }
}
