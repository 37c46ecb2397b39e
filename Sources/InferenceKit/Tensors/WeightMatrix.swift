import CKernels
import HubCore
import ModelFormats

/// A matrix of weights where it lies in its mapped file, `rows` outputs by `columns` inputs; it keeps the mapping alive.
struct WeightMatrix: Sendable {
    // Points into `files`, which are mapped read-only.
    nonisolated(unsafe) let layout: hub_matrix
    private let files: [MappedFile]
    /// Where it was computed instead; nil for one that is stored.
    private let memory: FloatBuffer?

    init(_ layout: hub_matrix, in files: [MappedFile], memory: FloatBuffer? = nil) {
        (self.layout, self.files, self.memory) = (layout, files, memory)
    }

    /// Outputs for inputs: where it lies, if it is of floats, else as float32.
    func turned() -> WeightMatrix {
        var turned = layout
        (turned.rows, turned.columns, turned.transposed) = (columns, rows, true)
        if WeightFormats.isFloat(layout.format), !layout.transposed { return WeightMatrix(turned, in: files) }
        let values = widened()
        turned = hub_matrix()
        turned.weights = UnsafeRawPointer(values.start)
        turned.stride = columns * MemoryLayout<Float>.stride
        (turned.rows, turned.columns, turned.format, turned.transposed) = (columns, rows, HUB_F32, true)
        return WeightMatrix(turned, in: [], memory: values)
    }

    var rows: Int { layout.rows }
    var columns: Int { layout.columns }

    /// Some of its outputs: one of several matrices that are stored as one. Scales that are not beside the rows count
    /// those of the whole.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for parts that begin in the midst of a word.
    func rows(_ range: Range<Int>) throws(AIError) -> WeightMatrix {
        precondition(range.lowerBound >= 0 && range.upperBound <= rows)
        var part = layout
        part.rows = range.count
        if layout.format == HUB_AWQ || layout.format == HUB_GPTQ {
            guard range.lowerBound % 8 == 0, range.count % 8 == 0 else {
                throw .unsupported(
                    files.first?.path ?? "", "outputs \(range) of a packed matrix cannot be run yet")
            }
        } else if layout.transposed {
            let element = Int(hub_info(layout.format).bytes)
            part.weights = layout.weights + range.lowerBound * element
        } else {
            part.weights = layout.weights + range.lowerBound * layout.stride
        }
        part.first += range.lowerBound
        if layout.format == HUB_MLX || layout.format == HUB_INT8 {
            let scales = range.lowerBound * (layout.columns / Int(layout.group))
            let element = Int(hub_info(layout.scale_format).bytes)
            part.scales = layout.scales + scales * element
            if layout.biases != nil { part.biases = layout.biases + scales * element }
        }
        if layout.format == HUB_MXFP4_APART {
            part.scales = layout.scales + range.lowerBound * (layout.columns / 32)
        }
        if layout.format == HUB_NVFP4_APART {
            part.scales = layout.scales + range.lowerBound * (layout.columns / 16)
        }
        // A number of each expert, or one for all.
        if layout.format == HUB_NVFP4, let scales = layout.scales {
            let index = part.first / layout.scale_rows
            part.factor = scales.loadUnaligned(fromByteOffset: index * MemoryLayout<Float>.stride, as: Float.self)
        }
        return WeightMatrix(part, in: files, memory: memory)
    }

    /// As many matrices of the same size, one above the other.
    func parts(_ count: Int) throws(AIError) -> [WeightMatrix] {
        let each = rows / count
        var parts: [WeightMatrix] = []
        for start in stride(from: 0, to: count * each, by: each) { parts.append(try rows(start..<start + each)) }
        return parts
    }

    /// Some of its inputs, where they lie one after the other.
    func columns(_ range: Range<Int>) -> WeightMatrix {
        precondition(layout.transposed && range.lowerBound >= 0 && range.upperBound <= columns)
        var part = layout
        part.columns = range.count
        part.weights = layout.weights + range.lowerBound * layout.stride
        return WeightMatrix(part, in: files, memory: memory)
    }

    /// The matrices that it consists of, each part by part: its rows are groups, with so many of the first matrix, of the
    /// second and so on in each.
    func split(_ groups: Int, _ sizes: [Int]) throws(AIError) -> [[WeightMatrix]] {
        var parts = sizes.map { _ in [WeightMatrix]() }
        var start = 0
        for _ in 0..<groups {
            for (index, size) in sizes.enumerated() {
                parts[index].append(try rows(start..<start + size))
                start += size
            }
        }
        precondition(start == rows)
        return parts
    }

    /// One row as float32.
    func widen(row: Int, into out: UnsafeMutablePointer<Float>) {
        precondition((0..<rows).contains(row))
        withUnsafePointer(to: layout) { hub_widen_row($0, row, out) }
    }

    /// The whole as float32, for small ones.
    func widened() -> FloatBuffer {
        let out = FloatBuffer(rows * columns)
        for row in 0..<rows { widen(row: row, into: out.start + row * columns) }
        return out
    }
}

/// The row of a format in the kernels' table.
func hub_info(_ format: hub_format) -> hub_format_info {
    withUnsafePointer(to: hub_formats) { table in
        UnsafeRawPointer(table).assumingMemoryBound(to: hub_format_info.self)[Int(format.rawValue)]
    }
}
