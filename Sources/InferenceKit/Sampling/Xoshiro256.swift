/// xoshiro256**, seeded by SplitMix64 as its authors recommend (https://prng.di.unimi.it): the same numbers for the
/// same seed on every machine and in every version of this library.
struct Xoshiro256: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    init(seed: UInt64) {
        var split = seed
        func next() -> UInt64 {
            split &+= 0x9E37_79B9_7F4A_7C15
            var z = split
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return z ^ z >> 31
        }
        state = (next(), next(), next(), next())
    }

    /// A generator with a given state, which must not be all 0.
    init(state: (UInt64, UInt64, UInt64, UInt64)) { self.state = state }

    mutating func next() -> UInt64 {
        func rotate(_ x: UInt64, _ k: UInt64) -> UInt64 { x << k | x >> (64 - k) }
        let result = rotate(state.1 &* 5, 7) &* 9
        let t = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= t
        state.3 = rotate(state.3, 45)
        return result
    }

    /// A multiple of 2^-53 in [0, 1), uniform.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
