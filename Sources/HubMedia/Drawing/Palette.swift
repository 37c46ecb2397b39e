/// Colours that people tell apart who see colours otherwise, too (Okabe and Ito, https://jfly.uni-koeln.de/color/).
public enum Palette {
    private static let colors: [(UInt8, UInt8, UInt8)] = [
        (230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167),
        (0, 0, 0),
    ]

    /// Red, green and blue of a number: orange, sky blue, bluish green, yellow, blue, vermilion, reddish purple, black, and from
    /// then on the same again.
    public static func color(_ index: Int) -> (UInt8, UInt8, UInt8) {
        colors[(index % colors.count + colors.count) % colors.count]
    }

    /// Black or white, whichever is read better on a colour (https://www.w3.org/TR/WCAG21/#dfn-relative-luminance).
    static func ink(on color: (UInt8, UInt8, UInt8)) -> (UInt8, UInt8, UInt8) {
        // Squares are near enough to the powers of the standard.
        func light(_ level: UInt8) -> Double { Double(level) / 255 * (Double(level) / 255) }
        let luminance = 0.2126 * light(color.0) + 0.7152 * light(color.1) + 0.0722 * light(color.2)
        return luminance > 0.179 ? (0, 0, 0) : (255, 255, 255)
    }
}
