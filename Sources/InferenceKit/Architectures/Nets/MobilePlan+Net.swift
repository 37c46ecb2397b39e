extension MobilePlan {
    /// The net without its classifier.
    var net: ConvolutionNet {
        let first = keepsStem ? stem : rounded(stem)
        var blocks: [ConvolutionNet.Block] = [
            .init(layers: [normed("conv_stem", "bn1", 3, first, window(3, stride: 2), activation)])
        ]
        var channels = first
        for stage in stages.indices {
            for (index, block) in self.blocks(stage).enumerated() {
                let outputs = rounded(block.outputs)
                blocks.append(self.block(block, "blocks.\(stage).\(index).", channels, outputs))
                channels = outputs
            }
        }
        var net = ConvolutionNet(blocks: blocks)
        switch head {
        case .afterMean(let features, let hasBias):
            net.pooled = [
                .convolution(
                    .init(
                        name: "conv_head", inputs: channels, outputs: features, hasBias: hasBias,
                        activation: activation))
            ]
        case .beforeMean(let features):
            net.blocks.append(.init(layers: [normed("conv_head", "bn2", channels, features, .point, activation)]))
        }
        return net
    }

    private func window(_ side: Int, stride: Int) -> ConvolutionNet.Window {
        isPaddedToSame
            ? .init(side: side, stride: stride, padding: .same) : .centred(side, stride: stride)
    }

    private func normed(
        _ name: String, _ norm: String, _ inputs: Int, _ outputs: Int, _ window: ConvolutionNet.Window = .point,
        groups: Int = 1, _ activation: ConvolutionNet.Activation? = nil
    ) -> ConvolutionNet.Layer {
        .normed(
            name, norm, inputs, outputs, window, groups: groups, epsilon: epsilon, activation)
    }

    private func block(_ block: MobileBlock, _ name: String, _ inputs: Int, _ outputs: Int) -> ConvolutionNet.Block
    {
        let activation = block.activation ?? self.activation
        let window = self.window(block.side, stride: block.stride)
        let inner = Self.divisible(Double(inputs) * block.expansion)
        var layers: [ConvolutionNet.Layer]
        switch block.kind {
        case .plain: layers = [normed(name + "conv", name + "bn1", inputs, outputs, window, activation)]
        case .separable:
            layers = [
                normed(name + "conv_dw", name + "bn1", inputs, inputs, window, groups: inputs, activation)
            ]
            layers += squeeze(block, name, inputs, ratio: block.squeezed, activation)
            layers.append(normed(name + "conv_pw", name + "bn2", inputs, outputs))
        case .inverted:
            layers = [
                normed(name + "conv_pw", name + "bn1", inputs, inner, .point, activation),
                normed(name + "conv_dw", name + "bn2", inner, inner, window, groups: inner, activation),
            ]
            layers += squeeze(block, name, inner, ratio: ratio(block), activation)
            layers.append(normed(name + "conv_pwl", name + "bn3", inner, outputs))
        case .edge:
            layers = [normed(name + "conv_exp", name + "bn1", inputs, inner, window, activation)]
            layers += squeeze(block, name, inner, ratio: ratio(block), activation)
            layers.append(normed(name + "conv_pwl", name + "bn2", inner, outputs))
        }
        let isAdded = block.hasShortcut && block.stride == 1 && inputs == outputs
        return .init(layers: layers, around: isAdded ? [] : nil)
    }

    /// The share of the channels inside of a block that factors are made of.
    private func ratio(_ block: MobileBlock) -> Double {
        if case .ofInputs = squeezing { block.squeezed / block.expansion } else { block.squeezed }
    }

    private func squeeze(
        _ block: MobileBlock, _ name: String, _ channels: Int, ratio: Double,
        _ activation: ConvolutionNet.Activation
    ) -> [ConvolutionNet.Layer] {
        guard block.squeezed > 0 else { return [] }
        let share = Double(channels) * ratio
        var inner = Int(share.rounded(.toNearestOrEven))
        var (used, gate) = (activation, ConvolutionNet.Activation.sigmoid)
        switch squeezing {
        case .ofExpanded: (inner, used, gate) = (Self.divisible(share), .relu, .hardSigmoid)
        case .plain: gate = .hardSigmoid
        case .ofInputs: break
        }
        return [
            .squeeze(
                .init(
                    reduce: .init(
                        name: name + "se.conv_reduce", inputs: channels, outputs: inner, hasBias: true,
                        activation: used),
                    expand: .init(
                        name: name + "se.conv_expand", inputs: inner, outputs: channels, hasBias: true,
                        activation: gate)))
        ]
    }
}
