import CKernels

extension ComputeTeam {
    /// One row with a matrix, in float32.
    func multiply(_ row: FloatBuffer, _ linear: Linear) -> FloatBuffer {
        let out = FloatBuffer(linear.rows)
        let packed = UnsafeMutableRawPointer.allocate(byteCount: hub_packed_bytes(1, row.count), alignment: 64)
        defer { packed.deallocate() }
        var input = hub_input()
        input.values = UnsafePointer(row.start)
        input.stride = row.count
        input.rows = 1
        input.columns = row.count
        input.exact = true
        input.packed = packed
        var matrix = linear.parts[0].layout
        withExtendedLifetime((row, linear)) {
            withUnsafePointer(to: &matrix) { matrix in
                var product = hub_product(
                    matrix: matrix, bias: linear.bias.map { UnsafePointer($0.start) }, out: out.start,
                    stride: out.count)
                hub_multiply(team, &input, &product, 1)
            }
        }
        return out
    }
}
