import HubCore

/// open_clip_config.json (https://github.com/mlfoundations/open_clip), in the names of transformers' CLIP.
enum OpenCLIPConfiguration {
    static let name = "open_clip_config.json"

    /// The same file as config.json of a CLIP, with all that it says of the model under `open_clip`; nil for a file that is
    /// not open_clip's. Values of other types are left to who reads them.
    static func translated(_ json: JSON) -> JSON? {
        guard let model = json["model_cfg"]?.object else { return nil }
        let activation: JSON = model["quick_gelu"]?.bool == true ? "quick_gelu" : "gelu"
        var texts = part(model["text_cfg"], width: 512, activation)
        let text = model["text_cfg"]
        texts["num_attention_heads"] = text?["heads"] ?? 8
        texts["vocab_size"] = text?["vocab_size"] ?? 49408
        texts["max_position_embeddings"] = text?["context_length"] ?? 77
        // The largest id is the end of a text where none is told.
        texts["eos_token_id"] = text?["pool_type"]?.string == "eos" ? text?["eos_id"] ?? 2 : 2
        var pictures = part(model["vision_cfg"], width: 768, activation)
        let vision = model["vision_cfg"]
        if let width = pictures["hidden_size"]?.whole(in: SettingLimits.sizes),
            let each = (vision?["head_width"] ?? 64).whole(in: SettingLimits.sizes), each <= width
        {
            pictures["num_attention_heads"] = .int(Int64(width / each))
        }
        pictures["image_size"] = vision?["image_size"] ?? 224
        pictures["patch_size"] = vision?["patch_size"] ?? 16
        let members: JSONObject = [
            "model_type": "clip", "architectures": .array(["CLIPModel"]), "projection_dim": model["embed_dim"],
            "text_config": .object(texts), "vision_config": .object(pictures), "open_clip": .object(model),
        ]
        return .object(members)
    }

    /// What both sides have.
    private static func part(_ told: JSON?, width: Int64, _ activation: JSON) -> JSONObject {
        var members = JSONObject()
        members["hidden_size"] = told?["width"] ?? .int(width)
        // A list is of a network of convolutions, which is not run.
        members["num_hidden_layers"] = told?["layers"].flatMap { $0.array == nil ? $0 : nil } ?? 12
        members["hidden_act"] = activation
        members["layer_norm_eps"] = told?["norm_kwargs"]?["eps"]
        let ratio = told?["mlp_ratio"]?.finite ?? 4
        if let width = members["hidden_size"]?.whole(in: SettingLimits.sizes) {
            let inner = Double(width) * ratio
            if inner >= 1, inner <= Double(SettingLimits.sizes.upperBound) {
                members["intermediate_size"] = .int(Int64(inner))
            }
        }
        return members
    }
}
