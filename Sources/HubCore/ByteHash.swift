/// A hash of short runs of bytes, an eighth of the cost of SipHash.
///
/// Of the family of wyhash (https://github.com/wangyi-fudan/wyhash), its keys drawn anew by each process: a file cannot
/// be made to collide.
package enum ByteHash {
    package static let keys: (UInt64, UInt64, UInt64) = (
        .random(in: 1 ... .max), .random(in: 1 ... .max), .random(in: 1 ... .max) | 1
    )

    @inlinable
    package static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
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

    /// The hash of a pair of ids.
    @inlinable
    package static func hash(_ pair: UInt64) -> UInt64 {
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
