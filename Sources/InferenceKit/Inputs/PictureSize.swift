import HubCore

/// The size that a picture is resized to.
enum PictureSize: Sendable, Hashable {
    /// Its own.
    case unchanged
    /// Exactly this; what was square need not stay so.
    case exact(height: Int, width: Int)
    /// The shorter side gets this length; the other is rounded down.
    case shortest(Int)
    /// The shorter side gets this length, unless the longer would exceed `longest`, which it then gets.
    case between(shortest: Int, longest: Int)
    /// The same, both rounded down to whole multiples.
    case wholeBetween(shortest: Int, longest: Int, of: Int)
    /// As large as fits, both rounded down.
    case within(height: Int, width: Int)
    /// Whole multiples; with `keepsRatio` both sides take the factor that is nearer to 1.
    case multiples(height: Int, width: Int, of: Int, keepsRatio: Bool)
    /// The longer side of two (`longest`), or the shorter, fits, both rounded to the nearest.
    case fitting(height: Int, width: Int, longest: Bool)
    /// Whole patches, as many as `most`.
    case patches(side: Int, most: Int)

    /// The lengths that the shorter and the longer side may have, where the ratio of a picture's sides says which of the two
    /// has its own; nil for other sizes.
    var edges: (shortest: Int, longest: Int)? {
        switch self {
        case .between(let shortest, let longest), .wholeBetween(let shortest, let longest, _): (shortest, longest)
        default: nil
        }
    }

    /// Height and width of a picture's new size; they may be 0.
    func sides(height: Int, width: Int) -> (height: Int, width: Int) {
        let (h, w) = (Double(height), Double(width))
        switch self {
        case .unchanged: return (height, width)
        case .exact(let newHeight, let newWidth): return (newHeight, newWidth)
        case .shortest(let side): return Self.shortest(side, height, width)
        case .between(let side, let longest): return Self.between(side, longest, height, width)
        case .wholeBetween(let side, let longest, let number):
            let made = Self.stretched(side, longest, height, width)
            return (made.height - made.height % number, made.width - made.width % number)
        case .within(let most, let mostWidth):
            let factor = min(Double(most) / h, Double(mostWidth) / w)
            return (Int(h * factor), Int(w * factor))
        case .multiples(let newHeight, let newWidth, let number, let keepsRatio):
            var (down, across) = (Double(newHeight) / h, Double(newWidth) / w)
            if keepsRatio {
                if abs(1 - across) < abs(1 - down) { down = across } else { across = down }
            }
            // Python's round: a half goes to the even number.
            func multiple(_ side: Double) -> Int {
                Int((side / Double(number)).rounded(.toNearestOrEven)) * number
            }
            return (multiple(down * h), multiple(across * w))
        case .fitting(let newHeight, let newWidth, let longest):
            let ratios = (h / Double(newHeight), w / Double(newWidth))
            let ratio = longest ? max(ratios.0, ratios.1) : min(ratios.0, ratios.1)
            return (Int((h / ratio).rounded(.toNearestOrEven)), Int((w / ratio).rounded(.toNearestOrEven)))
        case .patches(let side, let most): return Self.patches(side, most, h, w)
        }
    }

    private static func shortest(_ side: Int, _ height: Int, _ width: Int) -> (height: Int, width: Int) {
        height < width
            ? (side, Int(Double(side * width) / Double(height)))
            : (Int(Double(side * height) / Double(width)), side)
    }

    private static func between(_ side: Int, _ longest: Int, _ height: Int, _ width: Int) -> (
        height: Int, width: Int
    ) {
        let (short, long) = (Double(min(height, width)), Double(max(height, width)))
        var (side, exact): (Int, Double?) = (side, nil)
        if long / short * Double(side) > Double(longest) {
            exact = Double(longest) * short / long
            side = Int((exact ?? 0).rounded(.toNearestOrEven))
        }
        if min(height, width) == side { return (height, width) }
        let factor = exact ?? Double(side)
        return width < height
            ? (Int(factor * Double(height) / Double(width)), side)
            : (side, Int(factor * Double(width) / Double(height)))
    }

    /// transformers' `get_size_with_aspect_ratio_yolos`, before sides become multiples.
    private static func stretched(_ side: Int, _ longest: Int, _ height: Int, _ width: Int) -> (
        height: Int, width: Int
    ) {
        let (short, long) = (Double(min(height, width)), Double(max(height, width)))
        var (side, exact): (Int, Double?) = (side, nil)
        if long / short * Double(side) > Double(longest) {
            exact = Double(longest) * short / long
            side = Int((exact ?? 0).rounded(.toNearestOrEven))
        }
        let factor = exact ?? Double(side)
        if width < height { return (Int(factor * Double(height) / Double(width)), side) }
        if height == side { return (height, width) }
        return (side, Int(factor * Double(width) / Double(height)))
    }

    /// The largest scale, found by halving, at which the patches that are begun are not too many; SigLIP 2.
    private static func patches(_ side: Int, _ most: Int, _ height: Double, _ width: Double) -> (
        height: Int, width: Int
    ) {
        let precision = 1e-5
        func scaled(_ length: Double, _ scale: Double) -> Int {
            max(side, Int((length * scale / Double(side)).rounded(.up)) * side)
        }
        var (low, high) = (precision / 10, 100.0)
        while high - low >= precision {
            let scale = (low + high) / 2
            let count = scaled(height, scale) / side * (scaled(width, scale) / side)
            if count <= most { low = scale } else { high = scale }
        }
        return (scaled(height, low), scaled(width, low))
    }
}
