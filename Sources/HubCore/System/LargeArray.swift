import CPlatform

extension Array {
    /// An array of one repeated value, on large pages if available: for tables with random access.
    package init(large count: Int, repeating value: Element) {
        self.init(unsafeUninitializedCapacity: count) { buffer, filled in
            hub_prefer_large_pages(buffer.baseAddress, count * MemoryLayout<Element>.stride)
            buffer.initialize(repeating: value)
            filled = count
        }
    }

    /// Reserves capacity for this many elements, on large pages if available. An array with enough capacity keeps it.
    package mutating func reserveLargeCapacity(_ count: Int) {
        reserveCapacity(count)
        withUnsafeMutableBufferPointer { buffer in
            hub_prefer_large_pages(buffer.baseAddress, count * MemoryLayout<Element>.stride)
        }
    }
}
