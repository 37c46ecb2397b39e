/// The dimensions of a stored tensor.
enum TensorShape {
    /// The number of elements; nil if it is more than a file can have. An empty tensor's other dimensions count too, since
    /// they are multiplied as those of any tensor.
    static func elementCount(_ dimensions: [Int]) -> Int? {
        var product = 1
        for size in dimensions {
            let (next, overflow) = product.multipliedReportingOverflow(by: max(size, 1))
            // Times the bits of an element, or of a packed word, it still fits.
            guard !overflow, next <= 1 << 56 else { return nil }
            product = next
        }
        return dimensions.contains(0) ? 0 : product
    }
}
