import CKernels
package import HubCore
package import ModelFormats
import Synchronization

/// Scans the weights of one file for NaN, infinities and constant tensors.
package struct ValueScan {
    /// Increased whenever results could differ from before.
    static let version = 4

    /// Size of a sample in bytes, and number of samples per tensor.
    private static let (sampleBytes, samples) = (4096, 64)
    /// Bytes per piece: small enough for a core's cache.
    private static let pieceBytes = 256 << 10
    /// Maximum number of workers, more than machines have cores.
    private static let workers = 256

    private let file: ScannedFile
    private let tensors: [StoredTensor]
    private let isWhole: Bool

    /// - Parameters:
    ///   - isWhole: whether every value is scanned; else samples of each tensor.
    ///   - isUnchanging: whether the file cannot be truncated meanwhile.
    /// - Throws: ``ErrorCode/malformedModel`` if it is not a regular file, or the error of the failed system call.
    package init(_ path: String, tensors: [StoredTensor], isWhole: Bool, isUnchanging: Bool) throws(AIError) {
        file = try ScannedFile(path, isMapped: isUnchanging)
        self.tensors = tensors
        self.isWhole = isWhole
    }

    /// - Throws: ``ErrorCode/malformedModel`` if the file ends before a tensor does, ``ErrorCode/fileChanged`` if it was cut
    ///   meanwhile.
    package func findings() throws(AIError) -> [CheckFinding] {
        let found = Lock<[Int: CheckFinding]>([:])
        let fault = Lock<AIError?>(nil)
        let next = Atomic(0)
        // Largest first, so that no thread is left with a large one at the end.
        let order = tensors.indices.filter { tensors[$0].offset != nil && tensors[$0].byteCount > 0 }
            .sorted { tensors[$0].byteCount > tensors[$1].byteCount }
        Parallel.perform(min(order.count, Self.workers)) { _ in
            var step = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard step < order.count else { return }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 64)
            defer { buffer.deallocate() }
            while step < order.count {
                do throws(AIError) {
                    if let finding = try finding(tensors[order[step]], buffer) {
                        found.withLock { $0[order[step]] = finding }
                    }
                } catch {
                    fault.withLock { $0 = error }
                    return
                }
                step = next.wrappingAdd(1, ordering: .relaxed).oldValue
            }
        }
        if let fault = fault.withLock({ $0 }) { throw fault }
        try file.checkIntact()
        return found.withLock { $0.sorted { $0.key < $1.key }.map(\.value) } + unknown()
    }

    private var name: String { Path.name(file.path) }

    /// Unknown types must not count as sound.
    private func unknown() -> [CheckFinding] {
        var counts: [String: Int] = [:]
        for tensor in tensors
        where tensor.elementCount > 0 && !Layout.isAlwaysFinite(tensor.type) && !Self.isCodes(tensor) {
            if Layout(tensor) == nil { counts[tensor.type, default: 0] += 1 }
        }
        return counts.sorted { $0.key < $1.key }.map { type, count in
            CheckFinding(
                "values", .pass,
                "\(counted(count, "tensor")) of type \(type) not checked: the layout of the type is unknown",
                file: name)
        }
    }

    /// Whether a tensor holds codes, whatever type it has: HQQ's may be called floats (`view_as_float`).
    private static func isCodes(_ tensor: StoredTensor) -> Bool { tensor.name.hasSuffix(PackedKind.hqq.ending) }

    private func finding(_ tensor: StoredTensor, _ buffer: UnsafeMutableRawBufferPointer) throws(AIError)
        -> CheckFinding?
    {
        guard !Self.isCodes(tensor), let layout = Layout(tensor) else { return nil }
        let units = tensor.byteCount / layout.unitBytes
        var look = Look()
        for range in ranges(units, layout.unitBytes) {
            try look.over(range, tensor, layout, file, buffer)
            guard look.bad == nil else { break }
        }
        if let bad = look.bad {
            let element = layout.element(bad.unit)
            return CheckFinding(
                "values", .fail, "tensor \"\(tensor.name)\" has \(bad.what) at element \(element)",
                file: name, tensor: tensor.name, expected: "finite numbers", found: bad.shown)
        }
        // Constant norms and biases are common in models with little training.
        guard tensor.shape.count(where: { $0 > 1 }) >= 2, layout.isPlain, look.isConstant else { return nil }
        // Samples rule out most constant tensors; the rest are scanned in full.
        if !isWhole { try look.over(0..<units, tensor, layout, file, buffer, untilTheyDiffer: true) }
        guard look.isConstant, let value = look.first.map(layout.shown) else { return nil }
        return CheckFinding(
            "values", .warn, "all values of tensor \"\(tensor.name)\" are \(value)", file: name,
            tensor: tensor.name, expected: "values that differ", found: value)
    }

    /// The whole tensor, or evenly spread samples including the first and the last.
    private func ranges(_ units: Int, _ unitBytes: Int) -> [Range<Int>] {
        let piece = max(1, Self.sampleBytes / unitBytes)
        guard !isWhole, units > piece * Self.samples else { return [0..<units] }
        return (0..<Self.samples).map { number in
            let begin = (units - piece) / (Self.samples - 1) * number
            let start = number == Self.samples - 1 ? units - piece : begin
            return start..<start + piece
        }
    }

    /// The scan result of one tensor.
    private struct Look {
        /// The first unit that is not finite.
        var bad: (unit: Int, what: String, shown: String)?
        /// Whether all units so far equal the first.
        var isConstant = true
        /// The bytes of the first unit.
        var first: [UInt8]?

        /// Scans a range of units, piece by piece.
        mutating func over(
            _ range: Range<Int>, _ tensor: StoredTensor, _ layout: Layout, _ file: ScannedFile,
            _ buffer: UnsafeMutableRawBufferPointer, untilTheyDiffer: Bool = false
        ) throws(AIError) {
            let size = layout.unitBytes
            let offset = tensor.offset ?? 0
            var at = range.lowerBound
            while at < range.upperBound, isConstant || !untilTheyDiffer {
                let count = min(range.upperBound - at, buffer.count / size)
                let start = try file.bytes(offset + at * size..<offset + (at + count) * size, buffer)
                let place = layout.firstBad(start, count)
                guard place == count else {
                    let unit = Array(Self.unit(start + place * size, size))
                    bad = (at + place, layout.fault(unit), layout.shown(unit))
                    return
                }
                if isConstant { compare(start, count, size) }
                at += count
            }
        }

        private mutating func compare(_ start: UnsafeRawPointer, _ count: Int, _ size: Int) {
            if let first {
                isConstant = first.elementsEqual(Self.unit(start, size))
            } else {
                first = Array(Self.unit(start, size))
            }
            isConstant = isConstant && hub_scan_constant(start, count, size) != 0
        }

        private static func unit(_ start: UnsafeRawPointer, _ size: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: start, count: size)
        }
    }
}
