package import HubCore

/// The limits of the numbers in a model's files, checked where a number is read.
///
/// No known model comes near them. The product of two of these numbers fits into `Int`, and so does a sum of
/// products of two sizes. Code that multiplies more of them checks for overflow.
package enum SettingLimits {
    /// Widths, rows of tables, numbers of experts.
    package static let sizes = 1...1 << 24
    /// Attention heads.
    package static let heads = 1...1 << 16
    /// Positions, and windows of them.
    package static let positions = 1...Int(Int32.max)
    /// Ids of tokens, numbers of layers, where 0 is the first.
    package static let places = 0...Int(Int32.max)
}

extension JSON {
    /// The number, if float32, in which models compute, can hold it; nil for NaN, infinity and anything larger.
    package var finite: Double? { double.flatMap { Float($0).isFinite ? $0 : nil } }

    /// The number, if it is whole and within these limits; some files write 128.0.
    package func whole(in limits: ClosedRange<Int>) -> Int? {
        let number = int.flatMap { Int(exactly: $0) } ?? double.flatMap { Int(exactly: $0) }
        return number.flatMap { limits.contains($0) ? $0 : nil }
    }
}
