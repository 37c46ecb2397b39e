package import HubCore

/// The safetensors files of a folder as one set of tensors; one file, or several with an index.
package struct SafetensorsFolder: Sendable {
    /// One file and its header.
    package struct Shard: Sendable {
        package let path: String
        package let fileSize: Int64
        package let header: SafetensorsHeader

        package init(path: String, fileSize: Int64, header: SafetensorsHeader) {
            self.path = path
            self.fileSize = fileSize
            self.header = header
        }
    }

    /// A tensor and the shard that holds it.
    package struct Entry: Sendable {
        package let shard: Int
        package let info: TensorInfo
    }

    package let shards: [Shard]
    package let tensors: [String: Entry]

    package static let singleName = "model.safetensors"
    package static let indexName = "model.safetensors.index.json"
    /// Whether a path is one of the two standard names.
    package static func isEntry(_ path: String) -> Bool { path == singleName || path == indexName }

    /// Reads the headers of the files in the index, or else of `model.safetensors`.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a missing shard, an index that disagrees with the headers, or a
    ///   broken header; ``ErrorCode/fileNotFound`` if the folder has no safetensors file.
    package init(_ folder: String) throws(AIError) {
        let indexPath = Path.join(folder, Self.indexName)
        let weightMap = try JSONFile.read(indexPath).map { json throws(AIError) in
            try Self.weightMap(json, indexPath)
        }
        if weightMap == nil, try FileSystem.linkStatus(indexPath) != nil {
            throw .malformed(indexPath, "broken link")
        }
        var names = [Self.singleName]
        if let weightMap { names = Set(weightMap.values).sorted() }

        var shards: [Shard] = []
        for name in names {
            let path = Path.join(folder, name)
            guard let status = try FileSystem.status(path) else {
                throw Self.missing(name, path, folder, isShard: weightMap != nil)
            }
            shards.append(Shard(path: path, fileSize: status.size, header: try SafetensorsHeader(file: path)))
        }
        try self.init(shards, weightMap: weightMap, indexPath: indexPath)
    }

    /// Combines headers that have been read already.
    ///
    /// - Parameter weightMap: the index; nil for a single file without one.
    /// - Throws: ``ErrorCode/malformedModel`` for a tensor that is in two shards or not in the shard given by the
    ///   index.
    package init(_ shards: [Shard], weightMap: [String: String]?, indexPath: String) throws(AIError) {
        var tensors: [String: Entry] = [:]
        for (index, shard) in shards.enumerated() {
            for info in shard.header.tensors {
                guard tensors[info.name] == nil else {
                    throw .malformed(
                        shard.path, "tensor \"\(info.name)\" is in another shard too", tensor: info.name,
                        expected: "one shard", found: "two")
                }
                tensors[info.name] = Entry(shard: index, info: info)
            }
        }
        func place(_ tensor: String) -> String? { tensors[tensor].map { Path.name(shards[$0.shard].path) } }
        let misplaced = weightMap?.filter { place($0.key) != $0.value }.min { $0.key < $1.key }
        if let (tensor, file) = misplaced {
            throw .malformed(
                indexPath, "the index has tensor \"\(tensor)\" in \(file.printable), which does not have it",
                tensor: tensor, expected: file, found: place(tensor) ?? "nothing")
        }
        self.shards = shards
        self.tensors = tensors
    }

    /// The bytes of all tensors.
    package var tensorBytes: Int64 { tensors.values.reduce(0) { $0 + Int64($1.info.byteRange.count) } }

    private static func missing(_ name: String, _ path: String, _ folder: String, isShard: Bool) -> AIError {
        // An interrupted download or a pruned blob leaves a dangling link.
        let broken = (try? FileSystem.linkStatus(path)) ?? nil
        if broken?.kind == .symlink { return .malformed(path, "broken link") }
        if isShard {
            return .malformed(
                path, "the shard is missing, though \(indexName) names it", expected: name, found: "nothing")
        }
        return AIError(.fileNotFound, "\(folder) holds no \(name)", context: .init(path: path))
    }

    /// An index: tensor name to shard name.
    package static func weightMap(_ json: JSON, _ path: String, ending: String = ".safetensors") throws(AIError)
        -> [String: String]
    {
        guard let members = json["weight_map"]?.object?.members, !members.isEmpty else {
            throw .malformed(path, "it has no weight_map")
        }
        var map: [String: String] = [:]
        for (tensor, value) in members {
            // Only plain names: a shard outside the folder is not allowed.
            guard let file = value.string, file.hasSuffix(ending), !file.contains("/") else {
                throw .malformed(
                    path, "tensor \"\(tensor)\" has no valid file name", tensor: tensor,
                    expected: "a file of the folder", found: value.text())
            }
            guard map.updateValue(file, forKey: tensor) == nil else {
                throw .malformed(
                    path, "tensor \"\(tensor)\" is listed twice", tensor: tensor, expected: "once", found: "twice")
            }
        }
        return map
    }
}

extension SafetensorsHeader {
    /// Reads only the header of a file.
    ///
    /// - Throws: ``ErrorCode/malformedModel``, or the error of the failed system call.
    package init(file path: String) throws(AIError) {
        let descriptor = try FileDescriptor.modelFile(path)
        let size = try descriptor.status().size
        var bytes = try Self.read(8, from: descriptor)
        let count = try Self.unwrap(
            bytes.withUnsafeBytes { buffer in
                Result { () throws(AIError) in try Self.byteCount(prefix: buffer, fileSize: size, path: path) }
            })
        bytes = try Self.read(count, from: descriptor)
        self = try Self.unwrap(
            bytes.withUnsafeBytes { buffer in
                Result { () throws(AIError) in try SafetensorsHeader(buffer, fileSize: size, path: path) }
            })
    }

    private static func unwrap<Value>(_ result: Result<Value, AIError>) throws(AIError) -> Value {
        try result.get()
    }

    private static func read(_ count: Int, from file: borrowing FileDescriptor) throws(AIError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = bytes.withUnsafeMutableBytes { buffer -> Result<Int, AIError> in
            do throws(AIError) { return .success(try file.read(into: buffer, at: 0)) } catch {
                return .failure(error)
            }
        }
        bytes.removeLast(bytes.count - (try result.get()))
        return bytes
    }
}
