import HubMedia

/// What an image processor of transformers does where its file says nothing: the class's own defaults.
struct PictureFamily: Sendable {
    /// What only some classes do.
    enum Kind: Sendable {
        case plain
        /// Below 384 the shorter side is larger by `crop_pct`, and the middle is taken.
        case convNext
        /// Blue comes first, and nothing is normalised.
        case mobileViT
        /// Divided by the deviations again, and perhaps less one.
        case efficientNet
        /// Multiples of a number, a ratio that stays.
        case dpt
        /// The shorter side between two lengths, padding.
        case detr
        /// The same, in whole squares.
        case yolos
        /// Patches of a fixed number.
        case patches
        case floats
        case owlv2
        /// timm's own settings, within those of transformers.
        case timm
    }

    var kind = Kind.plain
    var size: PictureSize
    var filter = ResizeFilter.bicubic
    /// Whether a size that is one number means a square, and not the shorter side.
    var isNumberSquare = true
    var crop: PictureProcessor.Crop?
    /// The size of a crop that has to be asked for.
    var spareCrop: PictureProcessor.Crop?
    var normalizes = true
    var means = half, deviations = half

    static let half = [0.5, 0.5, 0.5]
    static let clipMeans = [0.48145466, 0.4578275, 0.40821073]
    static let clipDeviations = [0.26862954, 0.26130258, 0.27577711]
    static let imageNetMeans = [0.485, 0.456, 0.406]
    static let imageNetDeviations = [0.229, 0.224, 0.225]

    private static func square(_ side: Int) -> PictureSize { .exact(height: side, width: side) }
    private static func middle(_ side: Int) -> PictureProcessor.Crop { .init(height: side, width: side) }

    private static let clip = PictureFamily(
        size: .shortest(224), isNumberSquare: false, crop: middle(224), means: clipMeans, deviations: clipDeviations
    )
    private static let mobileNet = PictureFamily(
        size: .shortest(256), filter: .bilinear, isNumberSquare: false, crop: middle(224))
    private static let detr = PictureFamily(
        kind: .detr, size: .between(shortest: 800, longest: 1333), filter: .bilinear, isNumberSquare: false,
        means: imageNetMeans, deviations: imageNetDeviations)

    /// The classes, without `ImageProcessor` and what follows it.
    static let all: [String: PictureFamily] = [
        "CLIP": clip, "ChineseCLIP": clip, "Llava": clip, "Bit": clip,
        "Siglip": PictureFamily(size: square(224), isNumberSquare: false),
        "Siglip2": PictureFamily(kind: .patches, size: .patches(side: 16, most: 256), filter: .bilinear),
        "ViT": PictureFamily(size: square(224), filter: .bilinear),
        "DeiT": PictureFamily(size: square(256), crop: middle(224)),
        "Beit": PictureFamily(size: square(224), spareCrop: middle(224)),
        "Blip": PictureFamily(size: square(384), means: clipMeans, deviations: clipDeviations),
        "OwlViT": PictureFamily(
            size: square(768), spareCrop: middle(768), means: clipMeans, deviations: clipDeviations),
        "Pvt": PictureFamily(size: square(224), means: imageNetMeans, deviations: imageNetDeviations),
        "MobileNetV1": mobileNet, "MobileNetV2": mobileNet,
        "Segformer": PictureFamily(
            size: square(512), filter: .bilinear, means: imageNetMeans, deviations: imageNetDeviations),
        "ConvNext": PictureFamily(kind: .convNext, size: .shortest(384), isNumberSquare: false),
        "MobileViT": PictureFamily(
            kind: .mobileViT, size: .shortest(224), filter: .bilinear, isNumberSquare: false, crop: middle(256),
            normalizes: false),
        "EfficientNet": PictureFamily(
            kind: .efficientNet, size: square(346), spareCrop: middle(289), means: half, deviations: half),
        "DPT": PictureFamily(kind: .dpt, size: square(384)),
        "Yolos": {
            var yolos = detr
            yolos.kind = .yolos
            return yolos
        }(),
        "Detr": detr, "ConditionalDetr": detr, "DeformableDetr": detr, "GroundingDino": detr,
        "RTDetr": PictureFamily(
            kind: .detr, size: square(640), filter: .bilinear, isNumberSquare: false, normalizes: false,
            means: imageNetMeans, deviations: imageNetDeviations),
        "DINOv3ViT": PictureFamily(
            kind: .floats, size: square(224), filter: .bilinear, means: imageNetMeans,
            deviations: imageNetDeviations),
        "Owlv2": PictureFamily(
            kind: .owlv2, size: square(960), filter: .bilinear, means: clipMeans, deviations: clipDeviations),
        "TimmWrapper": PictureFamily(kind: .timm, size: .unchanged),
    ]

    /// The class that transformers takes for a `model_type` whose files name none.
    static let types: [String: String] = [
        "clip": "CLIP", "altclip": "CLIP", "chinese_clip": "ChineseCLIP", "llava": "CLIP", "siglip": "Siglip",
        "siglip2": "Siglip2", "vit": "ViT", "swin": "ViT", "swinv2": "ViT", "deit": "DeiT", "beit": "Beit",
        "data2vec-vision": "Beit", "vit_mae": "ViT", "vit_msn": "ViT",
        "dinov2": "Bit", "dinov2_with_registers": "Bit", "dinov3_vit": "DINOv3ViT", "dinov3_convnext": "DINOv3ViT",
        "convnext": "ConvNext",
        "convnextv2": "ConvNext", "resnet": "ConvNext", "regnet": "ConvNext", "mobilevit": "MobileViT",
        "mobilevitv2": "MobileViT", "mobilenet_v1": "MobileNetV1", "mobilenet_v2": "MobileNetV2",
        "efficientnet": "EfficientNet",
        "segformer": "Segformer", "rt_detr": "RTDetr", "rt_detr_v2": "RTDetr", "detr": "Detr",
        "table-transformer": "Detr", "yolos": "Yolos", "grounding-dino": "GroundingDino",
        "conditional_detr": "ConditionalDetr",
        "deformable_detr": "DeformableDetr", "dpt": "DPT", "depth_anything": "DPT", "owlvit": "OwlViT",
        "owlv2": "Owlv2", "blip": "Blip", "blip-2": "Blip", "pvt": "Pvt",
    ]

    /// The family of a class: `CLIPImageProcessor`, `CLIPImageProcessorFast`, `CLIPFeatureExtractor`.
    static func named(_ name: String) -> PictureFamily? {
        for ending in ["ImageProcessorFast", "ImageProcessorPil", "ImageProcessor", "FeatureExtractor"]
        where name.hasSuffix(ending) {
            return all[String(name.dropLast(ending.count))]
        }
        return nil
    }
}
