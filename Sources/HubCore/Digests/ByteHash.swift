/// A hash of short runs of bytes, an eighth of the cost of SipHash.
///
/// Of the wyhash family (https://github.com/wangyi-fudan/wyhash), with random keys per process, so that a file cannot
/// force collisions.
package enum ByteHash {
    package typealias Keys = (UInt64, UInt64, UInt64)
    package static let keys: Keys = (
        .random(in: 1 ... .max), .random(in: 1 ... .max), .random(in: 1 ... .max) | 1
    )

    /// - Parameter keys: read them once before a loop: each access checks whether they are initialised.
    @inlinable @inline(__always)
    package static func hash(_ bytes: UnsafeBufferPointer<UInt8>, _ keys: Keys = keys) -> UInt64 {
        let (first, second, _) = keys
        guard let start = UnsafeRawPointer(bytes.baseAddress) else { return first }
        let count = bytes.count
        var state = first ^ UInt64(truncatingIfNeeded: count)
        var at = 0
        while count - at > 16 {
            state = mix(word(start + at) ^ second, word(start + at + 8) ^ state)
            at += 16
        }
        let left = count - at
        var low: UInt64 = 0
        var high: UInt64 = 0
        if left >= 8 {
            low = word(start + at)
            high = word(start + count - 8)
        } else if left >= 4 {
            low = UInt64((start + at).loadUnaligned(as: UInt32.self))
            high = UInt64((start + count - 4).loadUnaligned(as: UInt32.self))
        } else if left > 0 {
            low = UInt64(bytes[at]) << 16 | UInt64(bytes[at + left / 2]) << 8 | UInt64(bytes[count - 1])
        }
        return mix(second ^ low, state ^ high)
    }

    /// Whether the bytes at both places are equal; two or three comparisons for the usual short runs.
    @inlinable @inline(__always)
    package static func areEqual(_ one: UnsafeRawPointer, _ other: UnsafeRawPointer, count: Int) -> Bool {
        if count >= 8 {
            var at = 0
            while at < count &- 8 {
                if word(one + at) != word(other + at) { return false }
                at &+= 8
            }
            return word(one + (count &- 8)) == word(other + (count &- 8))
        }
        if count >= 4 {
            let last = count &- 4
            return one.loadUnaligned(as: UInt32.self) == other.loadUnaligned(as: UInt32.self)
                && (one + last).loadUnaligned(as: UInt32.self) == (other + last).loadUnaligned(as: UInt32.self)
        }
        for at in 0..<count
        where (one + at).loadUnaligned(as: UInt8.self) != (other + at).loadUnaligned(as: UInt8.self) {
            return false
        }
        return true
    }

    /// The hash of a pair of ids.
    @inlinable @inline(__always)
    package static func hash(_ pair: UInt64, _ keys: Keys = keys) -> UInt64 {
        let (first, _, third) = keys
        return mix(pair ^ first, third)
    }

    @inlinable
    package static func word(_ pointer: UnsafeRawPointer) -> UInt64 { pointer.loadUnaligned(as: UInt64.self) }

    @inlinable
    package static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}
