import HubCore
import ModelFormats

/// ConvNeXt (https://arxiv.org/abs/2201.03545) and its second version (https://arxiv.org/abs/2301.00808), as timm has them.
/// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/convnext.py
extension NetFamily {
    static let convNeXt = NetFamily(
        "ConvNeXt", timm: ["convnext", "convnextv"], knows: { ConvNeXtPlan.named[$0] != nil }
    ) { settings throws(AIError) in
        guard var plan = ConvNeXtPlan.named[settings.timmName] else {
            throw .malformed(settings.path, "architecture is \(settings.timmName.printable)")
        }
        try plan.change(&settings)
        var net = plan.net(.timm)
        try settings.completeTimm(
            &net, classifier: "head.fc", first: "stem.0.weight", arguments: ConvNeXtPlan.arguments)
        return net
    }
}

extension ConvNeXtPlan {
    private static let sizes: [String: (depths: [Int], channels: Int)] = [
        "atto": ([2, 2, 6, 2], 40), "femto": ([2, 2, 6, 2], 48), "pico": ([2, 2, 6, 2], 64),
        "nano": ([2, 2, 8, 2], 80), "tiny": ([3, 3, 9, 3], 96), "small": ([3, 3, 27, 3], 96),
        "base": ([3, 3, 27, 3], 128), "large": ([3, 3, 27, 3], 192), "xlarge": ([3, 3, 27, 3], 256),
        "xxlarge": ([3, 4, 30, 3], 384), "huge": ([3, 3, 27, 3], 352),
    ]
    /// Whose points are stored as convolutions.
    private static let small: Set<String> = ["atto", "femto", "pico", "nano"]

    private static func plan(_ size: String) -> ConvNeXtPlan? {
        guard let (depths, channels) = sizes[size] else { return nil }
        var plan = ConvNeXtPlan(depths: depths, channels: [1, 2, 4, 8].map { $0 * channels })
        plan.isMatrix = !small.contains(size)
        return plan
    }

    private func with(_ change: (inout ConvNeXtPlan) -> Void) -> ConvNeXtPlan {
        var plan = self
        change(&plan)
        return plan
    }

    /// By their names in timm.
    fileprivate static let named: [String: ConvNeXtPlan] = {
        var named: [String: ConvNeXtPlan] = [:]
        for size in sizes.keys {
            guard let plain = plan(size) else { continue }
            if size != "huge" { named["convnext_" + size] = plain }
            if !["xlarge", "xxlarge"].contains(size) {
                named["convnextv2_" + size] = plain.with { ($0.hasResponses, $0.hasScale) = (true, false) }
            }
            guard small.contains(size) else { continue }
            named["convnext_\(size)_ols"] = plain.with { $0.stem = size == "nano" ? .overlapping : .tiered }
        }
        named["convnext_xxlarge"]?.epsilon = 1e-5
        named["convnext_tiny_hnf"] = named["convnext_tiny"]?.with {
            ($0.isNormedFirst, $0.isMatrix) = (true, false)
        }
        named["convnext_large_mlp"] = named["convnext_large"]?.with { $0.hidden = 1536 }
        named["test_convnext"] = ConvNeXtPlan(depths: [1, 2, 4, 2], channels: [24, 32, 48, 64]).with {
            ($0.epsilon, $0.activation) = (1e-5, .geluTanh)
        }
        return named
    }()

    /// What `model_args` may change.
    fileprivate static let arguments: Set<String> = [
        "depths", "dims", "patch_size", "stem_type", "head_norm_first", "head_hidden_size", "conv_mlp", "use_grn",
        "ls_init_value", "act_layer", "norm_eps",
    ]

    /// - Throws: ``ErrorCode/malformedModel`` for lists that are not of four stages.
    fileprivate mutating func change(_ settings: inout Settings) throws(AIError) {
        guard settings.has("model_args"), let members = settings.object("model_args") else { return }
        var arguments = try settings.part(members)
        depths = try arguments.depths("depths", usual: depths)
        channels = try arguments.stages("dims", usual: channels)
        guard depths.count == 4, channels.count == 4 else {
            throw .malformed(settings.path, "model_args: depths and dims are not of 4 stages")
        }
        patch = arguments.count("patch_size") ?? patch
        // timm spreads the windows of later stages then.
        if patch > 4 { settings.refuse("model_args: patch_size", "\(patch)") }
        if let named = arguments.text("stem_type") {
            guard let known = Stem(rawValue: named) else {
                return settings.refuse("model_args: stem_type", named)
            }
            stem = known
        }
        shrinksFirst = stem == .patches && patch == 2
        isNormedFirst = arguments.flag("head_norm_first") ?? isNormedFirst
        hidden = arguments.count("head_hidden_size") ?? hidden
        if isNormedFirst, hidden != nil {
            throw .malformed(settings.path, "model_args: head_norm_first and head_hidden_size exclude each other")
        }
        if let isConvolution = arguments.flag("conv_mlp") { isMatrix = !isConvolution }
        hasResponses = arguments.flag("use_grn") ?? hasResponses
        hasScale = arguments.isNull("ls_init_value") ? false : arguments.has("ls_init_value") || hasScale
        activation = arguments.netActivation("act_layer", usual: activation)
        settings.obstacles += arguments.obstacles
        epsilon = arguments.positive("norm_eps") ?? epsilon
    }
}
