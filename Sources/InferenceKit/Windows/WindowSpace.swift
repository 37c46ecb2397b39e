import CKernels

/// The scratch memory of a picture that is being computed. Used by one thread at a time.
final class WindowSpace {
    let team: ComputeTeam
    let extent: WindowExtent
    /// Whether activations stay float32 and weights are dequantised.
    let isExact: Bool
    /// All rows of a stage,
    let rows: FloatBuffer
    /// and those that a stage is made of.
    let merged: FloatBuffer
    /// As many rows as are computed at once: what attention reads and then makes, queries, keys, values, and what they see.
    let seen: FloatBuffer
    let queries: FloatBuffer
    let keys: FloatBuffer
    let values: FloatBuffer
    let attended: FloatBuffer
    let wide: FloatBuffer
    /// What distances add: `[heads]` lists.
    let lists: FloatBuffer
    /// The row of a table for each query and key of each kind of window.
    let distances: UnsafeMutableBufferPointer<UInt32>
    let keyPages: UnsafeMutableRawPointer
    let valuePages: UnsafeMutableRawPointer
    /// Where each page begins.
    let keyStarts: UnsafeMutablePointer<UnsafeRawPointer?>
    let valueStarts: UnsafeMutablePointer<UnsafeRawPointer?>
    private let packed: UnsafeMutableRawPointer

    init(_ extent: WindowExtent, _ team: ComputeTeam, isExact: Bool) {
        (self.extent, self.team, self.isExact) = (extent, team, isExact)
        (rows, merged) = (FloatBuffer(extent.rows), FloatBuffer(extent.merged))
        (seen, queries) = (FloatBuffer(extent.narrow), FloatBuffer(extent.narrow))
        (keys, values) = (FloatBuffer(extent.narrow), FloatBuffer(extent.narrow))
        (attended, wide) = (FloatBuffer(extent.narrow), FloatBuffer(extent.wide))
        lists = FloatBuffer(extent.lists)
        distances = .allocate(capacity: extent.distances)
        func zeros(_ bytes: Int) -> UnsafeMutableRawPointer {
            let memory = UnsafeMutableRawPointer.allocate(byteCount: max(bytes, 1), alignment: 64)
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
            return memory
        }
        // Places behind the last are read, and count as 0.
        (keyPages, valuePages) = (zeros(extent.pages), zeros(extent.pages))
        (keyStarts, valueStarts) = (.allocate(capacity: extent.pageCount), .allocate(capacity: extent.pageCount))
        packed = .allocate(byteCount: max(extent.packed, 1), alignment: 64)
    }

    deinit {
        distances.deallocate()
        for memory in [keyPages, valuePages, packed] { memory.deallocate() }
        keyStarts.deallocate()
        valueStarts.deallocate()
    }

    /// Multiplies rows that follow each other with several matrices.
    func multiply(
        _ values: UnsafePointer<Float>, rows: Int, columns: Int,
        _ products: [(linear: Linear, out: UnsafeMutablePointer<Float>)]
    ) {
        var input = hub_input()
        input.values = values
        (input.stride, input.rows, input.columns) = (columns, rows, columns)
        (input.exact, input.packed) = (isExact, packed)
        team.multiply(&input, products)
    }

    /// Says where the pages of windows begin.
    ///
    /// - Parameter bytes: of a page.
    func lay(pages count: Int, bytes: Int) {
        for page in 0..<count {
            (keyStarts + page).initialize(to: UnsafeRawPointer(keyPages + page * bytes))
            (valueStarts + page).initialize(to: UnsafeRawPointer(valuePages + page * bytes))
        }
    }
}
