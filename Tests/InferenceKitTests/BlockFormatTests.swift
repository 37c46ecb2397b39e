import CKernels
import HubCore
import Support
import Testing

@testable import InferenceKit

/// Random blocks of every type of GGUF against PyPI's gguf: `scripts/goldens_blocks.py` says how they are made.
@Suite struct BlockFormatTests {
    private static let goldens = (try? Fixtures.json("formats/blocks.json"))?.object ?? [:]
    private static let blocks = 64

    @Test(arguments: goldens.keys.sorted()) func numbersAreThoseOfTheReference(name: String) throws {
        let golden = try #require(Self.goldens[name])
        let format = try #require(WeightFormats.named[name])
        var values = widened(try bytes(golden, Int(hub_info(format).bytes)), format)
        let first = try #require(golden["first"]?.array).compactMap(\.double).map(Float.init)
        #expect(Array(values.prefix(first.count)) == first)
        // No difference is made between 0 and -0.
        for index in values.indices where values[index] == 0 { values[index] = 0 }
        let expected = ContentDigest.sha256(try #require(golden["sha256"]?.string))
        #expect(ContentHasher.digest(of: values.withUnsafeBytes(Array.init), like: expected) == expected)
    }

    /// The reference has no numbers for these: gguf 0.19.0 does not dequantise them.
    @Test func everyOtherTypeHasAGolden() {
        let types = WeightFormats.named.filter { !WeightFormats.isFloat($0.value) }.keys
        #expect(Set(types).subtracting(Self.goldens.keys) == ["Q1_0", "Q2_0"])
    }

    /// The sign of each of 128 weights, the first in the lowest bit, after their size as a half float.
    @Test func oneBit() {
        let values = widened([0x00, 0x3E] + [0b0000_0101, 0x80] + [UInt8](repeating: 0xFF, count: 14), HUB_Q1_0)
        #expect(values == (0..<128).map { $0 == 0 || $0 == 2 || $0 >= 15 ? 1.5 : -1.5 })
    }

    /// Two bits of each of 64 weights, less 1, after their scale.
    @Test func twoBits() {
        let values = widened([0x00, 0x3E, 0b1110_0100] + [UInt8](repeating: 0xAA, count: 15), HUB_Q2_0)
        #expect(values == [-1.5, 0, 1.5, 3] + [Float](repeating: 1.5, count: 60))
    }

    private func widened(_ bytes: [UInt8], _ format: hub_format) -> [Float] {
        let columns = bytes.count / Int(hub_info(format).bytes) * Int(hub_info(format).block)
        var values = [Float](repeating: .nan, count: columns)
        bytes.withUnsafeBytes { place in
            var layout = hub_matrix()
            (layout.weights, layout.stride) = (place.baseAddress, place.count)
            (layout.rows, layout.columns, layout.format, layout.factor) = (1, columns, format, 1)
            hub_widen_row(&layout, 0, &values)
        }
        return values
    }

    private func bytes(_ golden: JSON, _ size: Int) throws -> [UInt8] {
        var state = UInt64(try #require(golden["seed"]?.int))
        var bytes = (0..<Self.blocks * size).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 56)
        }
        for upper in try #require(golden["upper"]?.array).compactMap(\.int) {
            for block in 0..<Self.blocks { bytes[block * size + Int(upper)] &= 0xBF }
        }
        return bytes
    }
}
