package import HubCore

/// The limits of the numbers that a model's files may say.
///
/// They are checked where a number is read. Each size is above that of any model, and so small that no product of two
/// overflows, nor a sum of such products; what multiplies more checks first.
package enum SettingLimits {
    /// Widths, rows of tables, experts.
    package static let sizes = 1...1 << 24
    /// Attention heads.
    package static let heads = 1...1 << 16
    /// Positions, and windows of them.
    package static let positions = 1...Int(Int32.max)
    /// Ids of tokens, numbers of layers, where 0 is the first.
    package static let places = 0...Int(Int32.max)
}

extension JSON {
    /// The number, if it is one in float32, in which models compute: neither infinite nor beyond it.
    package var finite: Double? { double.flatMap { Float($0).isFinite ? $0 : nil } }

    /// The whole number, if it is one within these limits; some files write 128.0.
    package func whole(in limits: ClosedRange<Int>) -> Int? {
        let number = int.flatMap { Int(exactly: $0) } ?? double.flatMap { Int(exactly: $0) }
        return number.flatMap { limits.contains($0) ? $0 : nil }
    }
}
