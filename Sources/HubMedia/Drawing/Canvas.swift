/// A picture that is drawn on.
struct Canvas {
    private let width: Int
    private let height: Int
    private(set) var pixels: [UInt8]

    typealias Color = (UInt8, UInt8, UInt8)

    init(_ picture: Picture) { (width, height, pixels) = (picture.width, picture.height, picture.pixels) }

    /// The pixels of a box that are in the picture; nil for none.
    func area(of box: DrawnBox) -> Area? {
        let sides = [box.left, box.top, box.right, box.bottom]
        guard sides.allSatisfy(\.isFinite), box.right >= 0, box.bottom >= 0, box.left <= Double(width),
            box.top <= Double(height), box.left <= box.right, box.top <= box.bottom
        else { return nil }
        func within(_ side: Double, _ most: Int) -> Int { Int(min(max(side.rounded(), 0), Double(most))) }
        var area = Area(
            left: within(box.left, width), top: within(box.top, height), right: within(box.right, width),
            bottom: within(box.bottom, height))
        // A box without an inside is still seen.
        area.left = min(area.left, width - 1)
        area.top = min(area.top, height - 1)
        area.right = max(area.right, area.left + 1)
        area.bottom = max(area.bottom, area.top + 1)
        return area
    }

    mutating func fill(_ area: Area, _ color: Color) {
        let (left, right) = (max(0, area.left), min(width, area.right))
        guard left < right else { return }
        for y in max(0, area.top)..<max(0, area.top, min(height, area.bottom)) {
            for x in left..<right {
                let at = 3 * (y * width + x)
                (pixels[at], pixels[at + 1], pixels[at + 2]) = color
            }
        }
    }

    /// The outline of an area, inside of it, between two thin lines that set it off from a ground of its own colour.
    mutating func frame(_ area: Area, thickness: Int, _ color: Color) {
        let edge = max(1, thickness / 3)
        let ink = Palette.ink(on: color)
        outline(area.grown(by: edge), thickness: edge, ink)
        outline(area.grown(by: -thickness), thickness: edge, ink)
        outline(area, thickness: thickness, color)
    }

    private mutating func outline(_ area: Area, thickness: Int, _ color: Color) {
        guard area.left < area.right, area.top < area.bottom else { return }
        let (across, down) = (min(thickness, area.right - area.left), min(thickness, area.bottom - area.top))
        fill(Area(left: area.left, top: area.top, right: area.right, bottom: area.top + down), color)
        fill(Area(left: area.left, top: area.bottom - down, right: area.right, bottom: area.bottom), color)
        fill(Area(left: area.left, top: area.top, right: area.left + across, bottom: area.bottom), color)
        fill(Area(left: area.right - across, top: area.top, right: area.right, bottom: area.bottom), color)
    }

    /// Where the text of an area stands: above it if there is room, else inside, below, or at its lower side; within the picture.
    ///
    /// - Parameter taken: where others stand.
    func tag(of area: Area, _ text: String, dot: Int, line: Int, besides taken: [Area]) -> Area {
        let across = min(width, (BitmapFont.width(of: text) + 4) * dot)
        let down = (BitmapFont.height + 2) * dot
        let left = max(0, min(area.left, width - across))
        let inside = min(line, max(0, area.bottom - area.top))
        let tops = [area.top - down, area.top + inside, area.bottom, area.bottom - inside - down]
        let places = tops.map { Area(left: left, top: $0, right: left + across, bottom: $0 + down) }
        let seen = places.filter { $0.top >= 0 && $0.bottom <= height }
        return seen.first { place in !taken.contains { $0.meets(place) } } ?? seen.first
            ?? Area(left: left, top: 0, right: left + across, bottom: min(down, height))
    }

    /// A text in an area that is filled with a colour; what has no room in it is left out.
    mutating func write(_ text: String, in area: Area, dot: Int, on color: Color) {
        fill(area, color)
        let ink = Palette.ink(on: color)
        var left = area.left + 2 * dot
        for letter in text.unicodeScalars {
            guard left + BitmapFont.width * dot <= area.right else { return }
            for (row, dots) in BitmapFont.rows(letter).enumerated() {
                for column in 0..<BitmapFont.width where dots >> UInt8(BitmapFont.width - 1 - column) & 1 == 1 {
                    let (x, y) = (left + column * dot, area.top + (row + 1) * dot)
                    guard y + dot <= area.bottom else { continue }
                    fill(Area(left: x, top: y, right: x + dot, bottom: y + dot), ink)
                }
            }
            left += BitmapFont.advance * dot
        }
    }
}

extension Area {
    fileprivate func grown(by count: Int) -> Area {
        Area(left: left - count, top: top - count, right: right + count, bottom: bottom + count)
    }
}
