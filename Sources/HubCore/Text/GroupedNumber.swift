extension BinaryInteger {
    /// The number as people read it: `512`, `4,096`, `1,115,264`.
    package var grouped: String {
        var digits = String(magnitude)
        for place in stride(from: digits.count - 3, to: 0, by: -3) {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
        }
        return self < 0 ? "-" + digits : digits
    }
}
