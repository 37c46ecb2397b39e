import HubCore

/// Freed bytes: by st_size, and allocated on the disk, which is less if a file is sparse or compressed.
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

    /// Counts a file that is about to lose this name.
    mutating func add(_ status: FileStatus) {
        if status.kind == .file, status.links == 1 {
            self += FreedBytes(size: status.size, allocated: status.allocated)
        }
    }
}
