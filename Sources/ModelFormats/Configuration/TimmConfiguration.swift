import HubCore

/// timm's config.json (https://huggingface.co/docs/timm), in the names of transformers'. It has no `model_type`, or
/// `timm_wrapper` where transformers wrote it: the name of the architecture says which family it is and how large.
package enum TimmConfiguration {
    /// Before the names of families.
    static let prefix = "timm:"

    /// The family of an architecture: `vit` of `vit_base_patch16_224`; of what is no vision transformer the letters that its
    /// name begins with, `resnet` of `resnet50`. A vision transformer that is not known has its own name.
    ///
    /// - Parameter architecture: with or without the tag that names weights.
    static func family(_ architecture: String) -> String {
        guard TimmVisionTransformers.arguments(architecture) == nil else { return "vit" }
        let letters = architecture.prefix { !"_.".contains($0) && !$0.isNumber }
        return letters == "vit" ? architecture : String(letters)
    }

    /// The same file with `model_type`, a class of transformers' in `architectures`, `id2label`, and what the model is made
    /// with: the arguments that its name stands for, then those of `model_args`, by timm's names, and the sizes by
    /// transformers' too. nil for a file that is not timm's.
    static func translated(_ json: JSON) -> JSON? {
        guard var members = json.object, [.string("timm_wrapper"), nil].contains(members["model_type"]),
            let named = members["architecture"]?.string, !named.isEmpty
        else { return nil }
        let architecture = named.prefix { $0 != "." }
        let family = family(String(architecture))
        // Older files have its members beside the others.
        let pretrained = members["pretrained_cfg"]?.object ?? members
        members["pretrained_cfg"] = .object(pretrained)
        var arguments = family == "vit" ? TimmVisionTransformers.arguments(String(architecture)) ?? [:] : [:]
        for (key, value) in members["model_args"]?.object?.members ?? [] { arguments[key] = value }
        if arguments["global_pool"]?.string == nil { arguments["global_pool"] = pretrained["global_pool"] }
        if pretrained["fixed_input_size"]?.bool == true, arguments["img_size"] == nil,
            let size = pretrained["input_size"]?.array, size.count == 3
        {
            arguments["img_size"] = .array(Array(size[1...]))
        }
        for (key, value) in arguments.members { members[key] = value }
        members["model_type"] = .string(prefix + family)
        addLabels(to: &members, pretrained, isBare: members["architectures"]?.array?.first?.string == bare)
        if family == "vit" { addSizes(to: &members, arguments) }
        return .object(members)
    }

    /// The class without a classifier.
    package static let bare = "TimmWrapperModel"

    /// `architectures`, and the labels of a classifier. Where labels have descriptions, people read those.
    private static func addLabels(to members: inout JSONObject, _ pretrained: JSONObject, isBare: Bool) {
        let count = members["num_classes"] ?? pretrained["num_classes"] ?? 1000
        let hasLabels = !isBare && count.whole(in: 0...0) == nil
        members["architectures"] = .array([.string(hasLabels ? "TimmWrapperForImageClassification" : bare)])
        guard hasLabels else { return }
        members["num_labels"] = count
        guard let names = members["label_names"] ?? pretrained["label_names"] ?? pretrained["labels"] else {
            return
        }
        let descriptions = members["label_descriptions"] ?? pretrained["label_descriptions"]
        let listed = names.array.map { $0.enumerated().map { ($0.offset, $0.element) } }
        let numbered = names.object.map { $0.members.compactMap { key, value in Int(key).map { ($0, value) } } }
        guard let count = count.whole(in: 1...mostLabels) else { return }
        var labels = (0..<count).map { "LABEL_\($0)" }
        for (place, name) in listed ?? numbered ?? [] where labels.indices.contains(place) {
            guard let name = name.string else { continue }
            labels[place] = descriptions?[name]?.string ?? name
        }
        members["id2label"] = .object(
            JSONObject(labels.enumerated().map { (String($0.offset), .string($0.element)) }))
    }

    private static let mostLabels = 1 << 20

    /// The sizes of a vision transformer by the names that every transformer has. Values of other types are left to who
    /// reads them.
    private static func addSizes(to members: inout JSONObject, _ arguments: JSONObject) {
        members["image_size"] = arguments["img_size"]
        members["hidden_size"] = arguments["embed_dim"] ?? 768
        members["num_hidden_layers"] = arguments["depth"] ?? 12
        members["num_attention_heads"] = arguments["num_heads"] ?? 12
        guard let width = members["hidden_size"]?.whole(in: SettingLimits.sizes) else { return }
        let inner = Double(width) * (arguments["mlp_ratio"]?.finite ?? 4)
        guard inner >= 1, inner <= Double(SettingLimits.sizes.upperBound) else { return }
        members["intermediate_size"] = .int(Int64(inner))
    }
}
