/// Numbers that are the same for the same seed, so that a failure comes again: SplitMix64.
/// https://prng.di.unimi.it/splitmix64.c
package struct SeededRandom: RandomNumberGenerator, Sendable {
    package private(set) var state: UInt64

    /// The seed is the generator's whole state; seeds in a row give sequences that have nothing to do with each other
    /// once they are multiplied, which ``init(number:)`` does.
    package init(state: UInt64) { self.state = state }

    /// The generator of a numbered case.
    package init(number: some BinaryInteger) { state = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// A whole number below `count`.
    package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    /// One chance in `count`.
    package mutating func one(in count: UInt64) -> Bool { next() % count == 0 }
}
