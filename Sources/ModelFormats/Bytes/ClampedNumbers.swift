/// Headers are untrusted: sums and products saturate.
extension Int64 {
    package func addedClamped(_ other: Int64) -> Int64 {
        let (value, overflow) = addingReportingOverflow(other)
        return overflow ? .max : value
    }

    package func multipliedClamped(by other: Int64) -> Int64 {
        let (value, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : value
    }
}
