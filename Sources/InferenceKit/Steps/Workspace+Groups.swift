import CKernels

extension Workspace {
    /// Rows that stand side by side, and matrices that they are multiplied with.
    struct Group {
        struct Product {
            let matrix: WeightMatrix
            let bias: UnsafePointer<Float>?
            let out: UnsafeMutablePointer<Float>
        }

        let rows: Int
        let products: [Product]
    }

    /// Multiplies groups of rows, one behind the other, each with its own matrices, all at once.
    ///
    /// - Parameter values: `[rows of all groups][columns]`.
    func multiply(_ values: FloatBuffer, columns: Int, _ groups: [Group]) {
        let count = groups.reduce(0) { $0 + $1.products.count }
        withUnsafeTemporaryAllocation(of: hub_matrix.self, capacity: count) { matrices in
            withUnsafeTemporaryAllocation(of: hub_product.self, capacity: count) { products in
                withUnsafeTemporaryAllocation(of: hub_input.self, capacity: groups.count) { inputs in
                    withUnsafeTemporaryAllocation(of: hub_group.self, capacity: groups.count) { list in
                        var (row, index, packed) = (0, 0, self.packed)
                        for (place, group) in groups.enumerated() {
                            var input = hub_input()
                            input.values = UnsafePointer(values.start + row * columns)
                            (input.stride, input.rows, input.columns) = (columns, group.rows, columns)
                            (input.exact, input.packed) = (isExact, packed)
                            inputs.initializeElement(at: place, to: input)
                            list.initializeElement(
                                at: place,
                                to: hub_group(
                                    input: inputs.baseAddress! + place, products: products.baseAddress! + index,
                                    count: group.products.count))
                            for product in group.products {
                                precondition(product.matrix.columns == columns)
                                matrices.initializeElement(at: index, to: product.matrix.layout)
                                products.initializeElement(
                                    at: index,
                                    to: hub_product(
                                        matrix: matrices.baseAddress! + index, bias: product.bias,
                                        out: product.out, stride: product.matrix.rows))
                                index += 1
                            }
                            row += group.rows
                            packed = (packed + hub_packed_bytes(group.rows, columns)).alignedUp(
                                toMultipleOf: ExpertSpace.alignment)
                        }
                        hub_multiply_groups(team.team, list.baseAddress, groups.count)
                    }
                }
            }
        }
    }
}
