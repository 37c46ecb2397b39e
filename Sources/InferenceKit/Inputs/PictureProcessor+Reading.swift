public import HubCore
import ModelFormats

extension PictureProcessor {
    /// Reads how a model's folder wants pictures: preprocessor_config.json and processor_config.json, what is nested under
    /// `image_processor` before the rest; else `preprocess_cfg` of open_clip_config.json; else `pretrained_cfg` of config.json.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` with the setting that is not known, or if no file says anything;
    ///   ``ErrorCode/malformedModel``.
    public init(folder: String) throws(AIError) {
        let configuration = try Self.file("config.json", in: folder)
        let plain = try Self.file("preprocessor_config.json", in: folder)
        let nested = try Self.file("processor_config.json", in: folder)?["image_processor"]
        if plain != nil || nested != nil {
            var members = plain?.object ?? [:]
            for inner in [members["image_processor"], nested] {
                for (name, value) in inner?.object?.members ?? [] { members[name] = value }
            }
            members["image_processor"] = nil
            let name = nested == nil ? "preprocessor_config.json" : "processor_config.json"
            self = try Self.transformers(members, configuration, path: Path.join(folder, name))
        } else if let file = try Self.file("open_clip_config.json", in: folder) {
            self = try OpenCLIPPictures(file, path: Path.join(folder, "open_clip_config.json")).processor()
        } else if let settings = configuration.flatMap(TimmPictures.settings) {
            self = try TimmPictures(settings, path: Path.join(folder, "config.json")).processor()
        } else {
            throw .unsupported(folder, "none of its files says how pictures are prepared")
        }
    }

    private static func transformers(
        _ members: JSONObject, _ configuration: JSON?, path: String
    ) throws(AIError) -> PictureProcessor {
        if members["image_processor_type"]?.string?.hasPrefix("TimmWrapper") == true,
            let settings = members["pretrained_cfg"]?.object ?? configuration?["pretrained_cfg"]?.object
        {
            return try TimmPictures(settings, path: path).processor()
        }
        return try PictureSettings(members, path: path).processor(
            modelType: configuration?["model_type"]?.string)
    }

    /// A JSON file of the folder; nil if it is not there.
    private static func file(_ name: String, in folder: String) throws(AIError) -> JSON? {
        let path = Path.join(folder, name)
        guard let bytes = try FileSystem.contents(path) else { return nil }
        let json: JSON
        do { json = try JSON.parsePython(bytes) } catch { throw .malformed(path, "\(error)") }
        guard json.object != nil else { throw .malformed(path, "it is not an object") }
        return json
    }
}
