import HubCore
import ModelFormats

/// timm's Swin, its S3 (https://arxiv.org/abs/2111.14725) and Swin 2. What `model_args` say comes after what the name
/// stands for.
/// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/swin_transformer.py, swin_transformer_v2.py
extension NetFamily {
    static let swinOfTimm = NetFamily(
        windows: "Swin", timm: ["swin"], knows: { TimmSwin.named($0)?.version == .first }
    ) { settings throws(AIError) in try settings.timmSwin() }

    static let swin2OfTimm = NetFamily(
        windows: "Swin 2", timm: ["swinv"], knows: { TimmSwin.named($0)?.version == .second }
    ) { settings throws(AIError) in try settings.timmSwin() }
}

/// The arguments that a name stands for.
struct TimmSwin: Sendable {
    var version: WindowNet.Version
    var width: Int
    var depths: [Int]
    var heads: [Int]
    /// The side of each stage's windows,
    var windows: [Int]
    /// and of those by which distances are counted; 0 for the same.
    var counted = [0, 0, 0, 0]

    private static let sizes: [Substring: (width: Int, depth: Int, heads: Int)] = [
        "tiny": (96, 6, 3), "small": (96, 18, 3), "base": (128, 18, 4), "large": (192, 18, 6),
    ]

    /// nil for a name that is not listed.
    static func named(_ name: String) -> TimmSwin? {
        // Names that timm gave up.
        let name = name.hasSuffix("_in22k") ? name.dropLast("_in22k".count) : Substring(name)
        if let found = s3[name] { return found }
        let (isSecond, parts) = (name.hasPrefix("swinv2_"), name.split(separator: "_"))
        guard isSecond || name.hasPrefix("swin_"), parts.count > 2, let size = sizes[parts[1]] else { return nil }
        let rest = parts.dropFirst(2).joined(separator: "_")
        let known = isSecond ? second(rest, parts[1]) : first(rest, parts[1])
        guard let known else { return nil }
        return TimmSwin(
            version: isSecond ? .second : .first, width: size.width, depths: [2, 2, size.depth, 2],
            heads: (0..<4).map { size.heads << $0 }, windows: Array(repeating: known.window, count: 4),
            counted: known.counted)
    }

    private static func first(_ rest: String, _ size: Substring) -> (window: Int, counted: [Int])? {
        switch rest {
        case "patch4_window7_224": (7, [0, 0, 0, 0])
        case "patch4_window12_384" where ["base", "large"].contains(size): (12, [0, 0, 0, 0])
        default: nil
        }
    }

    private static func second(_ rest: String, _ size: Substring) -> (window: Int, counted: [Int])? {
        let isLarge = ["base", "large"].contains(size)
        return switch rest {
        case "window8_256" where size != "large": (8, [0, 0, 0, 0])
        case "window16_256" where size != "large": (16, [0, 0, 0, 0])
        case "window12_192" where isLarge: (12, [0, 0, 0, 0])
        case "window12to16_192to256" where isLarge: (16, [12, 12, 12, 6])
        case "window12to24_192to384" where isLarge: (24, [12, 12, 12, 6])
        default: nil
        }
    }

    private static let s3: [Substring: TimmSwin] = [
        "swin_s3_tiny_224": s3(6, [7, 7, 14, 7]), "swin_s3_small_224": s3(18, [14, 14, 14, 7]),
        "swin_s3_base_224": s3(30, [7, 7, 14, 7]),
    ]

    private static func s3(_ depth: Int, _ windows: [Int]) -> TimmSwin {
        TimmSwin(version: .first, width: 96, depths: [2, 2, depth, 2], heads: [3, 6, 12, 24], windows: windows)
    }

    /// What `model_args` may change, and what of them only concerns training or other uses.
    fileprivate func arguments() -> Set<String> {
        var known: Set<String> = [
            "img_size", "patch_size", "window_size", "embed_dim", "depths", "num_heads", "mlp_ratio", "qkv_bias",
            "always_partition", "strict_img_size", "dynamic_img_size",
            "num_classes", "global_pool", "in_chans", "drop_rate", "proj_drop_rate", "attn_drop_rate",
            "drop_path_rate", "weight_init", "out_indices", "pretrained",
        ]
        if version == .second { known.formUnion(["pretrained_window_sizes", "act_layer"]) }
        return known
    }
}

extension Settings {
    fileprivate mutating func timmSwin() throws(AIError) -> WindowNet {
        guard let named = TimmSwin.named(timmName) else {
            throw .malformed(path, "architecture is \(timmName.printable)")
        }
        refuseArguments(but: named.arguments())
        let pixels = try pixels(size: 224, patch: 4, key: "img_size")
        let (height, width) = try sides("img_size") ?? (224, 224)
        let depths = try depths("depths", usual: named.depths)
        let usual = depths.count == named.windows.count ? named.windows : nil
        let windows = try timmWindows(depths.count, usual: usual)
        var net = WindowNet(
            version: named.version, height: height, width: width,
            takesOneSize: (flag("strict_img_size") ?? true) && !(flag("dynamic_img_size") ?? false),
            patch: pixels.patch, fillsSquares: false, stages: try timmStages(named, depths, windows),
            fillsFirst: false, shiftsWithRoom: false, epsilon: 1e-5, activation: .gelu,
            hasInputBias: flag("qkv_bias") ?? true, naming: .timm)
        if named.version == .second {
            net.activation = activation(
                text("act_layer") == "gelu_tanh" ? "gelu_pytorch_tanh" : text("act_layer"), default: .gelu)
            let counted = try self.windows("pretrained_window_sizes", stages: depths.count) ?? named.counted
            guard counted.count == depths.count else {
                throw .malformed(path, "it has \(depths.count) stages and no pretrained_window_sizes")
            }
            for (number, side) in counted.enumerated() {
                net.stages[number].counted = .init(height: side, width: side)
            }
        }
        if !(flag("always_partition") ?? false) { net.fitWindows() }
        try completeTimmSwin(&net)
        return net
    }

    /// Arguments that change what is computed, and are not known.
    private mutating func refuseArguments(but known: Set<String>) {
        for (name, value) in object("model_args")?.members ?? [] where !value.isNull && !known.contains(name) {
            refuse("model_args: \(name)", value.text())
        }
        if let channels = count("in_chans"), channels != 3 { refuse("in_chans", "\(channels)") }
        if let pool = text("global_pool"), pool != "avg" { refuse("global_pool", pool) }
    }

    /// A side for all stages, one of each, or height and width for all.
    private func timmWindows(_ stages: Int, usual: [Int]?) throws(AIError) -> [WindowNet.Extent] {
        var sides = usual
        if let value = value("window_size") {
            if value.array != nil {
                let list = try self.stages("window_size", usual: [])
                if list.count == 2 {
                    return Array(repeating: .init(height: list[0], width: list[1]), count: stages)
                }
                sides = list
            } else {
                sides = (count("window_size")).map { Array(repeating: $0, count: stages) }
            }
        }
        guard let sides, sides.count == stages else {
            throw .malformed(path, "window_size does not have the \(stages) stages of depths")
        }
        return sides.map { .init(height: $0, width: $0) }
    }

    private mutating func timmStages(
        _ named: TimmSwin, _ depths: [Int], _ windows: [WindowNet.Extent]
    ) throws(AIError) -> [WindowNet.Stage] {
        let heads = try stages("num_heads", usual: named.heads, count: depths.count)
        return try windowStages(
            depths, windows, heads: heads, width: count("embed_dim") ?? named.width)
    }

    /// The size of its pictures, its labels, what stands before its names.
    private mutating func completeTimmSwin(_ net: inout WindowNet) throws(AIError) {
        if stores("timm_model.patch_embed.proj.weight") == true { net.prefix = "timm_model." }
        // The authors' files merge behind a stage.
        if stores(net.prefix + "layers.0.downsample.reduction.weight") == true { net.naming = .original }
        _ = count("num_classes", in: SettingLimits.places)
        let classifier = net.prefix + (net.naming == .original ? "head" : "head.fc")
        net.labels = configuration.architectures.first == TimmConfiguration.bare ? nil : try labels()
        net.classifier = net.labels.map { _ in classifier }
        net.unread = [classifier + "."]
    }
}

extension WindowNet {
    /// Windows no larger than the rows of the pictures that it was made for, and no shift where they are as large.
    fileprivate mutating func fitWindows() {
        var (down, across) = (height / patch, width / patch)
        for number in stages.indices {
            if number > 0 { (down, across) = ((down + 1) / 2, (across + 1) / 2) }
            let stage = stages[number]
            stages[number].window = .init(
                height: min(down, stage.window.height), width: min(across, stage.window.width))
            stages[number].shift = .init(
                height: down <= stage.window.height ? 0 : stage.shift.height,
                width: across <= stage.window.width ? 0 : stage.shift.width)
        }
    }
}
