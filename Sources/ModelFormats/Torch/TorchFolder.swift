package import HubCore

/// The PyTorch checkpoint of a folder as one set of tensors; one file, or several with an index.
/// https://github.com/huggingface/transformers/blob/main/src/transformers/utils/__init__.py (`WEIGHTS_NAME`)
package struct TorchFolder: Sendable {
    package let files: [TorchFile]

    package static let singleName = "pytorch_model.bin"
    package static let indexName = "pytorch_model.bin.index.json"
    /// Whether a path is one of the two standard names.
    package static func isEntry(_ path: String) -> Bool { path == singleName || path == indexName }

    /// Reads `pytorch_model.bin`, or else the files in the index.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a file with anything but tensors, ``ErrorCode/malformedModel`` for
    ///   a broken or missing file and for an index that disagrees with the files.
    package init(_ folder: String) throws(AIError) {
        let single = Path.join(folder, Self.singleName)
        guard try FileSystem.linkStatus(single) == nil else {
            files = [try TorchFile(weights: single)]
            return
        }
        let indexPath = Path.join(folder, Self.indexName)
        guard let index = try JSONFile.read(indexPath) else { throw .malformed(indexPath, "broken link") }
        let map = try SafetensorsFolder.weightMap(index, indexPath, ending: ".bin")
        var files: [TorchFile] = []
        var places: [String: String] = [:]
        for name in Set(map.values).sorted() {
            let path = Path.join(folder, name)
            guard FileSystem.exists(path) else {
                throw .malformed(
                    path, "the shard is missing, though \(Self.indexName) names it", expected: name,
                    found: "nothing")
            }
            let file = try TorchFile(weights: path)
            for tensor in file.tensors where places.updateValue(name, forKey: tensor.name) != nil {
                throw .malformed(
                    path, "tensor \"\(tensor.name)\" is in another shard too", tensor: tensor.name,
                    expected: "one shard", found: "two")
            }
            files.append(file)
        }
        if let (tensor, file) = map.filter({ places[$0.key] != $0.value }).min(by: { $0.key < $1.key }) {
            throw .malformed(
                indexPath, "the index has tensor \"\(tensor)\" in \(file.printable), which does not have it",
                tensor: tensor, expected: file, found: places[tensor] ?? "nothing")
        }
        self.files = files
    }
}

extension TorchFile {
    /// The only imports of a dictionary of tensors. Nothing is imported: the names say what to build.
    private static let tensorImports: Set<String> = [
        "collections.OrderedDict", "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2",
        "torch._utils._rebuild_parameter",
    ]

    private static func buildsTensors(_ found: PickleImport) -> Bool {
        if ["torch", "torch.cuda"].contains(found.module) { return TorchStorage.types[found.name] != nil }
        return tensorImports.contains(found.description)
    }

    /// Reads a checkpoint whose tensors are used where they are: a dictionary of them and nothing else.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming what else it holds, ``ErrorCode/malformedModel``.
    package init(weights path: String) throws(AIError) {
        self = try TorchFile(path)
        try checkWeights()
    }

    package func checkWeights() throws(AIError) {
        let others = imports.filter { !Self.buildsTensors($0) }
        if let other = others.first(where: { $0.danger == .dangerous }) ?? others.first {
            throw .unsupported(path, "its pickle imports \(other.description.printable), which builds no tensor")
        }
        if let fault, isReadToEnd || otherContent == nil { throw .malformed(path, fault) }
        if let otherContent { throw .unsupported(path, "it \(otherContent)") }
        if let tensor = tensors.first(where: { $0.byteRange == nil }) {
            throw .unsupported(path, "tensor \"\(tensor.name.printable)\" \(tensor.obstacle ?? "has no place")")
        }
    }
}
