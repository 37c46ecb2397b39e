import HubCore
import ModelFormats

/// Swin (https://arxiv.org/abs/2103.14030) and Swin 2 (https://arxiv.org/abs/2111.09883) of transformers.
extension NetFamily {
    static let swin = NetFamily(windows: "Swin", type: "swin", stem: "Swin") { settings throws(AIError) in
        var net = try settings.swin(.first)
        net.shiftsWithRoom = true
        let newer = "encoder.layers.0.blocks.0.attention.q_proj.weight"
        if settings.stores("swin." + newer) == true || settings.stores(newer) == true { net.naming = .newer }
        try settings.completeSwin(&net, prefix: "swin.")
        return net
    }

    static let swin2 = NetFamily(windows: "Swin 2", type: "swinv2", stem: "Swinv2") { settings throws(AIError) in
        var net = try settings.swin(.second)
        // The reference adds its mask twice.
        net.otherSide = -200
        let counted = try settings.windows("pretrained_window_sizes", stages: net.stages.count)
        for number in net.stages.indices {
            let side = counted?[number] ?? 0
            net.stages[number].counted = .init(height: side, width: side)
            // Windows are as large as the pictures that it was made for allow, by their rows alone.
            let stage = net.stages[number], rows = (net.height / net.patch) >> number
            let height = min(rows, stage.window.height)
            net.stages[number].window = .init(height: height, width: height)
            net.stages[number].shift = rows <= height ? .none : stage.shift
        }
        try settings.completeSwin(&net, prefix: "swinv2.")
        return net
    }
}

extension Settings {
    /// What both have, with windows as they are told.
    fileprivate mutating func swin(_ version: WindowNet.Version) throws(AIError) -> WindowNet {
        let pixels = try pixels(size: 224, patch: 4)
        let (height, width) = try sides("image_size") ?? (224, 224)
        if flag("use_absolute_embeddings") ?? false { refuse("use_absolute_embeddings", "true") }
        let depths = try depths("depths", usual: [2, 2, 6, 2])
        let side = count("window_size") ?? 7
        let window = WindowNet.Extent(height: side, width: side)
        return WindowNet(
            version: version, height: height, width: width, patch: pixels.patch, fillsSquares: true,
            stages: try windowStages(
                depths, Array(repeating: window, count: depths.count),
                heads: try stages("num_heads", usual: [3, 6, 12, 24]), width: count("embed_dim") ?? 96),
            fillsFirst: true,
            shiftsWithRoom: false, epsilon: epsilon("layer_norm_eps") ?? 1e-5,
            activation: activation(text("hidden_act"), default: .gelu), hasInputBias: flag("qkv_bias") ?? true,
            naming: .transformers)
    }

    /// Stages, each of half the rows down and across and twice the numbers of the one before it.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for sizes that are missing or not whole numbers.
    func windowStages(
        _ depths: [Int], _ windows: [WindowNet.Extent], heads: [Int], width first: Int
    ) throws(AIError) -> [WindowNet.Stage] {
        guard heads.count >= depths.count, depths.count <= 8 else {
            throw .malformed(path, "num_heads has \(heads.count) stages, and depths \(depths.count)")
        }
        let ratio = positive("mlp_ratio") ?? 4
        guard ratio <= 1024, first <= 1 << 16, Double(first) * ratio >= 1 else {
            throw .malformed(path, "embed_dim is \(first), mlp_ratio \(ratio)")
        }
        return depths.indices.map { number in
            let channels = first << number
            return WindowNet.Stage(
                channels: channels, depth: depths[number], heads: heads[number],
                inner: Int(Double(channels) * ratio), window: windows[number], shift: windows[number].half)
        }
    }

    /// Numbers of stages, from 0; nil if the file has none. A class's own list may be longer than there are stages.
    func windows(_ key: String, stages: Int) throws(AIError) -> [Int]? {
        guard let list = places(key) else { return nil }
        guard list.count >= stages, list.allSatisfy({ $0 <= 4096 }) else {
            throw .malformed(path, "\(key) is not a list of sizes of stages")
        }
        return Array(list[..<stages])
    }

    /// Its labels if its class has them, and what stands before its names.
    fileprivate mutating func completeSwin(_ net: inout WindowNet, prefix: String) throws(AIError) {
        net.prefix = stores("embeddings.patch_embeddings.projection.weight") == true ? "" : prefix
        // Stands for squares that were left out in training.
        net.unread = ["classifier.", net.prefix + "embeddings.mask_token"]
        if configuration.architectures.first?.hasSuffix("Model") == true || net.prefix.isEmpty { return }
        (net.labels, net.classifier) = (try labels(), "classifier")
    }
}
