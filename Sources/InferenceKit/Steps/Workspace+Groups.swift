import CKernels

extension Workspace {
    /// Rows, and matrices that they are multiplied with.
    struct Group {
        struct Product {
            let matrix: WeightMatrix
            var bias: UnsafePointer<Float>?
            let out: UnsafeMutablePointer<Float>
            /// Numbers from one row of the result to the next; nil for as many as it has.
            var stride: Int?
        }

        let values: UnsafeMutablePointer<Float>
        let rows: Int
        /// Numbers from one row to the next; nil for as many as they have.
        var stride: Int?
        let products: [Product]
    }

    /// Multiplies groups of rows, each with its own matrices, all at once.
    ///
    /// - Parameter columns: of every row.
    func multiply(columns: Int, _ groups: [Group]) {
        let count = groups.reduce(0) { $0 + $1.products.count }
        withUnsafeTemporaryAllocation(of: hub_matrix.self, capacity: count) { matrices in
            withUnsafeTemporaryAllocation(of: hub_product.self, capacity: count) { products in
                var index = 0
                for product in groups.lazy.flatMap(\.products) {
                    precondition(product.matrix.columns == columns)
                    matrices.initializeElement(at: index, to: product.matrix.layout)
                    products.initializeElement(
                        at: index,
                        to: hub_product(
                            matrix: matrices.baseAddress! + index, bias: product.bias, out: product.out,
                            stride: product.stride ?? product.matrix.rows))
                    index += 1
                }
                run(groups, columns: columns, products)
            }
        }
    }

    private func run(_ groups: [Group], columns: Int, _ products: UnsafeMutableBufferPointer<hub_product>) {
        withUnsafeTemporaryAllocation(of: hub_input.self, capacity: groups.count) { inputs in
            withUnsafeTemporaryAllocation(of: hub_group.self, capacity: groups.count) { list in
                var (index, packed) = (0, packed)
                for (place, group) in groups.enumerated() {
                    var input = hub_input()
                    input.values = UnsafePointer(group.values)
                    (input.stride, input.rows, input.columns) = (group.stride ?? columns, group.rows, columns)
                    (input.exact, input.packed) = (isExact, packed)
                    inputs.initializeElement(at: place, to: input)
                    list.initializeElement(
                        at: place,
                        to: hub_group(
                            input: inputs.baseAddress! + place, products: products.baseAddress! + index,
                            count: group.products.count))
                    index += group.products.count
                    packed = (packed + hub_packed_bytes(group.rows, columns)).alignedUp(
                        toMultipleOf: Self.groupAlignment)
                }
                hub_multiply_groups(team.team, list.baseAddress, groups.count)
            }
        }
    }

    /// Bytes that the packed rows of groups take.
    static func packedBytes(groups: Int, rows: Int, columns: Int) -> Int {
        hub_packed_bytes(rows, columns) + groups * groupAlignment
    }

    /// Of the packed rows of each group.
    private static var groupAlignment: Int { 64 }
}
