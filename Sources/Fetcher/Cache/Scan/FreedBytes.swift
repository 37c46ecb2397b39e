/// Bytes that leave the disk: by st_size, and allocated there, which is less if a file is sparse or compressed.
package struct FreedBytes: Sendable, Hashable {
    package var size: Int64 = 0
    package var allocated: Int64 = 0

    static func += (sum: inout Self, more: Self) { sum = sum + more }
    static func -= (sum: inout Self, less: Self) {
        sum = FreedBytes(size: sum.size - less.size, allocated: sum.allocated - less.allocated)
    }
    static func + (one: Self, other: Self) -> Self {
        FreedBytes(size: one.size + other.size, allocated: one.allocated + other.allocated)
    }
}
