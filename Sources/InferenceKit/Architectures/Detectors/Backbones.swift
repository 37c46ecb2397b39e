import HubCore
import ModelFormats

/// Convolutional nets that make the map of a picture which a transformer reads.
enum Backbones {
    private static let types: Set<String> = ["detr", "table-transformer"]

    /// That of a configuration; nil for a model without one.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    static func of(_ configuration: ModelConfiguration, stored: Set<String>?) throws(AIError) -> ConvolutionNet? {
        guard !configuration.isGGUF, let type = configuration.modelType, types.contains(type) else { return nil }
        var settings = Settings(configuration, stored: stored)
        do throws(AIError) {
            let net = try settings.backbone()
            if let fault = settings.fault { throw .malformed(settings.path, fault) }
            return net
        } catch {
            throw settings.fault.map { .malformed(settings.path, $0) } ?? error
        }
    }
}

/// https://github.com/huggingface/transformers/blob/main/src/transformers/models/detr/modeling_detr.py (`DetrConvEncoder`)
extension Settings {
    /// The net before a detector: one of timm's by its name, or transformers' ResNet. What is not known is refused.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    mutating func backbone() throws(AIError) -> ConvolutionNet {
        if flag("dilation") == true { refuse("dilation", "true") }
        if let channels = count("num_channels"), channels != 3 { refuse("num_channels", "\(channels)") }
        var net: ConvolutionNet
        if let members = object("backbone_config"), !members.members.isEmpty {
            net = try backbone(members)
        } else if flag("use_timm_backbone") ?? true {
            if let arguments = object("backbone_kwargs") {
                checkMaps(
                    arguments, "backbone_kwargs", last: 4, known: ["out_indices", "in_chans", "num_channels"])
            }
            net = try timmBackbone(text("backbone") ?? "resnet50", "backbone")
        } else {
            var part = try part(["model_type": "resnet"])
            net = try part.resNet()
        }
        net.prefix = "model.backbone.conv_encoder.model."
        try net.check(path)
        return net
    }

    private mutating func backbone(_ members: JSONObject) throws(AIError) -> ConvolutionNet {
        var part = try part(members)
        let type = part.text("model_type") ?? ""
        if let channels = part.count("num_channels"), channels != 3 {
            refuse("backbone_config: num_channels", "\(channels)")
        }
        switch type {
        case "timm_backbone":
            checkMaps(members, "backbone_config", last: 4, known: nil)
            return try timmBackbone(part.text("backbone") ?? "resnet50", "backbone_config: backbone")
        case "resnet":
            let net = try part.resNet()
            obstacles += part.obstacles
            let stages = part.value("depths")?.array?.count ?? 4
            checkMaps(members, "backbone_config", last: stages, known: nil)
            if let last = part.texts("out_features")?.last, last != "stage\(stages)" {
                refuse("backbone_config: out_features", last)
            }
            return net
        default:
            refuse("backbone_config: model_type", type)
            return ResNetPlan.usual.net
        }
    }

    private mutating func timmBackbone(_ name: String, _ key: String) throws(AIError) -> ConvolutionNet {
        // Which weights they were may stand behind a point.
        let plain = name.split(separator: ".").first.map(String.init) ?? name
        guard let plan = ResNetPlan.named[plain] else {
            refuse(key, name)
            return ResNetPlan.usual.net
        }
        return plan.net
    }

    /// Refuses what makes another map than the last one, of places of 32 pixels.
    ///
    /// - Parameters:
    ///   - last: the number of the last map.
    ///   - known: the settings that may be there; nil for any.
    private mutating func checkMaps(_ members: JSONObject, _ name: String, last: Int, known: Set<String>?) {
        for (key, value) in members.members where !value.isNull {
            switch key {
            case "out_indices":
                guard let number = value.array?.last?.whole(in: -1...last), number == last || number == -1 else {
                    refuse("\(name): out_indices", value.text())
                    continue
                }
            case "output_stride": if value != 32 { refuse("\(name): output_stride", value.text()) }
            case "in_chans": if value != 3 { refuse("\(name): in_chans", value.text()) }
            default: if let known, !known.contains(key) { refuse("\(name): \(key)", value.text()) }
            }
        }
    }
}
