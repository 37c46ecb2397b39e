import HubCore
import ModelFormats

/// Depth Anything 1 and 2 (https://arxiv.org/abs/2401.10891, https://arxiv.org/abs/2406.09414) and DPT
/// (https://arxiv.org/abs/2103.13413): a vision transformer, several of whose layers become a map.
/// https://github.com/huggingface/transformers/blob/main/src/transformers/models/depth_anything/modeling_depth_anything.py
extension NetFamily {
    static let depthAnything = NetFamily(
        "Depth Anything", type: "depth_anything", classes: [("DepthAnythingForDepthEstimation", .depthEstimation)]
    ) { settings throws(AIError) in
        let tower = try settings.dinoTower()
        var neck = try MapNeck(&settings, tower)
        neck.inputs = settings.count("reassemble_hidden_size") ?? 384
        let kind = settings.text("depth_estimation_type") ?? "relative"
        if !["relative", "metric"].contains(kind) { settings.refuse("depth_estimation_type", kind) }
        if let side = settings.count("patch_size"), side != tower.patch {
            throw .malformed(settings.path, "patch_size is \(side), and that of backbone_config \(tower.patch)")
        }
        let inner = settings.count("head_hidden_size") ?? 32
        let fusion = neck.fusion(
            fitsStages: true,
            .init(
                before: [neck.wide("head.conv1", neck.width, neck.width / 2)],
                after: [
                    neck.wide("head.conv2", neck.width / 2, inner, .relu),
                    .init(
                        name: "head.conv3", inputs: inner, outputs: 1, hasBias: true,
                        activation: kind == "metric" ? .sigmoid : .relu),
                ], isOfPixels: true, factor: Float(settings.positive("max_depth") ?? 1)))
        return try settings.net(tower, neck, fusion)
    }

    static let dpt = NetFamily(
        "DPT", type: "dpt",
        classes: [
            ("DPTForDepthEstimation", .depthEstimation), ("DPTForSemanticSegmentation", .imageSegmentation),
        ]
    ) { settings throws(AIError) in
        if settings.flag("is_hybrid") ?? false { settings.refuse("is_hybrid", "true") }
        let hasBackbone = settings.has("backbone_config")
        let isLabelled = settings.configuration.architectures.first == "DPTForSemanticSegmentation"
        if isLabelled, hasBackbone { settings.refuse("backbone_config", "for segmentation") }
        let tower = hasBackbone ? try settings.dinoTower() : try settings.dptTower()
        var neck = try MapNeck(&settings, tower)
        try neck.readDPT(&settings)
        guard !isLabelled else {
            let labels = try settings.labels()
            let head = ConvolutionNet.MapFusion.Head(
                before: [
                    .init(
                        name: "head.head.0", inputs: neck.width, outputs: neck.width, window: .centred(3),
                        norm: .init(name: "head.head.1", epsilon: 1e-5), activation: .relu),
                    .init(name: "head.head.4", inputs: neck.width, outputs: labels.count, hasBias: true),
                ], after: [], isOfPixels: false)
            var net = try settings.net(tower, neck, neck.fusion(fitsStages: false, head))
            net.labels = labels
            net.unread.append("auxiliary_head.")
            return net
        }
        var before = [neck.wide("head.head.0", neck.width, neck.width / 2)]
        if settings.flag("add_projection") ?? false {
            before.insert(neck.wide("head.projection", neck.width, neck.width, .relu), at: 0)
        }
        let head = ConvolutionNet.MapFusion.Head(
            before: before,
            after: [
                neck.wide("head.head.2", neck.width / 2, 32, .relu),
                .init(name: "head.head.4", inputs: 32, outputs: 1, hasBias: true, activation: .relu),
            ], isOfPixels: false)
        return try settings.net(tower, neck, neck.fusion(fitsStages: false, head))
    }
}

extension Settings {
    /// A net of a tower and what makes a map of it.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for layers that the tower does not have, or as many as there are no stages.
    fileprivate mutating func net(
        _ tower: ConvolutionNet.Tower, _ neck: MapNeck, _ fusion: ConvolutionNet.MapFusion
    ) throws(AIError) -> ConvolutionNet {
        guard tower.taps.count == neck.channels.count, neck.inputs == tower.description.width, neck.width > 1 else {
            throw .malformed(
                path,
                "\(tower.taps.count) layers of \(tower.description.width) numbers would become "
                    + "\(neck.channels.count) stages of \(neck.inputs)")
        }
        if let name = text("backbone") { refuse("backbone", name) }
        if flag("use_timm_backbone") ?? false { refuse("use_timm_backbone", "true") }
        guard let pixels = tower.description.pixels else { preconditionFailure("the tower reads no pictures") }
        return ConvolutionNet(
            height: pixels.rows * pixels.patch, width: pixels.columns * pixels.patch, blocks: [], tower: tower,
            map: .fusion(fusion), unread: ["neck.fusion_stage.layers.0.residual_layer1."])
    }

    /// A DINOv2 in `backbone_config`, whose layers `out_indices` or `out_features` name.
    fileprivate mutating func dinoTower() throws(AIError) -> ConvolutionNet.Tower {
        var members = object("backbone_config") ?? [:]
        let type = members["model_type"]?.string ?? "dinov2"
        if type != "dinov2" { refuse("backbone_config: model_type", type) }
        // A part of a configuration is saved without its class's defaults; where there is none, they are the model's own.
        let isWhole = has("backbone_config")
        let usual: [(String, Int)] = [
            ("hidden_size", isWhole ? 768 : 384), ("num_hidden_layers", 12),
            ("num_attention_heads", isWhole ? 12 : 6),
            ("image_size", isWhole ? 224 : 518),
        ]
        for (key, value) in usual where members[key] == nil { members[key] = .int(Int64(value)) }
        var part = try part(members)
        var description = try part.dino(hasRegisters: false)
        let layers = description.layers.count
        var taps = isWhole ? [layers] : [9, 10, 11, 12]
        if let listed = part.list("out_indices") {
            let range = -layers - 1...layers
            taps = listed.compactMap { $0.whole(in: range) }.map { $0 < 0 ? layers + 1 + $0 : $0 }
            guard taps.count == listed.count else { throw .malformed(path, "out_indices are not layers") }
        } else if let named = part.texts("out_features") {
            taps = named.compactMap { $0 == "stem" ? 0 : $0.hasPrefix("stage") ? Int($0.dropFirst(5)) : nil }
            guard taps.count == named.count else { throw .malformed(path, "out_features are not stages") }
        }
        try check(taps, of: layers)
        if description.layers.contains(where: { $0.feedForward?.isGated == true }) {
            part.refuse("backbone_config: use_swiglu_ffn", "true")
            // Gates have no names here; what is refused is described without them.
            for index in description.layers.indices { description.layers[index].feedForward?.isGated = false }
        }
        obstacles += part.obstacles
        return ConvolutionNet.Tower(
            description: description, names: .dino("backbone."), taps: taps,
            isNormed: part.flag("apply_layernorm") ?? true)
    }

    /// DPT's own ViT.
    fileprivate mutating func dptTower() throws(AIError) -> ConvolutionNet.Tower {
        var pixels = try pixels(size: 384, patch: 16)
        guard pixels.rows == pixels.columns else {
            throw .malformed(path, "image_size is not a square")
        }
        pixels.positions = .init(leading: 1, isBilinear: true)
        let description = try vision(pixels, epsilon: 1e-12)
        let indices = places("backbone_out_indices") ?? [2, 5, 8, 11]
        let taps = indices.map { $0 + 1 }
        try check(taps, of: description.layers.count)
        return ConvolutionNet.Tower(description: description, names: .vit("dpt."), taps: taps, isNormed: false)
    }

    private func check(_ taps: [Int], of layers: Int) throws(AIError) {
        guard !taps.isEmpty, zip(taps, taps.dropFirst()).allSatisfy({ $0 < $1 }), taps[0] >= 0,
            taps[taps.count - 1] <= layers
        else {
            throw .malformed(path, "layers \(taps) are not ascending ones of \(layers)")
        }
    }
}

/// What stands between a tower and a head: sizes, and the names of what makes stages and sums of them.
private struct MapNeck {
    /// Numbers of the tower's rows,
    var inputs: Int
    /// channels of the stages,
    var channels: [Int]
    /// how much larger than the tower's plane they are,
    var factors: [Double]
    /// and channels of their sums.
    var width: Int
    private var readout: String?
    private var readoutActivation = ConvolutionNet.Activation.gelu
    /// Whether the convolutions of residuals have biases,
    private var hasBias = true
    /// and norms.
    private var hasNorm = false

    init(_ settings: inout Settings, _ tower: ConvolutionNet.Tower) throws(AIError) {
        inputs = tower.description.width
        let isDPT = settings.configuration.modelType == "dpt"
        channels = try settings.stages(
            "neck_hidden_sizes", usual: isDPT ? [96, 192, 384, 768] : [48, 96, 192, 384])
        factors = settings.numbers("reassemble_factors") ?? [4, 2, 1, 0.5]
        width = settings.count("fusion_hidden_size") ?? (isDPT ? 256 : 64)
        for factor in factors where !Self.isRead(factor) { settings.refuse("reassemble_factors", "\(factor)") }
        guard factors.count == channels.count else {
            throw .malformed(settings.path, "neck_hidden_sizes and reassemble_factors are not of the same stages")
        }
        if let index = settings.value("head_in_index")?.int, index != -1, index != Int64(channels.count - 1) {
            settings.refuse("head_in_index", "\(index)")
        }
    }

    /// A whole number, or one by which a whole one is divided.
    private static func isRead(_ factor: Double) -> Bool {
        let whole = factor >= 1 ? factor : 1 / factor
        return factor > 0 && whole == whole.rounded() && whole <= 64
    }

    mutating func readDPT(_ settings: inout Settings) throws(AIError) {
        readout = settings.text("readout_type") ?? "project"
        if let readout, !["ignore", "add", "project"].contains(readout) {
            settings.refuse("readout_type", readout)
        }
        readoutActivation = settings.netActivation("hidden_act", usual: .gelu)
        hasNorm = settings.flag("use_batch_norm_in_fusion_residual") ?? false
        hasBias = settings.flag("use_bias_in_fusion_residual") ?? !hasNorm
    }

    /// A convolution of three places by three, with a bias.
    func wide(
        _ name: String, _ inputs: Int, _ outputs: Int, _ activation: ConvolutionNet.Activation? = nil
    ) -> ConvolutionNet.Convolution {
        .init(
            name: name, inputs: inputs, outputs: outputs, window: .centred(3), hasBias: true, activation: activation
        )
    }

    func fusion(fitsStages: Bool, _ head: ConvolutionNet.MapFusion.Head) -> ConvolutionNet.MapFusion {
        .init(
            stages: channels.indices.map(stage), joins: channels.indices.map(join), fitsStages: fitsStages,
            head: head
        )
    }

    private func stage(_ index: Int) -> ConvolutionNet.MapFusion.Stage {
        let (name, own) = ("neck.reassemble_stage.layers.\(index)", channels[index])
        let factor = factors[index]
        var stage = ConvolutionNet.MapFusion.Stage(
            projection: .init(name: name + ".projection", inputs: inputs, outputs: own, hasBias: true),
            resizing: .none,
            output: .init(name: "neck.convs.\(index)", inputs: own, outputs: width, window: .centred(3)))
        if factor > 1 {
            stage.resizing = .enlarged(.init(name: name + ".resize", channels: own, factor: Int(min(factor, 64))))
        } else if factor < 1, factor > 0 {
            let window = ConvolutionNet.Window(
                side: 3, stride: Int(min((1 / factor).rounded(), 64)), padding: .even(1))
            stage.resizing = .reduced(
                .init(name: name + ".resize", inputs: own, outputs: own, window: window, hasBias: true))
        }
        switch readout {
        case "add": stage.readout = .added
        case "project":
            stage.readout = .projected(
                .init(
                    name: "neck.reassemble_stage.readout_projects.\(index).0", inputs: 2 * inputs, outputs: inputs,
                    hasBias: true, activation: readoutActivation, isMatrix: true))
        default: stage.readout = .ignored
        }
        return stage
    }

    private func join(_ index: Int) -> ConvolutionNet.MapFusion.Join {
        let name = "neck.fusion_stage.layers.\(index)."
        func residual(_ part: String) -> ConvolutionNet.MapFusion.Residual {
            func convolution(_ number: Int, _ activation: ConvolutionNet.Activation?) -> ConvolutionNet.Convolution
            {
                .init(
                    name: "\(name)\(part).convolution\(number)", inputs: width, outputs: width, window: .centred(3),
                    hasBias: hasBias,
                    norm: hasNorm ? .init(name: "\(name)\(part).batch_norm\(number)", epsilon: 1e-5) : nil,
                    activation: activation)
            }
            return .init(first: convolution(1, .relu), second: convolution(2, nil))
        }
        return .init(
            side: index == 0 ? nil : residual("residual_layer1"), sum: residual("residual_layer2"),
            projection: .init(name: name + "projection", inputs: width, outputs: width, hasBias: true))
    }
}
