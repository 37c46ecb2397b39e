import CKernels
import HubCore
import HubTokenizers
import Support
import Testing

@testable import InferenceKit

/// Every instruction set of this CPU against the portable code, and that against plain arithmetic.
@Suite struct KernelTests {
    private static let variants = [HUB_SCALAR, HUB_AVX2, HUB_AVX512, HUB_NEON].filter { hub_kernels_of($0) != nil }
    private static let elements = [HUB_F32, HUB_F16, HUB_BF16]

    private func numbers(_ count: Int, _ random: inout Xoshiro256) -> [Float] {
        (0..<count).map { _ in Float(random.unit() * 2 - 1) }
    }

    /// A matrix in the given element, starting at an odd address as a tensor may.
    private func matrix(_ values: [Float], _ element: hub_element) -> [UInt8] {
        [0xAA]
            + values.flatMap { value -> [UInt8] in
                let bits = value.bitPattern
                switch element {
                case HUB_F32: return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
                case HUB_BF16: return [UInt8(truncatingIfNeeded: bits >> 16), UInt8(bits >> 24)]
                // Sign, five bits of exponent, ten of fraction, without rounding; enough for |x| from 2^-14 to 1.
                default:
                    let exponent = Int((bits >> 23) & 255) - 127
                    if exponent < -14 { return [0, 0] }
                    let half =
                        UInt16(bits >> 16 & 0x8000) | UInt16(exponent + 15) << 10 | UInt16(bits >> 13 & 0x3FF)
                    return [UInt8(truncatingIfNeeded: half), UInt8(half >> 8)]
                }
            }
    }

    @Test(arguments: variants, elements) func rowsAgreeWithPlainSums(variant: hub_variant, element: hub_element)
        throws
    {
        let kernels = try #require(hub_kernels_of(variant)).pointee
        var random = Xoshiro256(seed: 1)
        for (rows, columns, batch) in [
            (1, 1, 1), (5, 7, 3), (4, 16, 4), (9, 33, 6), (3, 200, 1), (8, 128, 9), (13, 2600, 7),
        ] {
            let bytes = matrix(numbers(rows * columns, &random), element)
            let x = numbers(batch * columns, &random)
            var wide = [Float](repeating: 0, count: rows * columns)
            var y = [Float](repeating: .nan, count: batch * rows)
            bytes.withUnsafeBytes { raw in
                hub_widen(element, raw.baseAddress! + 1, wide.count, &wide)
                let function = withUnsafeBytes(of: kernels.rows) {
                    $0.load(fromByteOffset: Int(element.rawValue) * 8, as: Rows.self)
                }
                function(raw.baseAddress! + 1, rows, columns, x, columns, batch, &y, rows)
            }
            for b in 0..<batch {
                for r in 0..<rows {
                    let sum = (0..<columns).reduce(0.0) {
                        $0 + Double(wide[r * columns + $1]) * Double(x[b * columns + $1])
                    }
                    #expect(abs(Double(y[b * rows + r]) - sum) < 1e-5 * Double(columns).squareRoot())
                }
            }
        }
    }

    /// A vector gets the same bits however many others it is multiplied with.
    @Test(arguments: variants, elements) func batchesEqualSingleVectors(variant: hub_variant, element: hub_element)
        throws
    {
        let kernels = try #require(hub_kernels_of(variant)).pointee
        var random = Xoshiro256(seed: 3)
        for (rows, columns) in [(1, 7), (9, 33), (13, 2051)] {
            let batch = 13
            let bytes = matrix(numbers(rows * columns, &random), element)
            let x = numbers(batch * columns, &random)
            var together = [Float](repeating: .nan, count: batch * rows)
            var alone = together
            bytes.withUnsafeBytes { raw in
                let function = withUnsafeBytes(of: kernels.rows) {
                    $0.load(fromByteOffset: Int(element.rawValue) * 8, as: Rows.self)
                }
                function(raw.baseAddress! + 1, rows, columns, x, columns, batch, &together, rows)
                for b in 0..<batch {
                    x.withUnsafeBufferPointer { x in
                        alone.withUnsafeMutableBufferPointer { alone in
                            function(
                                raw.baseAddress! + 1, rows, columns, x.baseAddress! + b * columns, columns, 1,
                                alone.baseAddress! + b * rows, rows)
                        }
                    }
                }
            }
            #expect(together.map(\.bitPattern) == alone.map(\.bitPattern))
        }
    }

    private typealias Rows =
        @convention(c) (
            UnsafeRawPointer?, Int, Int, UnsafePointer<Float>?, Int, Int, UnsafeMutablePointer<Float>?, Int
        ) -> Void

    @Test(arguments: variants) func vectorOperations(variant: hub_variant) throws {
        let kernels = try #require(hub_kernels_of(variant)).pointee
        var random = Xoshiro256(seed: 2)
        for count in [0, 1, 3, 4, 7, 8, 15, 16, 17, 33, 100] {
            let a = numbers(count, &random)
            var b = numbers(count, &random)
            let expected = zip(a, b).reduce(0.0) { $0 + Double($1.0) * Double($1.1) }
            #expect(abs(Double(kernels.dot(a, b, count)) - expected) < 1e-5)
            let sums = zip(a, b).map { $0 * 0.5 + $1 }
            kernels.add_scaled(0.5, a, &b, count)
            #expect(zip(sums, b).allSatisfy { abs($0 - $1) < 1e-6 })
        }
    }

    @Test func halvesWidenExactly() {
        // https://en.wikipedia.org/wiki/Half-precision_floating-point_format#Half_precision_examples
        let cases: [(UInt16, Float)] = [
            (0x0000, 0), (0x0001, 0x1p-24), (0x03FF, 0x1.ff8p-15), (0x0400, 0x1p-14), (0x3555, 0.33325195),
            (0x3C00, 1),
            (0xC000, -2), (0x7BFF, 65504), (0x7C00, .infinity), (0xFC00, -.infinity),
        ]
        var out = [Float](repeating: 0, count: cases.count)
        hub_widen(HUB_F16, cases.map(\.0), cases.count, &out)
        #expect(out == cases.map(\.1))
        hub_widen(HUB_F16, [UInt16(0x7E00)], 1, &out)
        #expect(out[0].isNaN)
        hub_widen(HUB_BF16, [UInt16(0x3F80), 0xC040], 2, &out)
        #expect(out[..<2] == [1, -3])
    }

    @Test(arguments: [1, 2, 3, 8]) func everyItemIsWorkedOnOnce(threads: Int) throws {
        let pool = try #require(hub_pool_create(threads))
        defer { hub_pool_destroy(pool) }
        #expect(hub_pool_threads(pool) == threads)
        for count in [0, 1, 2, 7, 100, 1001] {
            for grain in [0, 1, 3, 2000] {
                var hits = [UInt8](repeating: 0, count: count + 1)
                hits.withUnsafeMutableBufferPointer { buffer in
                    hub_pool_run(
                        pool, count, grain,
                        { context, _, begin, end in
                            guard let hits = context?.assumingMemoryBound(to: UInt8.self) else { return }
                            for item in begin..<end { hits[item] += 1 }
                        }, buffer.baseAddress)
                }
                #expect(hits == [UInt8](repeating: 1, count: count) + [0])
            }
        }
    }

    @Test(arguments: variants) func logitsDoNotDependOnTheKernelsOrThreads(variant: hub_variant) throws {
        func logits(_ variant: hub_variant, _ threads: Int) throws -> [Float] {
            let reading = try FolderReading(Fixtures.path("tiny-shakespeare"))
            let runnable = try reading.runnable()
            let team = try ComputeTeam(threads: threads, variant: variant)
            let decoder = Decoder(
                runnable.description, try DecoderWeights(runnable.description, runnable.weights), team)
            let sequence = DecoderSequence(runnable.description, capacity: 16, threads: threads)
            return Array(decoder.run([0, 845, 30, 203, 450, 16, 369], sequence, logits: .last))
        }
        let alone = try logits(variant, 1)
        let worst = try zip(alone, logits(HUB_SCALAR, 1)).map { abs($0 - $1) }.max() ?? .infinity
        #expect(worst < 5e-5)
        // Threads share out rows; the sum of a row is never split.
        for threads in [2, 5] { #expect(try logits(variant, threads) == alone) }
    }

    /// One position at a time, in batches, or all at once: the same logits to the last bit.
    @Test func batchesOfAnySizeAgree() throws {
        let reading = try FolderReading(Fixtures.path("tiny-shakespeare"))
        let runnable = try reading.runnable()
        let decoder = Decoder(
            runnable.description, try DecoderWeights(runnable.description, runnable.weights),
            try ComputeTeam(threads: 2))
        let ids = try runnable.tokenizer.encode("But, soft! what light through yonder window breaks?")
        var results: [[Float]] = []
        for size in [1, 2, 5, ids.count] {
            let sequence = DecoderSequence(runnable.description, capacity: 64, threads: 2)
            var last: [Float] = []
            for start in stride(from: 0, to: ids.count, by: size) {
                last = Array(decoder.run(ids[start..<min(start + size, ids.count)], sequence, logits: .last))
            }
            results.append(last)
        }
        for other in results.dropFirst() { #expect(other == results[0]) }
    }
}
