/// What the recurrent layers of a decoder remember of a text, according to `config.json`: as much of a long one as of a
/// short one.
package struct StateConfiguration: Sendable, Hashable {
    /// Numbers of a state, of all layers.
    package private(set) var numbers: Int64 = 0
    /// Numbers of one position that is being computed.
    private(set) var activations: Int64 = 0

    /// Earlier states that a text keeps, to go back to.
    package static let checkpoints = 3

    /// Bytes of a text's states, as float32.
    var bytes: Int64 { numbers.multipliedClamped(by: 4).multipliedClamped(by: Int64(Self.checkpoints + 1)) }

    /// - Parameter layers: the number of all layers.
    init(_ fields: ConfigurationFields, type: String, layers: Int?) {
        guard let layers, let kinds = fields.layerKinds(layers, type: type) else { return }
        let linear = Int64(kinds.count { $0 == "linear_attention" })
        func size(_ name: String) -> Int64 { Int64(fields.optionalCount(name) ?? 0) }
        let keys = size("linear_num_key_heads").multipliedClamped(by: size("linear_key_head_dim"))
        let values = size("linear_num_value_heads").multipliedClamped(by: size("linear_value_head_dim"))
        let channels = keys.multipliedClamped(by: 2).addedClamped(values)
        let convolution = channels.multipliedClamped(by: max(0, size("linear_conv_kernel_dim") - 1))
        numbers = values.multipliedClamped(by: size("linear_key_head_dim")).addedClamped(convolution)
            .multipliedClamped(by: linear)
        activations = linear == 0 ? 0 : channels.addedClamped(values.multipliedClamped(by: 2))
    }
}
