import InferenceKit
import Libc

/// A series and what may follow it, drawn with characters: a line of dots, and an area between low and high.
struct SeriesChart {
    /// Lines that the drawing takes, the axis aside.
    private static let height = 12
    private static let widest = 100
    private static let least = 20

    private let known: [Double]
    private let low: [Double]
    private let median: [Double]
    private let high: [Double]
    private let isUnicode: Bool
    private let labels: [String]
    private let columns: Int
    private let bottom: Double
    private let top: Double

    /// nil where there is no room.
    ///
    /// - Parameter width: cells of the terminal.
    init?(_ series: SmokeTest.Series, width: Int, isUnicode: Bool) {
        let forecast = series.forecast
        (low, median, high) = (forecast.quantile(0.1), forecast.median, forecast.quantile(0.9))
        // As much of the past as makes the future readable.
        known = Array(series.values.suffix(max(24, 2 * forecast.horizon)))
        let all = (known + low + median + high).filter(\.isFinite)
        guard let least = all.min(), let most = all.max() else { return nil }
        let room = most > least ? (most - least) * 0.02 : max(1, abs(most) * 0.1)
        (bottom, top, self.isUnicode) = (least - room, most + room, isUnicode)
        let digits = Self.digits(top - bottom)
        labels = [most, (least + most) / 2, least].map { Self.text($0, digits) }
        columns = min(width, Self.widest) - (labels.map(\.count).max() ?? 0) - 3
        if columns < Self.least { return nil }
    }

    // MARK: Numbers

    /// Digits behind the point that show differences within a range.
    private static func digits(_ range: Double) -> Int { min(6, max(0, 2 - Int(log10(range).rounded(.down)))) }

    private static func text(_ value: Double, _ digits: Int) -> String {
        guard value.magnitude < 1e12 else { return "\(value)" }
        let factor = pow(10, Double(digits))
        let whole = Int((value.magnitude * factor).rounded())
        let (before, behind) = (whole / Int(factor), String(whole % Int(factor)))
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(before)" }
        return "\(sign)\(before).\(String(repeating: "0", count: digits - behind.count))\(behind)"
    }

    /// Numbers of one size, with as many digits as show their differences.
    static func texts(_ values: [Double]) -> [String] {
        let finite = values.filter(\.isFinite)
        let range = (finite.max() ?? 0) - (finite.min() ?? 0)
        let digits = digits(range > 0 ? range : max(1e-6, abs(finite.first ?? 1)))
        return values.map { $0.isFinite ? text($0, digits) : "\($0)" }
    }

    // MARK: The drawing

    private struct Cell {
        /// Dots of a braille character (https://www.unicode.org/charts/PDF/U2800.pdf).
        var dots: UInt32 = 0
        var isFuture = false
        var isBetween = false
    }

    var lines: [Styled] {
        let count = known.count + median.count
        // Dots: two in the width of a cell, four in its height.
        let (wide, tall) = (2 * columns, 4 * Self.height)
        func x(_ place: Int) -> Int { count < 2 ? 0 : place * (wide - 1) / (count - 1) }
        func y(_ value: Double) -> Int {
            min(tall - 1, max(0, Int(((top - value) / (top - bottom) * Double(tall - 1)).rounded())))
        }
        var cells = Array(repeating: Array(repeating: Cell(), count: columns), count: Self.height)
        for (step, bounds) in zip(low, high).enumerated() where bounds.0.isFinite && bounds.1.isFinite {
            let place = known.count + step
            for column in x(place) / 2...min(x(min(place + 1, count - 1)), wide - 1) / 2 {
                for row in y(max(bounds.0, bounds.1)) / 4...y(min(bounds.0, bounds.1)) / 4 {
                    cells[row][column].isBetween = true
                }
            }
        }
        var last: (x: Int, y: Int)?
        for (place, value) in (known + median).enumerated() {
            guard value.isFinite else {
                last = nil
                continue
            }
            let point = (x: x(place), y: y(value))
            let from = last ?? point
            let steps = max(abs(point.x - from.x), abs(point.y - from.y), 1)
            for step in 0...steps {
                let (column, row) = (
                    from.x + (point.x - from.x) * step / steps, from.y + (point.y - from.y) * step / steps
                )
                cells[row / 4][column / 2].dots |= Self.dot(column % 2, row % 4)
                if place >= known.count { cells[row / 4][column / 2].isFuture = true }
            }
            last = point
        }
        let margin = labels.map(\.count).max() ?? 0
        var lines = cells.enumerated().map { row, cells in
            let label = [0: labels[0], Self.height / 2: labels[1], Self.height - 1: labels[2]][row] ?? ""
            var line = Styled(String(repeating: " ", count: margin - label.count + 1) + label + " ", .faint)
            for run in runs(cells) { line.append(run) }
            return line
        }
        let next = "next \(median.count)"
        let begin = min(x(known.count) / 2, columns - next.count)
        let past = "last \(known.count)"
        let shown = past.count < begin ? past : ""
        let space = String(repeating: " ", count: begin - shown.count)
        lines.append(
            Styled(String(repeating: " ", count: margin + 2) + shown + space + next, .faint))
        return lines
    }

    /// A row of cells, those of one style together.
    private func runs(_ cells: [Cell]) -> [Styled] {
        var found: [(text: String, style: Styled.Style)] = []
        for cell in cells {
            let symbol = symbol(cell)
            let style: Styled.Style = cell.dots == 0 ? .faint : cell.isFuture ? .good : .plain
            // A space has no colour.
            if let last = found.last, last.style == style || symbol == " " {
                found[found.count - 1].text += symbol
            } else {
                found.append((symbol, style))
            }
        }
        return found.map { Styled($0.text, $0.style) }
    }

    private static func dot(_ x: Int, _ y: Int) -> UInt32 {
        y == 3 ? (x == 0 ? 0x40 : 0x80) : 1 << UInt32(y + 3 * x)
    }

    private func symbol(_ cell: Cell) -> String {
        guard isUnicode else { return cell.dots != 0 ? cell.isFuture ? "+" : "*" : cell.isBetween ? ":" : " " }
        if cell.dots == 0 { return cell.isBetween ? "░" : " " }
        return Unicode.Scalar(0x2800 + cell.dots).map { String(Character($0)) } ?? " "
    }
}
