extension ModelSources {
    private static let openCLIPNames = ["open_clip_model.safetensors", "open_clip_pytorch_model.bin"]

    /// The weights of a folder that has open_clip's files (https://github.com/mlfoundations/open_clip) and not those of
    /// transformers; nil for another one.
    ///
    /// - Parameter paths: the folder's files.
    package static func openCLIPWeights(_ paths: some Sequence<String>) -> String? {
        let names = Set(paths)
        guard names.contains(OpenCLIPConfiguration.name), !names.contains("config.json"),
            !names.contains(where: { SafetensorsFolder.isEntry($0) || TorchFolder.isEntry($0) })
        else { return nil }
        return openCLIPNames.first(where: names.contains)
    }
}
