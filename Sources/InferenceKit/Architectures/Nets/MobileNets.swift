import HubCore
import ModelFormats

/// MobileNetV3 (https://arxiv.org/abs/1905.02244), MobileNetV2 (https://arxiv.org/abs/1801.04381), EfficientNet
/// (https://arxiv.org/abs/1905.11946) and its second version (https://arxiv.org/abs/2104.00298), as timm has them.
extension NetFamily {
    static let mobileNetV3 = mobile("MobileNetV3", ["mobilenetv"], MobilePlan.version3)
    static let efficientNet = mobile(
        "EfficientNet", ["efficientnet", "efficientnetv", "tf"],
        MobilePlan.efficient)
    static let mobileNetV2 = mobile("MobileNetV2", [], MobilePlan.version2)

    private static func mobile(
        _ name: String, _ types: [String], _ plan: @escaping @Sendable (String) -> MobilePlan?
    ) -> NetFamily {
        NetFamily(name, timm: types, knows: { plan($0) != nil }) { settings throws(AIError) in
            guard var plan = plan(settings.timmName) else {
                throw .malformed(settings.path, "architecture is \(settings.timmName.printable)")
            }
            try plan.change(&settings)
            var net = plan.net
            try settings.completeTimm(
                &net, classifier: "classifier", first: "conv_stem.weight", arguments: MobilePlan.arguments)
            return net
        }
    }
}

extension MobilePlan {
    /// A plan whose name may begin with `tf_`.
    fileprivate static func either(_ name: String, _ plain: (String) -> MobilePlan?) -> MobilePlan? {
        guard name.hasPrefix("tf_") else { return plain(name) }
        var plan = plain(String(name.dropFirst(3)))
        plan?.isPaddedToSame = true
        plan?.epsilon = 1e-3
        return plan
    }

    /// What `model_args` may change.
    fileprivate static let arguments: Set<String> = ["pad_type", "bn_eps"]

    /// - Throws: ``ErrorCode/malformedModel``.
    fileprivate mutating func change(_ settings: inout Settings) throws(AIError) {
        guard settings.has("model_args"), let members = settings.object("model_args") else { return }
        let arguments = try settings.part(members)
        if let padding = arguments.text("pad_type") {
            if !["", "same"].contains(padding) { settings.refuse("model_args: pad_type", padding) }
            isPaddedToSame = padding == "same"
        }
        epsilon = arguments.positive("bn_eps") ?? epsilon
    }

    private func scaled(_ width: Double, _ depth: Double = 1) -> MobilePlan {
        var plan = self
        (plan.width, plan.depths) = (width, [depth])
        return plan
    }

    // MARK: MobileNetV3

    /// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/mobilenetv3.py
    fileprivate static let version3: @Sendable (String) -> MobilePlan? = { name in
        either(name) { name in
            switch name {
            case "mobilenetv3_large_075": large.narrow(0.75)
            case "mobilenetv3_large_100": large.narrow(1)
            case "mobilenetv3_large_150d": large.narrow(1.5, 1.2)
            case "mobilenetv3_small_050": small.narrow(0.5)
            case "mobilenetv3_small_075": small.narrow(0.75)
            case "mobilenetv3_small_100": small.narrow(1)
            case "mobilenetv3_large_minimal_100": minimalLarge.narrow(1)
            case "mobilenetv3_small_minimal_100": minimalSmall.narrow(1)
            case "mobilenetv3_rw": older
            default: nil
            }
        }
    }

    /// Below three quarters the first plane keeps its channels.
    private func narrow(_ width: Double, _ depth: Double = 1) -> MobilePlan {
        var plan = scaled(width, depth)
        plan.keepsStem = width < 0.75
        return plan
    }

    private static let large = MobilePlan(
        stages: [
            ["ds_r1_k3_s1_e1_c16_nre"], ["ir_r1_k3_s2_e4_c24_nre", "ir_r1_k3_s1_e3_c24_nre"],
            ["ir_r3_k5_s2_e3_c40_se0.25_nre"],
            ["ir_r1_k3_s2_e6_c80", "ir_r1_k3_s1_e2.5_c80", "ir_r2_k3_s1_e2.3_c80"], ["ir_r2_k3_s1_e6_c112_se0.25"],
            ["ir_r3_k5_s2_e6_c160_se0.25"], ["cn_r1_k1_s1_c960"],
        ],
        stem: 16, head: .afterMean(1280, hasBias: true), activation: .hardSwish, squeezing: .ofExpanded)

    private static let small = MobilePlan(
        stages: [
            ["ds_r1_k3_s2_e1_c16_se0.25_nre"], ["ir_r1_k3_s2_e4.5_c24_nre", "ir_r1_k3_s1_e3.67_c24_nre"],
            ["ir_r1_k5_s2_e4_c40_se0.25", "ir_r2_k5_s1_e6_c40_se0.25"], ["ir_r2_k5_s1_e3_c48_se0.25"],
            ["ir_r3_k5_s2_e6_c96_se0.25"], ["cn_r1_k1_s1_c576"],
        ],
        stem: 16, head: .afterMean(1024, hasBias: true), activation: .hardSwish, squeezing: .ofExpanded)

    private static let minimalLarge = MobilePlan(
        stages: [
            ["ds_r1_k3_s1_e1_c16"], ["ir_r1_k3_s2_e4_c24", "ir_r1_k3_s1_e3_c24"], ["ir_r3_k3_s2_e3_c40"],
            ["ir_r1_k3_s2_e6_c80", "ir_r1_k3_s1_e2.5_c80", "ir_r2_k3_s1_e2.3_c80"], ["ir_r2_k3_s1_e6_c112"],
            ["ir_r3_k3_s2_e6_c160"], ["cn_r1_k1_s1_c960"],
        ],
        stem: 16, head: .afterMean(1280, hasBias: true), activation: .relu)

    private static let minimalSmall = MobilePlan(
        stages: [
            ["ds_r1_k3_s2_e1_c16"], ["ir_r1_k3_s2_e4.5_c24", "ir_r1_k3_s1_e3.67_c24"],
            ["ir_r1_k3_s2_e4_c40", "ir_r2_k3_s1_e6_c40"], ["ir_r2_k3_s1_e3_c48"], ["ir_r3_k3_s2_e6_c96"],
            ["cn_r1_k1_s1_c576"],
        ],
        stem: 16, head: .afterMean(1024, hasBias: true), activation: .relu)

    private static let older: MobilePlan = {
        var plan = large
        plan.stages[0] = ["ds_r1_k3_s1_e1_c16_nre_noskip"]
        (plan.head, plan.squeezing, plan.epsilon) = (.afterMean(1280, hasBias: false), .plain, 1e-3)
        return plan
    }()

    // MARK: MobileNetV2

    /// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/efficientnet.py
    fileprivate static let version2: @Sendable (String) -> MobilePlan? = { name in
        let widths = [
            "mobilenetv2_035": 0.35, "mobilenetv2_050": 0.5, "mobilenetv2_075": 0.75, "mobilenetv2_100": 1,
            "mobilenetv2_140": 1.4, "mobilenetv2_110d": 1.1, "mobilenetv2_120d": 1.2,
        ]
        guard let width = widths[name] else { return nil }
        let isDeep = name.hasSuffix("d")
        var plan = MobilePlan(
            stages: [
                ["ds_r1_k3_s1_c16"], ["ir_r2_k3_s2_e6_c24"], ["ir_r3_k3_s2_e6_c32"], ["ir_r4_k3_s2_e6_c64"],
                ["ir_r3_k3_s1_e6_c96"], ["ir_r3_k3_s2_e6_c160"], ["ir_r1_k3_s1_e6_c320"],
            ],
            stem: 32, head: .beforeMean(1280), activation: .relu6
        ).scaled(width, isDeep ? (width == 1.1 ? 1.2 : 1.4) : 1)
        (plan.keepsStem, plan.keepsEnds) = (isDeep, isDeep)
        if !isDeep { plan.head = .beforeMean(max(1280, plan.rounded(1280))) }
        return plan
    }

    // MARK: EfficientNet

    fileprivate static let efficient: @Sendable (String) -> MobilePlan? = { name in
        either(name) { name in
            if name == "test_efficientnet" { return tested }
            if let (width, depth) = sizes[name] { return first(width, depth) }
            if name.hasPrefix("efficientnet_lite"), let number = Int(name.dropFirst(17)) {
                return sizes["efficientnet_b\(number)"].flatMap { number < 5 ? lite.scaled($0, $1) : nil }
            }
            if name.hasPrefix("efficientnetv2_b"), let number = Int(name.dropFirst(16)) {
                return sizes["efficientnet_b\(number)"].flatMap { number < 4 ? base($0, $1) : nil }
            }
            return second[name]
        }
    }

    /// Factors of channels and blocks.
    private static let sizes: [String: (Double, Double)] = [
        "efficientnet_b0": (1, 1), "efficientnet_b1": (1, 1.1), "efficientnet_b2": (1.1, 1.2),
        "efficientnet_b3": (1.2, 1.4), "efficientnet_b4": (1.4, 1.8), "efficientnet_b5": (1.6, 2.2),
        "efficientnet_b6": (1.8, 2.6), "efficientnet_b7": (2, 3.1), "efficientnet_b8": (2.2, 3.6),
        "efficientnet_l2": (4.3, 5.3),
    ]

    private static func first(_ width: Double, _ depth: Double) -> MobilePlan {
        var plan = MobilePlan(
            stages: [
                ["ds_r1_k3_s1_e1_c16_se0.25"], ["ir_r2_k3_s2_e6_c24_se0.25"], ["ir_r2_k5_s2_e6_c40_se0.25"],
                ["ir_r3_k3_s2_e6_c80_se0.25"], ["ir_r3_k5_s1_e6_c112_se0.25"], ["ir_r4_k5_s2_e6_c192_se0.25"],
                ["ir_r1_k3_s1_e6_c320_se0.25"],
            ],
            stem: 32, head: .beforeMean(1280), activation: .silu
        ).scaled(width, depth)
        plan.head = .beforeMean(plan.rounded(1280))
        return plan
    }

    private static let lite: MobilePlan = {
        var plan = MobilePlan(
            stages: [
                ["ds_r1_k3_s1_e1_c16"], ["ir_r2_k3_s2_e6_c24"], ["ir_r2_k5_s2_e6_c40"], ["ir_r3_k3_s2_e6_c80"],
                ["ir_r3_k5_s1_e6_c112"], ["ir_r4_k5_s2_e6_c192"], ["ir_r1_k3_s1_e6_c320"],
            ],
            stem: 32, head: .beforeMean(1280), activation: .relu6)
        (plan.keepsStem, plan.keepsEnds) = (true, true)
        return plan
    }()

    private static func base(_ width: Double, _ depth: Double) -> MobilePlan {
        var plan = MobilePlan(
            stages: [
                ["cn_r1_k3_s1_e1_c16_skip"], ["er_r2_k3_s2_e4_c32"], ["er_r2_k3_s2_e4_c48"],
                ["ir_r3_k3_s2_e4_c96_se0.25"], ["ir_r5_k3_s1_e6_c112_se0.25"], ["ir_r8_k3_s2_e6_c192_se0.25"],
            ],
            stem: 32, head: .beforeMean(1280), activation: .silu
        ).scaled(width, depth)
        plan.roundLimit = 0
        plan.head = .beforeMean(plan.rounded(1280))
        return plan
    }

    private static let second: [String: MobilePlan] = {
        let small = MobilePlan(
            stages: [
                ["cn_r2_k3_s1_e1_c24_skip"], ["er_r4_k3_s2_e4_c48"], ["er_r4_k3_s2_e4_c64"],
                ["ir_r6_k3_s2_e4_c128_se0.25"], ["ir_r9_k3_s1_e6_c160_se0.25"], ["ir_r15_k3_s2_e6_c256_se0.25"],
            ],
            stem: 24, head: .beforeMean(1280), activation: .silu)
        func like(_ stages: [String], stem: Int) -> MobilePlan {
            var plan = small
            (plan.stages, plan.stem) = (stages.map { [$0] }, stem)
            return plan
        }
        var (tiny, own) = (small.scaled(0.8, 0.9), small)
        tiny.head = .beforeMean(tiny.rounded(1280))
        own.stages[0] = ["er_r2_k3_s1_e1_c24"]
        own.stages[5] = ["ir_r15_k3_s2_e6_c272_se0.25"]
        own.head = .beforeMean(1792)
        var middle = own.scaled(1.2)
        middle.depths = [1.2, 1.2, 1.2, 1.2, 1.6, 1.6]
        middle.head = .beforeMean(middle.rounded(1792))
        return [
            "efficientnetv2_s": small, "efficientnetv2_rw_t": tiny, "efficientnetv2_rw_s": own,
            "efficientnetv2_rw_m": middle,
            "efficientnetv2_m": like(
                [
                    "cn_r3_k3_s1_e1_c24_skip", "er_r5_k3_s2_e4_c48", "er_r5_k3_s2_e4_c80",
                    "ir_r7_k3_s2_e4_c160_se0.25", "ir_r14_k3_s1_e6_c176_se0.25", "ir_r18_k3_s2_e6_c304_se0.25",
                    "ir_r5_k3_s1_e6_c512_se0.25",
                ], stem: 24),
            "efficientnetv2_l": like(
                [
                    "cn_r4_k3_s1_e1_c32_skip", "er_r7_k3_s2_e4_c64", "er_r7_k3_s2_e4_c96",
                    "ir_r10_k3_s2_e4_c192_se0.25", "ir_r19_k3_s1_e6_c224_se0.25", "ir_r25_k3_s2_e6_c384_se0.25",
                    "ir_r7_k3_s1_e6_c640_se0.25",
                ], stem: 32),
            "efficientnetv2_xl": like(
                [
                    "cn_r4_k3_s1_e1_c32_skip", "er_r8_k3_s2_e4_c64", "er_r8_k3_s2_e4_c96",
                    "ir_r16_k3_s2_e4_c192_se0.25", "ir_r24_k3_s1_e6_c256_se0.25", "ir_r32_k3_s2_e6_c512_se0.25",
                    "ir_r8_k3_s1_e6_c640_se0.25",
                ], stem: 32),
        ]
    }()

    /// A small one that timm is tested with.
    private static let tested: MobilePlan = {
        var plan = MobilePlan(
            stages: [
                ["cn_r1_k3_s1_e1_c16_skip"], ["er_r1_k3_s2_e4_c24"], ["er_r1_k3_s2_e4_c32"],
                ["ir_r1_k3_s2_e4_c48_se0.25"], ["ir_r1_k3_s2_e4_c64_se0.25"],
            ],
            stem: 24, head: .beforeMean(256), activation: .silu)
        plan.roundLimit = 0
        return plan
    }()
}
