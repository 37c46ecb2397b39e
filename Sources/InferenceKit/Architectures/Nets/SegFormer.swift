import HubCore
import ModelFormats

/// SegFormer (https://arxiv.org/abs/2105.15203): labels of each place of a picture, or of the picture.
/// https://github.com/huggingface/transformers/blob/main/src/transformers/models/segformer/modeling_segformer.py
extension NetFamily {
    static let segFormer = NetFamily(
        "SegFormer", type: "segformer",
        classes: [
            ("SegformerForSemanticSegmentation", .imageSegmentation),
            ("SegformerForImageClassification", .imageClassification), ("SegformerModel", .imageEmbedding),
        ]
    ) { settings throws(AIError) in
        let plan = try SegFormerPlan(&settings)
        var net = ConvolutionNet(height: 512, width: 512, blocks: plan.blocks)
        if settings.configuration.architectures.first ?? "SegformerForSemanticSegmentation"
            == "SegformerForSemanticSegmentation"
        {
            if settings.flag("reshape_last_stage") == false { settings.refuse("reshape_last_stage", "false") }
            let labels = try settings.labels()
            net.map = plan.map(labels: labels.count)
            (net.labels, net.prefix, net.unread) = (labels, "segformer.", ["classifier."])
            if let channels = settings.count("num_channels"), channels != 3 {
                settings.refuse("num_channels", "\(channels)")
            }
            return net
        }
        try settings.completeNet(
            &net, prefix: "segformer.", classifier: "classifier",
            first: "encoder.patch_embeddings.0.proj.weight")
        net.unread.append("decode_head.")
        return net
    }
}

/// The stages of a SegFormer.
struct SegFormerPlan: Sendable {
    private struct Stage {
        var depth: Int
        /// Channels, and those inside of feed-forward blocks.
        var width: Int
        var inner: Int
        var heads: Int
        /// Places along a side that have one key.
        var reduction: Int
        var window: ConvolutionNet.Window
    }

    private let stages: [Stage]
    /// Channels of the head.
    private let width: Int
    private let activation: ConvolutionNet.Activation
    /// Whatever the file says: the layers are made without its `layer_norm_eps`.
    private static let epsilon = 1e-5

    /// - Throws: ``ErrorCode/malformedModel`` for lists of different lengths.
    init(_ settings: inout Settings) throws(AIError) {
        let count = settings.count("num_encoder_blocks") ?? 4
        let depths = try settings.depths("depths", usual: [2, 2, 2, 2])
        let widths = try settings.stages("hidden_sizes", usual: [32, 64, 160, 256], count: count)
        let heads = try settings.stages("num_attention_heads", usual: [1, 2, 5, 8], count: count)
        let reductions = try settings.stages("sr_ratios", usual: [8, 4, 2, 1], count: count)
        let sides = try settings.stages("patch_sizes", usual: [7, 3, 3, 3], count: count)
        let strides = try settings.stages("strides", usual: [4, 2, 2, 2], count: count)
        let ratios = settings.numbers("mlp_ratios") ?? [4, 4, 4, 4]
        let lists = [
            depths.count, widths.count, heads.count, reductions.count, sides.count, strides.count, ratios.count,
        ]
        guard lists.allSatisfy({ $0 == count }) else {
            throw .malformed(settings.path, "its lists are not of num_encoder_blocks \(count) stages")
        }
        var stages: [Stage] = []
        for index in 0..<count {
            let inner = Double(widths[index]) * ratios[index]
            guard inner >= 1, ratios[index] <= 1024 else {
                throw .malformed(settings.path, "mlp_ratios has \(ratios[index])")
            }
            stages.append(
                Stage(
                    depth: depths[index], width: widths[index], inner: Int(inner), heads: heads[index],
                    reduction: reductions[index], window: .centred(sides[index], stride: strides[index])))
        }
        self.stages = stages
        width = settings.count("decoder_hidden_size") ?? 256
        activation = settings.netActivation("hidden_act", usual: .gelu)
    }

    private func norm(_ name: String, _ channels: Int) -> ConvolutionNet.LayerNorm {
        .init(name: name, channels: channels, epsilon: Self.epsilon)
    }

    private func matrix(_ name: String, _ inputs: Int, _ outputs: Int) -> ConvolutionNet.Convolution {
        .init(name: name, inputs: inputs, outputs: outputs, hasBias: true, isMatrix: true)
    }

    var blocks: [ConvolutionNet.Block] {
        var blocks: [ConvolutionNet.Block] = []
        for (number, stage) in stages.enumerated() {
            let name = "encoder.patch_embeddings.\(number)"
            let inputs = number == 0 ? 3 : stages[number - 1].width
            let squares = ConvolutionNet.Convolution(
                name: name + ".proj", inputs: inputs, outputs: stage.width, window: stage.window, hasBias: true)
            blocks.append(.init(layers: [.convolution(squares), .norm(norm(name + ".layer_norm", stage.width))]))
            for layer in 0..<stage.depth { blocks += self.layer(stage, "encoder.block.\(number).\(layer).") }
            blocks.append(.init(layers: [.norm(norm("encoder.layer_norm.\(number)", stage.width))]))
        }
        return blocks
    }

    private func layer(_ stage: Stage, _ name: String) -> [ConvolutionNet.Block] {
        let (width, inner, attention) = (stage.width, stage.inner, name + "attention.")
        var reduction: ConvolutionNet.ReducedAttention.Reduction?
        if stage.reduction > 1 {
            let window = ConvolutionNet.Window(side: stage.reduction, stride: stage.reduction)
            reduction = .init(
                convolution: .init(
                    name: attention + "self.sr", inputs: width, outputs: width, window: window, hasBias: true),
                norm: norm(attention + "self.layer_norm", width))
        }
        return [
            .init(
                layers: [
                    .norm(norm(name + "layer_norm_1", width)),
                    .reducedAttention(
                        .init(
                            heads: stage.heads, query: matrix(attention + "self.query", width, width),
                            key: matrix(attention + "self.key", width, width),
                            value: matrix(attention + "self.value", width, width),
                            output: matrix(attention + "output.dense", width, width), reduction: reduction)),
                ], around: []),
            .init(
                layers: [
                    .norm(norm(name + "layer_norm_2", width)),
                    .convolution(matrix(name + "mlp.dense1", width, inner)),
                    .convolution(
                        .init(
                            name: name + "mlp.dwconv.dwconv", inputs: inner, outputs: inner, window: .centred(3),
                            groups: inner, hasBias: true, activation: activation)),
                    .convolution(matrix(name + "mlp.dense2", inner, width)),
                ], around: []),
        ]
    }

    func map(labels: Int) -> ConvolutionNet.Map {
        var (ends, end) = ([Int](), -1)
        for stage in stages {
            end += 2 * stage.depth + 2
            ends.append(end)
        }
        let sum = ConvolutionNet.MapSum(
            projections: stages.enumerated().map { matrix("decode_head.linear_c.\($0).proj", $1.width, width) },
            fuse: .init(
                name: "decode_head.linear_fuse", inputs: stages.count * width, outputs: width,
                norm: .init(name: "decode_head.batch_norm", epsilon: 1e-5), activation: .relu),
            classifier: .init(name: "decode_head.classifier", inputs: width, outputs: labels, hasBias: true))
        return .sum(sum, blocks: ends)
    }
}
