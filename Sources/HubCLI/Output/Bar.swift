/// A share as a bar of a table.
struct Bar: Sendable {
    var width = 20
    /// Whether the terminal can be expected to show more than ASCII.
    var isUnicode: Bool

    /// Eighths of a cell.
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// - Parameter share: 0 to 1.
    func callAsFunction(_ share: Double) -> String {
        let share = min(1, max(0, share))
        guard isUnicode else { return String(repeating: "#", count: Int((share * Double(width)).rounded())) }
        let parts = Int((share * Double(width * 8)).rounded())
        return String(repeating: "█", count: parts / 8) + Self.eighths[parts % 8]
    }
}
