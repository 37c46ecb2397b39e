import HubCore
import Testing

@testable import ModelFormats

/// Configurations that name an architecture of timm, and open_clip's.
@Suite struct TimmConfigurationTests {
    private func read(_ members: JSONObject) throws -> ModelConfiguration {
        try ModelConfiguration(.object(members), path: "config.json")
    }

    /// timm's own sizes (timm 1.0.31, `create_model`).
    @Test(arguments: [
        ("vit_tiny_patch16_224", 192, 12, 3, 768), ("vit_base_patch32_clip_quickgelu_224", 768, 12, 12, 3072),
        ("vit_so400m_patch14_siglip_384", 1152, 27, 16, 4304),
        ("vit_small_patch14_dinov2.lvd142m", 384, 12, 6, 1536),
        ("vit_giant_patch14_clip_224", 1408, 40, 16, 6144), ("vit_base_patch16_224_in21k", 768, 12, 12, 3072),
        ("vit_huge_patch14_224_clip_laion2b", 1280, 32, 16, 5120), ("deit3_medium_patch16_224", 512, 12, 8, 2048),
        ("vit_so150m2_patch16_reg1_gap_448", 832, 21, 13, 2176),
    ])
    func aNameSaysTheSizes(name: String, width: Int, layers: Int, heads: Int, inner: Int) throws {
        let found = try read(["architecture": .string(name), "pretrained_cfg": .object([:])])
        #expect(found.modelType == "timm:vit")
        #expect(
            [found.hiddenSize, found.layers, found.heads, found.intermediateSize] == [width, layers, heads, inner])
        #expect(found.architectures == ["TimmWrapperForImageClassification"])
        #expect(found.outer["num_labels"] == 1000)
    }

    @Test func argumentsOfTheFileComeAfterThoseOfTheName() throws {
        let found = try read([
            "architecture": "vit_base_patch16_224", "num_classes": 0,
            "model_args": .object(["embed_dim": 64, "num_heads": 2, "img_size": 448, "global_pool": "avg"]),
            "pretrained_cfg": .object([
                "fixed_input_size": true, "input_size": .array([3, 224, 224]), "global_pool": "token",
                "num_classes": 5,
            ]),
        ])
        #expect(found.hiddenSize == 64 && found.layers == 12 && found.intermediateSize == 256)
        #expect(found.settings["image_size"] == 448 && found.settings["global_pool"] == "avg")
        #expect(found.architectures == ["TimmWrapperModel"])
    }

    @Test(arguments: [
        ("resnet50.a1_in1k", "timm:resnet"), ("mobilenetv3_small_100", "timm:mobilenetv"),
        ("vit_base_patch16_18x2_224", "timm:vit_base_patch16_18x2_224"),
        ("vit_base_patch16_dinov3", "timm:vit_base_patch16_dinov3"),
    ])
    func whatIsNoListedTransformerIsNamed(name: String, type: String) throws {
        let found = try read(["architecture": .string(name), "model_type": "timm_wrapper"])
        #expect(found.modelType == type)
    }

    @Test func labelsHaveDescriptionsAndGapsHaveNumbers() throws {
        let found = try read([
            "architecture": "vit_base_patch16_224", "num_classes": 4,
            "label_names": .object(["0": "n1", "2": "n2", "9": "n3", "x": "n4"]),
            "label_descriptions": .object(["n2": "dog"]), "pretrained_cfg": .object([:]),
        ])
        #expect(
            found.outer["id2label"]
                == .object(["0": "n1", "1": "LABEL_1", "2": "dog", "3": "LABEL_3"]))
    }

    @Test(
        arguments: [
            ["architecture": 1], ["architecture": ""],
            ["model_type": "vit", "architecture": "vit_base_patch16_224"], [:],
        ] as [JSONObject])
    func otherFilesStayAsTheyAre(members: JSONObject) {
        #expect(TimmConfiguration.translated(.object(members)) == nil)
    }

    @Test func everyLineOfTheTableIsRead() {
        #expect(TimmVisionTransformers.arguments("test_vit3_160")?["pool_include_prefix"] == true)
        #expect(TimmVisionTransformers.arguments("vit_base_patch16") != nil)
        #expect(TimmVisionTransformers.arguments("vit") == nil)
    }

    @Test func openCLIPHasTheNamesOfTransformers() throws {
        let json: JSON = .object([
            "model_cfg": .object([
                "embed_dim": 1024, "quick_gelu": true,
                "vision_cfg": .object(["width": 1280, "layers": 32, "head_width": 80, "patch_size": 14]),
                "text_cfg": .object(["width": 1024, "heads": 16, "layers": 24, "mlp_ratio": .double(2.5)]),
            ])
        ])
        let found = try read(try #require(OpenCLIPConfiguration.translated(json)?.object))
        #expect(found.modelType == "clip" && found.activation == "quick_gelu" && found.maxPositions == 77)
        #expect([found.hiddenSize, found.heads, found.layers, found.intermediateSize] == [1024, 16, 24, 2560])
        #expect(found.vision?["num_attention_heads"] == 16 && found.vision?["intermediate_size"] == 5120)
    }
}
