import HubCore
import ModelFormats

/// Every family of nets that runs.
enum Nets {
    static let all: [NetFamily] = [
        .mobileNetV3, .resNet, .resNetOfTransformers, .efficientNet, .mobileNetV2, .convNeXt,
        .convNeXtOfTransformers,
        .convNeXt2OfTransformers, .dinov3ConvNeXt, .mobileViT, .mobileViTOfTransformers,
        .mobileNet1OfTransformers, .mobileNet2OfTransformers, .efficientNetOfTransformers, .regNet,
        .regNetOfTransformers, .edgeNeXt, .swin, .swin2, .swinOfTimm, .swin2OfTimm, .segFormer, .depthAnything,
        .dpt,
    ]

    /// The family of a configuration; nil if there is none for it.
    static func of(_ configuration: ModelConfiguration) -> NetFamily? {
        guard !configuration.isGGUF else { return nil }
        if let name = configuration.timmName { return all.first { $0.has(name) } }
        return configuration.modelType.flatMap { type in all.first { $0.types.contains(type) } }
    }
}
