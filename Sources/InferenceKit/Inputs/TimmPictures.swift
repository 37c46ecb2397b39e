import HubCore
import HubMedia
import ModelFormats

/// The settings of timm: `pretrained_cfg` in config.json.
struct TimmPictures: SettingValues {
    let path: String
    let members: JSONObject
    private let noted = FaultList()

    init(_ members: JSONObject, path: String) { (self.members, self.path) = (members, path) }

    func note(_ fault: String) { noted.faults.append("pretrained_cfg: \(fault)") }

    /// timm's `PretrainedCfg`.
    private static let known: Set<String> = [
        "url", "file", "state_dict", "hf_hub_id", "hf_hub_filename", "source", "architecture", "tag", "custom_load",
        "input_size", "test_input_size", "min_input_size", "fixed_input_size", "interpolation", "crop_pct",
        "test_crop_pct", "crop_mode", "mean", "std", "num_classes", "label_offset", "label_names",
        "label_descriptions",
        "pool_size", "test_pool_size", "first_conv", "classifier", "license", "description", "origin_url",
        "paper_name",
        "paper_ids", "notes",
    ]

    /// `pretrained_cfg` of a config.json; in timm's first ones its members stand beside the others.
    static func settings(_ configuration: JSON) -> JSONObject? {
        if let settings = configuration["pretrained_cfg"]?.object { return settings }
        guard configuration["model_type"] == nil, configuration["architecture"] != nil else { return nil }
        let others = ["num_features", "labels", "global_pool", "model_args"]
        return configuration.object.map { JSONObject($0.members.filter { !others.contains($0.key) }) }
    }

    func refusal(_ name: String) -> AIError {
        .unsupported(path, [RunObstacle.setting("pretrained_cfg: \(name)", value(name)?.text())])
    }

    /// timm's `transforms_imagenet_eval`.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel``, ``ErrorCode/malformedModel``.
    func processor() throws(AIError) -> PictureProcessor {
        for (name, _) in members.members where !Self.known.contains(name) { throw refusal(name) }
        var processor = PictureProcessor()
        let input = places("input_size") ?? [3, 224, 224]
        guard input.count == 3, input[0] == 3, (1...32_768).contains(input[1]), (1...32_768).contains(input[2])
        else {
            throw refusal("input_size")
        }
        let (height, width) = (input[1], input[2])
        let share = positive("crop_pct") ?? 0.875
        func scaled(_ side: Int) -> Int { max(1, Int(min(Double(side) / share, 1e6))) }
        processor.filter = try filter("interpolation", ResizeFilter.named)
        processor.factor = 1.0 / 255
        processor.means = try colors("mean", PictureFamily.imageNetMeans)
        processor.deviations = try colors("std", PictureFamily.imageNetDeviations)
        processor.crop = .init(height: height, width: width, isRoundedToEven: true)
        switch text("crop_mode") ?? "center" {
        case "center":
            let isSquare = scaled(height) == scaled(width)
            processor.size =
                isSquare
                ? .shortest(scaled(height)) : .fitting(height: scaled(height), width: scaled(width), longest: false)
        case "squash": processor.size = .exact(height: scaled(height), width: scaled(width))
        case "border":
            processor.size = .fitting(height: scaled(height), width: scaled(width), longest: true)
            processor.crop?.fill = processor.means.map {
                UInt8(min(max((255 * $0).rounded(.toNearestOrEven), 0), 255))
            }
        default: throw refusal("crop_mode")
        }
        if processor.deviations.contains(where: { Float($0) <= 0 }) { note("std is not above 0") }
        if let fault = noted.faults.first { throw .malformed(path, fault) }
        return processor
    }

    private func filter(_ key: String, _ names: [String: ResizeFilter]) throws(AIError) -> ResizeFilter {
        guard let name = text(key) else { return .bicubic }
        guard let filter = names[name] else { throw refusal(key) }
        return filter
    }

    private func colors(_ key: String, _ usual: [Double]) throws(AIError) -> [Double] {
        guard let numbers = numbers(key) else { return usual }
        guard numbers.count == 3 else { throw refusal(key) }
        return numbers
    }
}

/// The settings of open_clip: `preprocess_cfg` in open_clip_config.json.
struct OpenCLIPPictures: SettingValues {
    let path: String
    let members: JSONObject
    /// `image_size` of the model, which overrides the size.
    private let modelSize: JSON?
    private let noted = FaultList()

    init(_ file: JSON, path: String) {
        self.path = path
        members = file["preprocess_cfg"]?.object ?? [:]
        modelSize = file["model_cfg"]?["vision_cfg"]?["image_size"]
    }

    func note(_ fault: String) { noted.faults.append("preprocess_cfg: \(fault)") }

    private func refusal(_ name: String) -> AIError {
        .unsupported(path, [RunObstacle.setting("preprocess_cfg: \(name)", value(name)?.text())])
    }

    /// open_clip's `image_transform`.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel``, ``ErrorCode/malformedModel``.
    func processor() throws(AIError) -> PictureProcessor {
        let known: Set<String> = ["size", "mode", "mean", "std", "interpolation", "resize_mode", "fill_color"]
        for (name, _) in members.members where !known.contains(name) { throw refusal(name) }
        guard ["RGB", nil].contains(text("mode")) else { throw refusal("mode") }
        let (height, width) = try sides()
        var processor = PictureProcessor()
        switch text("interpolation") ?? "bicubic" {
        case "bicubic": processor.filter = .bicubic
        case "bilinear": processor.filter = .bilinear
        default: throw refusal("interpolation")
        }
        processor.factor = 1.0 / 255
        processor.means = numbers("mean") ?? PictureFamily.clipMeans
        processor.deviations = numbers("std") ?? PictureFamily.clipDeviations
        guard processor.means.count == 3 else { throw refusal("mean") }
        guard processor.deviations.count == 3, processor.deviations.allSatisfy({ Float($0) > 0 }) else {
            throw refusal("std")
        }
        switch text("resize_mode") ?? "shortest" {
        case "shortest":
            processor.size =
                height == width ? .shortest(height) : .fitting(height: height, width: width, longest: false)
            // open_clip leaves its filter out here.
            if height != width { processor.filter = .bicubic }
            processor.crop = .init(height: height, width: width, isRoundedToEven: true)
        case "squash": processor.size = .exact(height: height, width: width)
        case "longest":
            processor.size = .fitting(height: height, width: width, longest: true)
            let level = UInt8(count("fill_color", in: 0...255) ?? 0)
            processor.crop = .init(
                height: height, width: width, fill: [level, level, level], isRoundedToEven: true)
        default: throw refusal("resize_mode")
        }
        if let fault = noted.faults.first { throw .malformed(path, fault) }
        return processor
    }

    private func sides() throws(AIError) -> (height: Int, width: Int) {
        guard let size = modelSize ?? value("size") else { return (224, 224) }
        let limits = 1...32_768
        if let side = size.whole(in: limits) { return (side, side) }
        let list = (size.array ?? []).compactMap { $0.whole(in: limits) }
        guard list.count == 2 else {
            throw .malformed(path, "the size of its pictures is not a length, or two of them")
        }
        return (list[0], list[1])
    }
}

extension ResizeFilter {
    /// By the names of timm and Pillow.
    static let named: [String: ResizeFilter] = [
        "nearest": .nearest, "bilinear": .bilinear, "bicubic": .bicubic, "box": .box, "hamming": .hamming,
        "lanczos": .lanczos,
    ]
}
