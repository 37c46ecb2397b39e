import CPlatform

extension Array {
    /// So many times one value, on large pages where the system has them: for tables that are looked into all over.
    package init(large count: Int, repeating value: Element) {
        self.init(unsafeUninitializedCapacity: count) { buffer, filled in
            hub_prefer_large_pages(buffer.baseAddress, count * MemoryLayout<Element>.stride)
            buffer.initialize(repeating: value)
            filled = count
        }
    }

    /// Room for so many elements, on large pages where the system has them. An array that already has room keeps it.
    package mutating func reserveLargeCapacity(_ count: Int) {
        reserveCapacity(count)
        withUnsafeMutableBufferPointer { buffer in
            hub_prefer_large_pages(buffer.baseAddress, count * MemoryLayout<Element>.stride)
        }
    }
}
