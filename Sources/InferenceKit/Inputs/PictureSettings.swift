import HubCore
import HubMedia
import ModelFormats

/// The settings of an image processor of transformers, old and new.
struct PictureSettings: SettingValues {
    let path: String
    let members: JSONObject
    private let noted = FaultList()

    init(_ members: JSONObject, path: String) { (self.members, self.path) = (members, path) }

    func note(_ fault: String) { noted.faults.append(fault) }

    /// What the numbers do not depend on, or what only training uses.
    private static let silent: Set<String> = [
        "image_processor_type", "feature_extractor_type", "processor_class", "auto_map", "do_convert_rgb",
        "data_format",
        "input_data_format", "device", "return_tensors", "disable_grouping", "image_seq_length",
        "default_to_square",
        "do_reduce_labels", "reduce_labels", "format", "do_convert_annotations", "_valid_processor_keys",
        "use_fast",
        "model_input_names", "transformers_version",
        // Read with the size.
        "size", "max_size", "crop_size", "resample",
        "do_resize", "do_center_crop", "do_rescale", "rescale_factor", "do_normalize", "image_mean", "image_std",
    ]

    /// What a kind reads besides.
    private static func known(_ kind: PictureFamily.Kind) -> Set<String> {
        switch kind {
        case .plain, .floats: []
        case .convNext: ["crop_pct"]
        case .mobileViT: ["do_flip_channel_order", "do_flip_channels"]
        case .efficientNet: ["rescale_offset", "include_top"]
        case .dpt: ["keep_aspect_ratio", "ensure_multiple_of", "do_pad", "size_divisor"]
        case .detr, .yolos: ["do_pad", "pad_and_return_pixel_mask", "pad_size"]
        case .patches: ["patch_size", "max_num_patches"]
        case .owlv2: ["do_pad"]
        case .timm: ["pretrained_cfg", "architecture"]
        }
    }

    /// Refuses a setting by its name.
    func refusal(_ name: String) -> AIError {
        let value = value(name)?.text(), isShort = (value?.utf8.count ?? 0) <= 40
        return .unsupported(path, [RunObstacle.setting(name, isShort ? value : nil)])
    }

    /// What is done with pictures.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` with the setting that is not known; ``ErrorCode/malformedModel`` for a value
    ///   that is none.
    func processor(modelType: String?) throws(AIError) -> PictureProcessor {
        let family = try family(modelType)
        let known = Self.silent.union(Self.known(family.kind))
        for (name, value) in members.members where !known.contains(name) && !Self.isNothing(value) {
            throw refusal(name)
        }
        var processor = PictureProcessor()
        if flag("do_resize") ?? true {
            processor.size = try size("size", family.size, isNumberSquare: family.isNumberSquare)
            if let resample = count("resample", in: 0...5) {
                processor.filter = ResizeFilter(rawValue: resample) ?? family.filter
            } else {
                processor.filter = family.filter
            }
        }
        try readCrop(&processor, family)
        readNumbers(&processor, family)
        try readOwn(&processor, family.kind)
        if let fault = noted.faults.first { throw .malformed(path, fault) }
        return processor
    }

    /// Null, false and 0 ask for nothing.
    private static func isNothing(_ value: JSON) -> Bool { [.null, false, 0].contains(value) }

    private func family(_ modelType: String?) throws(AIError) -> PictureFamily {
        if let name = text("image_processor_type") ?? text("feature_extractor_type") {
            if let family = PictureFamily.named(name) { return family }
            throw .unsupported(path, "the image processor \(name.printable) is not supported")
        }
        if let name = modelType.flatMap({ PictureFamily.types[$0] }), let family = PictureFamily.all[name] {
            return family
        }
        throw .unsupported(path, "it names no image processor that is supported")
    }

    /// A size in any of its forms: a number, two of them, or an object.
    private func size(_ key: String, _ usual: PictureSize, isNumberSquare: Bool) throws(AIError) -> PictureSize {
        guard let value = value(key) else { return usual }
        let limits = 1...32_768
        if let number = value.whole(in: limits) {
            if flag("default_to_square") ?? isNumberSquare { return .exact(height: number, width: number) }
            guard let longest = count("max_size", in: limits) else { return .shortest(number) }
            return .between(shortest: number, longest: longest)
        }
        if let list = value.array?.map({ $0.whole(in: limits) }), let first = list.first.flatMap({ $0 }) {
            if list.count == 1 { return .shortest(first) }
            if list.count == 2, let width = list[1] { return .exact(height: first, width: width) }
        }
        guard let object = value.object else { throw .malformed(path, "\(key) is not a size") }
        var sides: [String: Int] = [:]
        for (name, side) in object.members where !side.isNull {
            guard let side = side.whole(in: limits) else {
                throw .malformed(path, "\(key): \(name.printable) is not a length")
            }
            sides[name] = side
        }
        switch (Set(sides.keys), sides["height"], sides["width"], sides["shortest_edge"], sides["longest_edge"]) {
        case (["height", "width"], let height?, let width?, _, _): return .exact(height: height, width: width)
        case (["shortest_edge"], _, _, let side?, _): return .shortest(side)
        case (["shortest_edge", "longest_edge"], _, _, let side?, let longest?):
            return .between(shortest: side, longest: longest)
        default:
            if let height = sides["max_height"], let width = sides["max_width"], sides.count == 2 {
                return .within(height: height, width: width)
            }
            throw refusal(key)
        }
    }

    private func readCrop(_ processor: inout PictureProcessor, _ family: PictureFamily) throws(AIError) {
        guard flag("do_center_crop") ?? (family.crop != nil) else { return }
        guard let usual = family.crop ?? family.spareCrop else {
            guard has("crop_size") else { throw refusal("do_center_crop") }
            return processor.crop = try crop()
        }
        processor.crop = has("crop_size") ? try crop() : usual
    }

    private func crop() throws(AIError) -> PictureProcessor.Crop {
        guard case .exact(let height, let width) = try size("crop_size", .unchanged, isNumberSquare: true) else {
            throw refusal("crop_size")
        }
        return .init(height: height, width: width)
    }

    private func readNumbers(_ processor: inout PictureProcessor, _ family: PictureFamily) {
        if flag("do_rescale") ?? true { processor.factor = positive("rescale_factor") ?? 1.0 / 255 }
        guard family.kind != .mobileViT, flag("do_normalize") ?? family.normalizes else { return }
        processor.means = colors("image_mean") ?? family.means
        processor.deviations = colors("image_std") ?? family.deviations
        if processor.deviations.contains(where: { Float($0) <= 0 }) { note("image_std is not above 0") }
    }

    /// A number for each colour; one for all of them.
    private func colors(_ key: String) -> [Double]? {
        if let number = value(key)?.finite { return [number, number, number] }
        guard let numbers = numbers(key) else { return nil }
        if numbers.count == 1 { return [numbers[0], numbers[0], numbers[0]] }
        if numbers.count != 3 { note("\(key) does not have three numbers") }
        return numbers.count == 3 ? numbers : nil
    }

    /// What only this kind does.
    private func readOwn(_ processor: inout PictureProcessor, _ kind: PictureFamily.Kind) throws(AIError) {
        switch kind {
        case .plain: break
        case .convNext: try readConvNext(&processor)
        case .mobileViT: processor.isBlueFirst = flag("do_flip_channel_order") ?? flag("do_flip_channels") ?? true
        case .efficientNet: readEfficientNet(&processor)
        case .dpt:
            if case .exact(let height, let width) = processor.size {
                processor.size = .multiples(
                    height: height, width: width, of: count("ensure_multiple_of") ?? 1,
                    keepsRatio: flag("keep_aspect_ratio") ?? false)
            } else if processor.size != .unchanged {
                throw refusal("size")
            }
            if flag("do_pad") ?? false { processor.padding = .around(multiple: count("size_divisor") ?? 1) }
        case .detr, .yolos:
            // A number alone is the shorter side, and the longer has the class's limit.
            if case .shortest(let side) = processor.size, value("size")?.object == nil {
                processor.size = .between(shortest: side, longest: 1333)
            }
            if kind == .yolos, case .between(let shortest, let longest) = processor.size {
                processor.size = .wholeBetween(shortest: shortest, longest: longest, of: 16)
            }
            // A picture alone is its batch's largest.
            guard flag("do_pad") ?? flag("pad_and_return_pixel_mask") ?? true, has("pad_size") else { return }
            guard case .exact(let height, let width) = try size("pad_size", .unchanged, isNumberSquare: true) else {
                throw refusal("pad_size")
            }
            processor.padding = .to(height: height, width: width)
        case .patches:
            let side = count("patch_size", in: 1...1024) ?? 16
            processor.patchSide = side
            if processor.size != .unchanged {
                processor.size = .patches(side: side, most: count("max_num_patches", in: 1...65_536) ?? 256)
            }
        case .floats:
            processor.arithmetic = .floats
            // There is no other filter for floats.
            guard [.bilinear, .bicubic].contains(processor.filter) else { throw refusal("resample") }
            guard processor.crop == nil else { throw refusal("do_center_crop") }
        case .owlv2:
            processor.arithmetic = .blurredSquare
            guard flag("do_pad") ?? true else { throw refusal("do_pad") }
            // A smaller one would be blurred over more than there is.
            guard case .exact(let height, let width) = processor.size, height == width, height >= 32 else {
                throw refusal("size")
            }
            guard processor.filter == .bilinear else { throw refusal("resample") }
            guard processor.crop == nil else { throw refusal("do_center_crop") }
        case .timm: throw .malformed(path, "its pretrained_cfg is missing")
        }
    }

    /// What is less one and divided again is so after the rest.
    private func readEfficientNet(_ processor: inout PictureProcessor) {
        if flag("rescale_offset") ?? false, flag("do_rescale") ?? true {
            processor.means = processor.means.map { $0 + 1 }
        }
        guard flag("include_top") ?? true else { return }
        let deviations = colors("image_std") ?? PictureFamily.half
        processor.deviations = zip(processor.deviations, deviations).map { $0 * $1 }
        if processor.deviations.contains(where: { Float($0) <= 0 }) { note("image_std is not above 0") }
    }

    private func readConvNext(_ processor: inout PictureProcessor) throws(AIError) {
        guard case .shortest(let side) = processor.size else {
            if processor.size != .unchanged { throw refusal("size") }
            return
        }
        guard side < 384 else { return processor.size = .exact(height: side, width: side) }
        guard processor.crop == nil else { throw refusal("do_center_crop") }
        let resized = Double(side) / (positive("crop_pct") ?? 224.0 / 256)
        processor.size = .shortest(Int(min(resized, Double(SettingLimits.sizes.upperBound))))
        processor.crop = .init(height: side, width: side)
    }
}
